/** How far two raters agree, and their disagreements one by one: both see both labels, and choose the final one. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { NumberHead } from '../display/number-head.tsx';
import { countText, plural } from '../display/number-text.ts';
import type { LabelFile } from './label-file.ts';
import { LabelButtons, useLabelKeys } from './rating-view.tsx';
import { agreementOf, disagreements, type KindAgreement, levelOfRater, type Ratings, resolvedAs } from './ratings.ts';
import { LABEL_TEXTS, RowView } from './row-view.tsx';

type Props = {
  readonly file: LabelFile;
  readonly raters: readonly [string, string];
  readonly ratings: Ratings;
  readonly onChange: (ratings: Ratings) => void;
};

const KIND_NAMES = { criterion: 'Criteria', claim: 'Claims', needs_citation: 'Statements' } as const;

export function AgreementView({ file, raters, ratings, onChange }: Props) {
  const [first, second] = raters;
  const one = (row: number) => levelOfRater(ratings, first, row);
  const other = (row: number) => levelOfRater(ratings, second, row);
  const kinds = agreementOf(file.rows, one, other);
  const open = disagreements(file.rows.length, one, other);
  const resolved = open.filter((row) => ratings.resolved.has(row)).length;
  return (
    <>
      <section class="card" aria-label="Agreement">
        <div class="card-head">
          <h2>
            Agreement of {first} and {second}
          </h2>
          <span class="muted">
            {plural(open.length, 'disagreement')}, {countText(resolved)} resolved
          </span>
        </div>
        {kinds.length === 0 ? (
          <p class="pad">No row has a label of both raters yet.</p>
        ) : (
          <AgreementTable kinds={kinds} />
        )}
      </section>
      {open.length > 0 && (
        <Disagreements file={file} raters={raters} rows={open} ratings={ratings} onChange={onChange} />
      )}
    </>
  );
}

/** The figures of each kind of rows. */
export function AgreementTable({ kinds }: { kinds: readonly KindAgreement[] }) {
  return (
    <div class="scroll-x">
      <table>
        <NumberHead of="Rows" columns={['Both labelled', 'Same label', 'Kappa']} />
        <tbody>
          {kinds.map(({ kind, rows, same, kappa }) => (
            <tr key={kind}>
              <th scope="row">{KIND_NAMES[kind]}</th>
              <td class="number">{countText(rows)}</td>
              <td class="number">{same === null ? '–' : `${(100 * same).toFixed(1)} %`}</td>
              <td class="number">{kappa === null ? '–' : kappa.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Disagreements({ file, raters, rows, ratings, onChange }: Props & { readonly rows: readonly number[] }) {
  const [place, setPlace] = useState(() =>
    Math.max(
      rows.findIndex((row) => !ratings.resolved.has(row)),
      0,
    ),
  );
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [place]);
  const position = rows[place] ?? -1;
  const row = file.rows[position];
  const kind = row?.asked.kind ?? 'claim';
  const { levels } = LABEL_TEXTS[kind];
  const move = (by: number): void => setPlace(Math.min(Math.max(place + by, 0), rows.length - 1));
  const choose = (level: number): void => {
    onChange(resolvedAs(ratings, position, level));
    move(1);
  };
  useLabelKeys(levels.length, choose, move);
  if (row === undefined) return null;
  return (
    <section class="card" aria-label="Disagreements">
      <div class="card-head">
        <h2 ref={heading} tabIndex={-1}>
          Disagreement {countText(place + 1)} of {countText(rows.length)}
        </h2>
        <span class="actions">
          <button type="button" onClick={() => move(-1)} disabled={place === 0}>
            ← Previous
          </button>
          <button type="button" onClick={() => move(1)} disabled={place === rows.length - 1}>
            Next →
          </button>
        </span>
      </div>
      <RowView row={row} />
      <ul class="label-said pad">
        {raters.map((rater) => (
          <li key={rater}>
            {rater}: <strong>{levels[levelOfRater(ratings, rater, position) ?? -1]}</strong>
          </li>
        ))}
      </ul>
      <LabelButtons kind={kind} chosen={ratings.resolved.get(position) ?? null} onChoose={choose} />
      <p class="pad muted">
        Look at the row together. The export keeps the label that you agree on, and both first labels.
      </p>
    </section>
  );
}
