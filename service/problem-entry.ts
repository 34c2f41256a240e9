/** One problem document before it is sent: its status, its texts and its headers. */
import type { Problem } from '../src/wire/problem.ts';

export type Entry = {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** Default: false. */
  readonly retryable?: boolean;
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number;
  readonly extra?: Pick<Problem, 'errors' | 'missing' | 'unobserved' | 'budget'>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Default of `Retry-After` in seconds, for failures that name no time. */
export const DEFAULT_RETRY_AFTER_S = 5;

type Extras = Omit<Entry, 'status' | 'title' | 'detail'>;

export function entry(status: number, title: string, detail: string, extras: Extras = {}): Entry {
  return { status, title, detail, ...extras };
}
