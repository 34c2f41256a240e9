/**
 * How far the final labels of a file agree with the built-in judge, and the rows that differ. Shown when every row has
 * a final label: a rater sees no verdict before. The browser judges, so the file does not leave it.
 */
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { labelRequest, levelOfVerdict } from '../../../src/labels/label-request.ts';
import type { LabelQuestion } from '../../../src/labels/labelled-row.ts';
import type { Reply } from '../api/call.ts';
import { useLoading } from '../api/use-api.ts';
import { countText, plural } from '../display/number-text.ts';
import { StandInBadge } from '../display/stand-in-badge.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { AgreementTable } from './agreement-view.tsx';
import type { LabelFile } from './label-file.ts';
import { agreementOf, disagreements, finalLevel, type Ratings } from './ratings.ts';
import { LABEL_TEXTS, RowView } from './row-view.tsx';

/** Rows that differ which are shown with their text; the others are counted. */
const MAX_SHOWN = 50;

export function JudgeAgreement({ file, ratings }: { file: LabelFile; ratings: Ratings }) {
  const loading = useLoading((signal) => judgedLevels(file.rows, signal), file.digest);
  return (
    <section class="card" aria-label="Agreement with the judge">
      <div class="card-head">
        <h2>Agreement with the lexical judge</h2>
        <StandInBadge />
      </div>
      <WhenLoaded loading={loading} waiting="Judging the rows in this browser…">
        {(levels) => <Judged file={file} ratings={ratings} levels={levels} />}
      </WhenLoaded>
    </section>
  );
}

type JudgedProps = { readonly file: LabelFile; readonly ratings: Ratings; readonly levels: readonly number[] };

function Judged({ file, ratings, levels }: JudgedProps) {
  const label = (row: number) => finalLevel(ratings, row);
  const verdict = (row: number) => levels[row];
  const differing = disagreements(file.rows.length, label, verdict);
  return (
    <>
      <AgreementTable kinds={agreementOf(file.rows, label, verdict)} />
      <p class="pad muted">
        To check a model: export the rows, and <code>npx citeward judge check</code> puts them to it.
      </p>
      <h3 class="pad">{plural(differing.length, 'row')} with another verdict</h3>
      {differing.length > MAX_SHOWN && <p class="pad muted">The first {countText(MAX_SHOWN)} are shown.</p>}
      <ol class="label-differing">
        {differing.slice(0, MAX_SHOWN).map((position) => {
          const row = file.rows[position];
          if (row === undefined) return null;
          const texts = LABEL_TEXTS[row.asked.kind].levels;
          return (
            <li key={position}>
              <p class="label-said pad">
                <span>
                  Label: <strong>{texts[label(position) ?? -1]}</strong>
                </span>
                <span>
                  Judge: <strong>{texts[verdict(position) ?? -1]}</strong>
                </span>
              </p>
              <RowView row={row} />
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** Time after which the page is drawn again, so that judging thousands of rows does not block it. */
const SLICE_MS = 12;

/** The level of the lexical judge for each row. @throws DOMException (AbortError) when `signal` aborts. */
async function judgedLevels(rows: readonly LabelQuestion[], signal: AbortSignal): Promise<Reply<number[]>> {
  const began = performance.now();
  const levels: number[] = [];
  let since = began;
  for (const row of rows) {
    levels.push(levelOfVerdict(row, judgeLexically(labelRequest(row).request)));
    if (performance.now() - since < SLICE_MS) continue;
    await new Promise((resume) => setTimeout(resume));
    signal.throwIfAborted();
    since = performance.now();
  }
  return { ok: true, value: levels, milliseconds: performance.now() - began };
}
