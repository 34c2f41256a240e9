/**
 * What goes between a batch's object, the queue and the consumers. Versioned: during a deployment they may run different
 * code. A message is a hint that there is something to do; what it is, is asked of the object.
 */

import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import type { Chunk } from '../../src/wire/batches/chunk-plan.ts';
import type { BatchError } from '../../src/wire/batches/request-line.ts';

export const BATCH_MESSAGE_VERSION = 1;

/** Tasks beside the chunks, which have the numbers from 0. */
export const VALIDATE = -1;
export const FINALISE = -2;

/** In the queue. */
export type JobMessage = { readonly v: number; readonly kind: 'batch'; readonly batch: string; readonly task: number };

/** What a new batch is. */
export type NewBatch = {
  readonly v: typeof BATCH_MESSAGE_VERSION;
  readonly id: string;
  readonly endpoint: BatchEndpoint;
  readonly input_file_id: string;
  readonly completion_window: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly webhook: string | null;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  readonly expires_at: number;
  readonly output_file_id: string;
  readonly error_file_id: string;
};

type Claimed = {
  /** Proves to the object that a report comes from who holds the task. */
  readonly token: string;
  readonly batch: NewBatch;
};

/** How often a judge has answered a line without judging it, by the line's number. Lines without such a try are left out. */
export type LineTries = Readonly<Record<string, number>>;

/** A task that was claimed, with all that is needed to do it. */
export type ClaimedTask =
  | (Claimed & { readonly kind: 'validate' })
  | (Claimed & { readonly kind: 'chunk'; readonly n: number; readonly chunk: Chunk; readonly tries: LineTries })
  | (Claimed & { readonly kind: 'finalise'; readonly chunks: readonly FinalChunk[] });

/** A chunk as the finaliser finds it: scored, or why not. */
export type FinalChunk = Chunk & { readonly n: number; readonly unsent: 'batch_expired' | 'batch_cancelled' | null };

export type TaskReport =
  | { readonly kind: 'planned'; readonly chunks: readonly Chunk[]; readonly total: number }
  | { readonly kind: 'invalid'; readonly errors: readonly BatchError[]; readonly error_count: number }
  | { readonly kind: 'scored'; readonly completed: number; readonly failed: number }
  /** Some lines want another try: the judge was not to be had. `tries` include this round's. */
  | { readonly kind: 'again'; readonly retry_after_s: number | null; readonly tries: LineTries }
  /** The input file has been removed: nothing of the rest can ever be scored. */
  | { readonly kind: 'input_gone' }
  /** Which files there are, and how many requests have no line as their input is gone. */
  | { readonly kind: 'finalised'; readonly output: boolean; readonly error: boolean; readonly lost: number }
  /** It failed for no reason of its lines. */
  | { readonly kind: 'broke'; readonly reason: string };
