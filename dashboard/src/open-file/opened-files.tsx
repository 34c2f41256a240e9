/** What a person opened: rows to score, an exported run, the results of a batch, or why it is neither. */
import '../recipe/zod-without-eval.ts';
import '../styles/open-file.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ADDED_CRITERION, citationsOnly } from '../../../src/wire/rows/citations-only.ts';
import { runNameOf } from '../../../src/wire/rows/group-places.ts';
import { type ResultFile, ResultsCard } from '../batches/results-card.tsx';
import { countText, plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { hrefOf } from '../navigation/route.ts';
import { DEFAULT_RECIPE, JudgePicker, RecipePicker } from '../recipe/pickers.tsx';
import { type BadRow, type OpenedFile, readOpenedFile } from './read-file.ts';
import { type ScoredRows, scoreRows } from './score-rows.ts';

type Read = { readonly file: File; readonly opened: OpenedFile };

/** @param files one file, or the results of a batch with the file of its rows. @param onClose forgets them. */
export function OpenedFiles({ files, onClose }: { files: readonly File[]; onClose: () => void }) {
  const [read, setRead] = useState<readonly Read[] | null>(null);
  useEffect(() => {
    let isShown = true;
    setRead(null);
    Promise.all(files.map(async (file) => ({ file, opened: await readOpenedFile(file) }))).then((all) => {
      if (isShown) setRead(all);
    });
    return () => {
      isShown = false;
    };
  }, [files]);
  return (
    <section class="card opened" aria-label="Opened file">
      <header class="card-head">
        <h2 class="is-id">{files.map(({ name }) => name).join(' and ')}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      <div class="pad" aria-live="polite">
        {read === null ? <p class="muted">Reading…</p> : <Shown read={read} />}
      </div>
    </section>
  );
}

function Shown({ read }: { read: readonly Read[] }) {
  const results = read.find(({ opened }) => opened.kind === 'batch_results');
  if (results !== undefined) {
    const other = read.find((one) => one !== results);
    return <Results output={results.file} requests={other?.file ?? null} />;
  }
  const [first, ...more] = read;
  if (first === undefined) return null;
  const refused = read.find(({ opened }) => opened.kind === 'refused');
  if (refused?.opened.kind === 'refused') return <Refused name={refused.file.name} {...refused.opened} />;
  const { file, opened } = first;
  if (more.length > 0)
    return (
      <Refused
        name="Two files"
        problem="are opened together only if one holds the results of a batch"
        hint="Open one of them."
      />
    );
  switch (opened.kind) {
    case 'run':
      return (
        <p>
          An exported run. <a href={hrefOf('replay')}>Replay</a> opens it in the browser;{' '}
          <code>npx citeward view FILE</code> shows its charts and alerts.
        </p>
      );
    case 'rows':
      return <Rows file={file} opened={opened} />;
    case 'batch_results':
    case 'refused':
      return null;
  }
}

function Refused({ name, problem, hint }: { name: string; problem: string; hint: string }) {
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">
        {name} {problem}
      </p>
      <p>{hint}</p>
    </div>
  );
}

function Results({ output, requests }: { output: File; requests: File | null }) {
  const fileOf = (file: File): ResultFile => ({
    of: `${file.name} ${file.lastModified}`,
    open: async () => ({ ok: true, value: file.stream(), milliseconds: 0 }),
  });
  return (
    <>
      {requests === null && (
        <p class="muted">Results hold no answers. To see them, open the input of the batch together with this file.</p>
      )}
      <ResultsCard output={fileOf(output)} input={requests === null ? null : fileOf(requests)} />
    </>
  );
}

type RowsProps = { file: File; opened: Extract<OpenedFile, { kind: 'rows' }> };

