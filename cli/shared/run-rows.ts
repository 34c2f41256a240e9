/**
 * The loop of the commands that work row by row: reads lines, handles a few rows at a time, and returns the outcomes in
 * the order of the input. Problems of a line go to standard error, and the other lines are still handled.
 */
import type * as z from 'zod';
import { RunError } from './exit.ts';
import { mapInOrder } from './in-order.ts';
import type { RowInput } from './input.ts';
import { onInterruption } from './interruption.ts';
import { countOf } from './number-text.ts';
import type { Progress } from './progress.ts';
import { type Fields, type Labels, type LineProblem, problemTexts, readRow } from './rows.ts';
import type { Screen } from './screen.ts';

/** The outcome of one row. Only `done` has a reply. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly reply: T }
  /** The row is wrong; its author must fix it. */
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[] }
  /** The row is right, but it has no result: a judgment is missing, or a judge failed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly detail: string };

/** Handles the requests of rows, in this process or through a Worker. */
export type RowHandler<R, T> = {
  /** @throws RunError or UsageError if every further row would fail too. */
  readonly handle: (request: R) => Promise<Outcome<T>>;
  /** Lines for standard error before the first row. */
  readonly notices: readonly string[];
  /** Default number of rows that are handled at the same time. */
  readonly concurrency: number;
};

export type FinishedRow<T> = { readonly line: number; readonly labels: Labels; readonly outcome: Outcome<T> };

type RowsRun<S extends z.ZodType, T> = {
  readonly input: Omit<RowInput, 'chunks'>;
  readonly schema: S;
  readonly prepare: (fields: Fields) => Fields;
  readonly handler: RowHandler<z.output<S>, T>;
  /** `null` = the default of the handler. */
  readonly concurrency: number | null;
  readonly screen: Screen;
  readonly progress: Progress;
  readonly onFinished: (finished: FinishedRow<T>) => Promise<void>;
  /** Prints results that are still buffered when a signal ends the process. */
  readonly onInterrupted?: () => Promise<void>;
};

/** After so many bad lines and no good one the input is of another kind, and further messages would say the same. */
export const MAX_BAD_AT_START = 5;
export const ROWS_HINT =
  'A row is one JSON object a line, like those of examples/rollouts.jsonl; examples/README.md has all forms.';

const NO_LABELS: Labels = { id: null, note: null };

/**
 * Handles all rows. Lines that are no valid row also reach `onFinished`, as refused.
 * @throws RunError if there are no rows, or if the first lines are all bad.
 */
export async function runRows<S extends z.ZodType, T>(run: RowsRun<S, T>): Promise<void> {
  const { input, schema, prepare, handler, screen, progress } = run;
  for (const notice of handler.notices) screen.message(notice, 'dim');
  let rows = 0;
  let refused = 0;
  let lastLine = 0;
  const removeHandler = onInterruption(async () => {
    await run.onInterrupted?.();
    screen.message(interruptionText(input, rows, lastLine), 'bold');
  });
  const finished = mapInOrder(
    input.lines,
    run.concurrency ?? handler.concurrency,
    async (line): Promise<FinishedRow<T> & { readonly bytesRead: number }> => {
      const read = readRow(line, schema, prepare);
      const common = { line: line.number, bytesRead: line.bytesRead };
      if (!read.ok) {
        return { ...common, labels: NO_LABELS, outcome: { kind: 'refused', problems: read.error } };
      }
      return { ...common, labels: read.value.labels, outcome: await handler.handle(read.value.request) };
    },
  );
  for await (const { bytesRead, ...one } of finished) {
    if (one.outcome.kind === 'refused') {
      refused++;
      for (const text of problemTexts(one.line, one.outcome.problems, input.unit)) screen.message(text, 'red');
    }
    await run.onFinished(one);
    rows++;
    lastLine = one.line;
    progress.advance(rows, bytesRead);
    if (refused === MAX_BAD_AT_START && refused === rows) {
      throw new RunError(`the first ${refused} ${input.unit}s are all bad, so the others were not read`, ROWS_HINT);
    }
  }
  removeHandler();
  progress.clear();
  if (rows === 0) throw new RunError('the input has no rows', ROWS_HINT);
}

/** What is done, what is not, and how to go on. */
function interruptionText({ path, unit }: Pick<RowInput, 'path' | 'unit'>, rows: number, lastLine: number): string {
  if (rows === 0) return 'interrupted before the first row was done: run the command again';
  const next = lastLine + 1;
  const done = `interrupted after ${countOf(rows, 'row')}: their results are printed, those from ${unit} ${next} on are not`;
  if (path === null) return `${done}. Go on with the rest of the input.`;
  return `${done}. Go on with: tail -n +${next} ${quoted(path)} | the same command with - as its input`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
