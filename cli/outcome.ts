/** What became of one row. Only `done` carries a result; the others say why there is none. */
import type { LineProblem } from './input/rows.ts';

export type Outcome<T> =
  | { readonly kind: 'done'; readonly reply: T }
  /** The row itself is wrong: the caller's to mend. */
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[] }
  /** The row is right, and yet it could not be done: a judgment is missing, a judge failed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly detail: string };

/** Handles one request. @throws RunError if there is no point in going on with further rows. */
export type Handler<R, T> = (request: R) => Promise<Outcome<T>>;

/** A handler with what a reader should know of it. */
export type Service<R, T> = {
  readonly handle: Handler<R, T>;
  /** Lines for standard error before the first row. */
  readonly notices: readonly string[];
  /** Rows in hand at a time, unless asked otherwise. */
  readonly concurrency: number;
};
