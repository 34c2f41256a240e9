/** What became of one row. Only `done` carries a result; the others say why there is none. */
/**
 * The loop of `score` and `verify`: lines in, outcomes out in their order, a few at a time. Bad lines are named on
 * standard error as they come, and the rest goes on.
 */

import type * as z from 'zod';
import { MAX_BODY_BYTES } from '../../src/limits.ts';
import { mapInOrder } from './in-order.ts';
import type { Input } from './input.ts';
import { readLines } from './lines.ts';
import type { Progress } from './progress.ts';
import { type Labels, type LineProblem, readRow } from './rows.ts';
import type { Screen } from './screen.ts';

export type Outcome<T> =
  | { readonly kind: 'done'; readonly reply: T }
  /** The row itself is wrong: the caller's to mend. */
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[] }
  /** The row is right, and yet it could not be done: a judgment is missing, a judge failed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly detail: string };

/** Handles one request. @throws RunError if there is no point in going on with further rows. */
type Handler<R, T> = (request: R) => Promise<Outcome<T>>;

/** A handler with what a reader should know of it. */
export type RowHandler<R, T> = {
  readonly handle: Handler<R, T>;
  /** Lines for standard error before the first row. */
  readonly notices: readonly string[];
  /** Rows in hand at a time, unless asked otherwise. */
  readonly concurrency: number;
};

/** One finished row. */
export type Finished<T> = { readonly line: number; readonly labels: Labels; readonly outcome: Outcome<T> };

type RowsRun<S extends z.ZodType, T> = {
  readonly input: Input;
  readonly schema: S;
  readonly prepare: (fields: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly service: RowHandler<z.output<S>, T>;
  /** `null` = as the service does it. */
  readonly concurrency: number | null;
  readonly screen: Screen;
  /** The progress line of the run; also told of retries by the caller. */
  readonly progress: Progress;
  readonly onFinished: (finished: Finished<T>) => Promise<void>;
};

const NO_LABELS: Labels = { id: null, note: null };

/** Problems of one line that are named; the rest are counted. */
const MAX_PROBLEMS_SHOWN = 8;

/** Runs all rows. Bad lines also reach `onFinished`, as refused. */
export async function runRows<S extends z.ZodType, T>(run: RowsRun<S, T>): Promise<void> {
  const { input, schema, prepare, service, screen, progress } = run;
  let rows = 0;
  const finished = mapInOrder(
    readLines(input.chunks, MAX_BODY_BYTES),
    run.concurrency ?? service.concurrency,
    async (line): Promise<Finished<T> & { readonly bytesRead: number }> => {
      const read = readRow(line, schema, prepare);
      const common = { line: line.number, bytesRead: line.bytesRead };
      if (!read.ok) {
        return { ...common, labels: NO_LABELS, outcome: { kind: 'refused', problems: read.problems } };
      }
      return { ...common, labels: read.row.labels, outcome: await service.handle(read.row.request) };
    },
  );
  for await (const { bytesRead, ...one } of finished) {
    if (one.outcome.kind === 'refused') nameBadLine(screen, one.line, one.outcome.problems);
    await run.onFinished(one);
    rows++;
    progress.advance(rows, bytesRead);
  }
  progress.clear();
}

function nameBadLine(screen: Screen, line: number, problems: readonly LineProblem[]): void {
  for (const { field, message } of problems.slice(0, MAX_PROBLEMS_SHOWN)) {
    screen.message(field === null ? `line ${line}: ${message}` : `line ${line}: ${field}: ${message}`, 'red');
  }
  const more = problems.length - MAX_PROBLEMS_SHOWN;
  if (more > 0) screen.message(`line ${line}: and ${more} more`, 'red');
}
