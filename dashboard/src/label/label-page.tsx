/**
 * The labelling page: two people label the rows of a file without seeing each other's labels or a judge's verdict, then
 * look at their disagreements together. The file stays in the browser; progress is kept in localStorage.
 */

import '../recipe/zod-without-eval.ts';
import { useEffect, useState } from 'preact/hooks';
import { countText } from '../display/number-text.ts';
import { saveBlob } from '../display/save-blob.ts';
import '../styles/label.css';
import { AgreementView } from './agreement-view.tsx';
import { JudgeAgreement } from './judge-agreement.tsx';
import { type LabelFile, openLabelFile } from './label-file.ts';
import { RatingView } from './rating-view.tsx';
import { exportedLines, mergedRatings, type Ratings, ratingsText, readRatings } from './ratings.ts';

export function LabelPage() {
  const [opened, setOpened] = useState<LabelFile | null>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const read = await openLabelFile(file);
    setOpened(read.ok ? read.value : null);
    setProblems(read.ok ? [] : read.error);
  };
  return (
    <main class="page label-page">
      <div class="page-head">
        <h1>Label</h1>
        <span class="muted">Label rows to check a judge: two people, blind, by keyboard.</span>
      </div>
      <section class="card pad" aria-label="File">
        <label class="field">
          <span>Rows to label, as JSON lines; they are not uploaded</span>
          <input type="file" accept=".jsonl,.json,.gz" onChange={(event) => open(event.currentTarget.files?.[0])} />
        </label>
        <p class="muted">
          Labels that the rows have already are not shown. Your labels are kept in this browser, without the rows: to
          continue, open the same file.
        </p>
      </section>
      {problems.length > 0 && (
        <div class="notice notice-bad" role="alert">
          <p class="notice-title">The file cannot be labelled</p>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </div>
      )}
      {opened !== null && <Session key={opened.digest} file={opened} />}
    </main>
  );
}

const storageKey = ({ digest }: LabelFile): string => `citeward.labels.${digest}`;

/** Progress of this browser, and the ratings that the file brings along. */
function initialRatings(file: LabelFile): Ratings {
  return mergedRatings(file.ratings, readRatings(localStorage.getItem(storageKey(file)) ?? ''));
}

type View =
  | { readonly kind: 'names' }
  | { readonly kind: 'rating'; readonly rater: string }
  | { readonly kind: 'agreement' }
  | { readonly kind: 'judge' };

function Session({ file }: { file: LabelFile }) {
  const [ratings, setRatings] = useState(() => initialRatings(file));
  const known = [...ratings.byRater.keys()];
  const [names, setNames] = useState<readonly [string, string]>([known[0] ?? '', known[1] ?? '']);
  const [view, setView] = useState<View>({ kind: 'names' });
  const [isKept, setKept] = useState(true);
  const change = (next: Ratings): void => {
    setRatings(next);
    setKept(kept(file, next));
  };
  const [first, second] = names.map((name) => name.trim());
  const raters = [first, second].flatMap((name) => (name === undefined || name === '' ? [] : [name]));
  const areTwo = first !== second && raters.length === 2;
  const lines = exportedLines(file.rows, ratings);
  const left = file.rows.length - lines.length;
  return (
    <>
      <section class="card pad label-raters" aria-label="Raters">
        {names.map((name, position) => (
          <label class="field" key={position}>
            <span>{position === 0 ? 'First rater' : 'Second rater'}</span>
            <input
              value={name}
              maxLength={64}
              onInput={(event) => {
                const value = event.currentTarget.value;
                setNames(position === 0 ? [value, names[1]] : [names[0], value]);
                setView({ kind: 'names' });
              }}
            />
          </label>
        ))}
        <div class="actions">
          {raters.map((rater, position) => (
            <button
              key={position}
              type="button"
              aria-pressed={view.kind === 'rating' && view.rater === rater}
              onClick={() => setView({ kind: 'rating', rater })}
            >
              Label as {rater} ({ratings.byRater.get(rater)?.size ?? 0}/{countText(file.rows.length)})
            </button>
          ))}
          <button
            type="button"
            disabled={!areTwo}
            aria-pressed={view.kind === 'agreement'}
            onClick={() => setView({ kind: 'agreement' })}
          >
            Compare
          </button>
          <button
            type="button"
            disabled={left > 0}
            aria-pressed={view.kind === 'judge'}
            onClick={() => setView({ kind: 'judge' })}
          >
            Compare with the judge
          </button>
          <button
            type="button"
            class="primary"
            disabled={lines.length === 0}
            onClick={() => saveBlob(exportName(file), new Blob([`${lines.join('\n')}\n`]))}
          >
            Export {countText(lines.length)} rows
          </button>
        </div>
        <p class="muted" aria-live="polite">
          {isKept
            ? `Rows without a final label: ${countText(left)} of ${countText(file.rows.length)}. Each of them lacks a label, or its disagreement is not resolved.`
            : 'This browser does not keep your labels: its storage is full or switched off. Export before you leave.'}
        </p>
      </section>
      {view.kind === 'rating' && (
        <RatingView key={view.rater} file={file} rater={view.rater} ratings={ratings} onChange={change} />
      )}
      {view.kind === 'agreement' && first !== undefined && second !== undefined && (
        <AgreementView file={file} raters={[first, second]} ratings={ratings} onChange={change} />
      )}
      {view.kind === 'judge' && <JudgeAgreement file={file} ratings={ratings} />}
      <LeaveGuard isKept={isKept} />
    </>
  );
}

/** Keeps progress. @returns false if the browser refuses. */
function kept(file: LabelFile, ratings: Ratings): boolean {
  try {
    localStorage.setItem(storageKey(file), ratingsText(ratings));
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

/** Asks before labels that the browser does not keep are lost. */
function LeaveGuard({ isKept }: { isKept: boolean }) {
  useEffect(() => {
    if (isKept) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isKept]);
  return null;
}

function exportName({ name }: LabelFile): string {
  return `${name.replace(/(\.jsonl|\.json)?(\.gz)?$/u, '')}-labelled.jsonl`;
}