function Rows({ file, opened: { rows, bad, unit, tool, leftOut } }: RowsProps) {
  const [recipe, setRecipe] = useState(DEFAULT_RECIPE);
  const [judge, setJudge] = useState('');
  const [run, setRun] = useState<string | null>(null);
  const [scored, setScored] = useState<ScoredRows | null>(null);
  const asking = useRef<AbortController | null>(null);
  // Closing the card, or opening another file, ends the scoring.
  useEffect(() => () => asking.current?.abort(), []);
  const withoutCriteria = useMemo(() => rows.filter(({ fields }) => citationsOnly(fields) !== null).length, [rows]);
  const { done, refused, failure, steps } = scored ?? NOTHING_SCORED;
  const answered = done + refused.length;
  const isScoring = asking.current !== null && answered < rows.length;
  const score = async (): Promise<void> => {
    const id = runIdOf(file.name, new Date());
    const controller = new AbortController();
    asking.current = controller;
    setRun(id);
    try {
      await scoreRows(rows, { run: id, recipe, judge }, { signal: controller.signal, onProgress: setScored });
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
    }
    asking.current = null;
    setScored((last) => ({ ...(last ?? NOTHING_SCORED) }));
  };
  return (
    <>
      <p>
        {plural(rows.length, 'row')}
        {tool !== null && <>, read as {tool}</>}
        {leftOut > 0 && <>; {plural(leftOut, 'record')} without an answer left out</>}.
        {withoutCriteria > 0 &&
          ` Rows without criteria (${countText(withoutCriteria)}) are paid for their citations alone; “${ADDED_CRITERION}” is judged and not paid.`}
      </p>
      {run === null ? (
        <div class="toolbar">
          {withoutCriteria < rows.length && <RecipePicker value={recipe} onPick={setRecipe} />}
          <JudgePicker value={judge} onPick={setJudge} />
          <div class="toolbar-actions">
            <button type="button" class="primary" onClick={score}>
              Score and show
            </button>
          </div>
        </div>
      ) : (
        <>
          <progress max={rows.length} value={answered} aria-label="Rows scored" />
          <p>
            {countText(done)} of {countText(rows.length)} scored
            {done > 0 && (
              <>
                {' · '}
                <a href={answersHref(run, steps)}>See the answers</a>
              </>
            )}
            {isScoring && (
              <>
                {' '}
                <button type="button" class="quiet" onClick={() => asking.current?.abort()}>
                  Stop
                </button>
              </>
            )}
            {!isScoring && answered < rows.length && (
              <> · stopped: {plural(rows.length - answered, 'row')} not scored</>
            )}
          </p>
          {failure !== null && <ProblemNotice failure={failure} />}
        </>
      )}
      <BadRows rows={[...bad, ...refused].sort((one, other) => one.number - other.number)} unit={unit} />
      <p class="muted">
        The rows go to this Worker, which records them with their text as a run; delete it on its page.
      </p>
    </>
  );
}

const NOTHING_SCORED: ScoredRows = { done: 0, refused: [], failure: null, steps: new Set() };

/** More rows than these are counted. */
const BAD_ROWS_NAMED = 100;

/** Names each row that is not shown, with the reason. */
function BadRows({ rows, unit }: { rows: readonly BadRow[]; unit: 'line' | 'row' }) {
  if (rows.length === 0) return null;
  return (
    <details class="notice notice-bad bad-rows" open={rows.length <= 5}>
      <summary class="notice-title">
        {plural(rows.length, 'row')} of the file {rows.length === 1 ? 'is' : 'are'} not scored
      </summary>
      <ul>
        {rows.slice(0, BAD_ROWS_NAMED).map(({ number, problem }, at) => (
          <li key={`${number} ${at}`}>
            <b>
              {unit} {countText(number)}
            </b>{' '}
            {problem}
          </li>
        ))}
        {rows.length > BAD_ROWS_NAMED && <li>and {countText(rows.length - BAD_ROWS_NAMED)} more</li>}
      </ul>
    </details>
  );
}

function answersHref(run: string, steps: ReadonlySet<number>): string {
  const [step, ...more] = steps;
  return step === undefined || more.length > 0 ? hrefOf('runs', run) : hrefOf('runs', run, String(step));
}

/** A name like that of the file, and the time, so that a file opened twice is two runs: `results-0730-140512`. */
function runIdOf(name: string, at: Date): string {
  const base = runNameOf(name).slice(0, 40);
  const time = at.toISOString().replaceAll(/\D/gu, '');
  return `${base === '' ? 'file' : base}-${time.slice(4, 8)}-${time.slice(8, 14)}`;
}
