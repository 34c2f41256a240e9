/**
 * The loop of `score` and `verify`: lines in, outcomes out in their order, a few at a time. Bad lines are named on
 * standard error as they come, and the rest goes on.
 */
import type * as z from 'zod';
import { MAX_BODY_BYTES } from '../src/limits.ts';
import { mapInOrder } from './input/in-order.ts';
import { readLines } from './input/lines.ts';
import type { Input } from './input/open-input.ts';
import { type Labels, type LineProblem, readRow } from './input/rows.ts';
import type { Outcome, Service } from './outcome.ts';
import type { Progress } from './output/progress.ts';
import type { Screen } from './output/screen.ts';

/** One finished row. */
export type Finished<T> = { readonly line: number; readonly labels: Labels; readonly outcome: Outcome<T> };

export type RowsRun<S extends z.ZodType, T> = {
  readonly input: Input;
  readonly schema: S;
  readonly prepare: (fields: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly service: Service<z.output<S>, T>;
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
