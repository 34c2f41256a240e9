/** Shows one rater one row after the other. Digits give a label, arrow keys move. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../display/number-text.ts';
import type { LabelFile } from './label-file.ts';
import { levelOfRater, orderFor, type Ratings, rated } from './ratings.ts';
import { LABEL_TEXTS, RowView } from './row-view.tsx';

type Props = {
  readonly file: LabelFile;
  readonly rater: string;
  readonly ratings: Ratings;
  readonly onChange: (ratings: Ratings) => void;
};

export function RatingView({ file, rater, ratings, onChange }: Props) {
  const [order] = useState(() => orderFor(rater, file.digest, file.rows.length));
  const nextOpen = (from: number, given: Ratings): number | null => {
    const places = [...order.keys()];
    const open = (place: number): boolean => levelOfRater(given, rater, order[place] ?? -1) === undefined;
    return [...places.slice(from), ...places.slice(0, from)].find(open) ?? null;
  };
  const [place, setPlace] = useState(() => nextOpen(0, ratings) ?? 0);
  const [said, setSaid] = useState('');
  const position = order[place] ?? 0;
  const row = file.rows[position];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [place]);
  const kind = row?.asked.kind ?? 'claim';
  const choose = (level: number): void => {
    const next = rated(ratings, rater, position, level);
    onChange(next);
    const open = nextOpen(place + 1, next);
    setSaid(open === null ? 'All rows are labelled.' : `Labelled: ${LABEL_TEXTS[kind].levels[level]}.`);
    if (open !== null) setPlace(open);
  };
  const move = (by: number): void => setPlace(Math.min(Math.max(place + by, 0), order.length - 1));
  useLabelKeys(LABEL_TEXTS[kind].levels.length, choose, move);
  if (row === undefined) return null;
  const current = levelOfRater(ratings, rater, position);
  return (
    <section class="card" aria-label={`Labels of ${rater}`}>
      <div class="card-head">
        <h2 ref={heading} tabIndex={-1}>
          Row {countText(place + 1)} of {countText(order.length)}
        </h2>
        <span class="actions">
          <button type="button" onClick={() => move(-1)} disabled={place === 0}>
            ← Previous
          </button>
          <button type="button" onClick={() => move(1)} disabled={place === order.length - 1}>
            Next →
          </button>
        </span>
      </div>
      <RowView row={row} />
      <LabelButtons kind={kind} chosen={current ?? null} onChoose={choose} />
      <p class="pad muted" aria-live="polite">
        {said}
      </p>
    </section>
  );
}

/** A button for each label, with the digit that presses it. */
export function LabelButtons({
  kind,
  chosen,
  onChoose,
}: {
  kind: keyof typeof LABEL_TEXTS;
  chosen: number | null;
  onChoose: (level: number) => void;
}) {
  const { question, levels } = LABEL_TEXTS[kind];
  return (
    <fieldset class="label-choice">
      <legend>{question}</legend>
      {levels.map((text, level) => (
        <button key={text} type="button" aria-pressed={chosen === level} onClick={() => onChoose(level)}>
          <kbd>{level}</kbd> {text}
        </button>
      ))}
    </fieldset>
  );
}

/** Digits below `levels` choose, arrow keys move; keys in fields and with modifiers do nothing here. */
export function useLabelKeys(levels: number, choose: (level: number) => void, move: (by: number) => void): void {
  // Before the browser draws: until an effect after it, a fast second key would label the row that was shown before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const level = '012'.indexOf(event.key);
      if (event.key.length === 1 && level !== -1 && level < levels) choose(level);
      else if (event.key === 'ArrowLeft') move(-1);
      else if (event.key === 'ArrowRight') move(1);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
