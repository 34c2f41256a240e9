/**
 * Messages between the Durable Object of a batch, the queue and its consumers. They carry a version, because the parts
 * may run different code during a deployment. A queue message only names a task; the consumer claims its content from
 * the object.
 */

import type { Scope } from '../../src/wire/api-keys.ts';
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import type { Chunk } from '../../src/wire/batches/chunk-plan.ts';
import type { BatchError } from '../../src/wire/batches/request-line.ts';

export const BATCH_MESSAGE_VERSION = 3;

/** The version of a batch at its creation, which its object stores. */
export const NEW_BATCH_VERSION = 2;

/** Task numbers of validation and of the finaliser. Chunks are numbered from 0. */
export const VALIDATE = -1;
export const FINALISE = -2;

/** The message in the queue. */
export type TaskMessage = {
  readonly v: number;
  readonly kind: 'batch';
  readonly project: string;
  readonly batch: string;
  readonly task: number;
};

/** A batch at its creation. */
export type NewBatch = {
  readonly v: 1 | typeof NEW_BATCH_VERSION;
  readonly id: string;
  /** The project of the key that created the batch. */
  readonly project: string;
  readonly endpoint: BatchEndpoint;
  /** The scopes of the key that created the batch. Each line needs the scopes that the route of the line requires. */
  readonly scopes: readonly Scope[];
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

/**
 * Why an object refuses a call: it has no batch, or a later version of the Worker wrote the batch (the deployment was
 * rolled back), and the object leaves it alone.
 */
type BatchRefusal = 'batch_unknown' | 'version_skew';

export type BatchAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: BatchRefusal };

type Claimed = {
  /** Proves to the object that a report comes from the holder of the task. */
  readonly token: string;
  readonly batch: NewBatch;
};

/** How often a judge answered an unfinished line without a usable judgment, by line number. Absent = 0. */
export type LineTries = Readonly<Record<string, number>>;

/** A claimed task with everything that its consumer needs. */
export type ClaimedTask =
  | (Claimed & { readonly kind: 'validate' })
  | (Claimed & { readonly kind: 'chunk'; readonly n: number; readonly chunk: Chunk; readonly tries: LineTries })
  | (Claimed & { readonly kind: 'finalise' } & FinalStep);

/**
 * One step of the assembly of the result files. A batch with many parts of results takes several: each merges the next
 * chunks into one part of each file, and the last one writes the files.
 */
export type FinalStep = {
  /** The next chunks, in file order. */
  readonly chunks: readonly FinalChunk[];
  /** What earlier steps have merged, in file order: the results before these chunks. */
  readonly merged: readonly MergedResults[];
  /** Whether no chunk follows, so that this step writes the files. */
  readonly last: boolean;
};

/** The merged results of consecutive chunks. */
export type MergedResults = {
  /** Names the objects in R2: the token of the step that wrote them. */
  readonly name: string;
  /** Bytes of the merged part of each file; 0 = there is no object. */
  readonly output: number;
  readonly error: number;
};

/** A chunk, and what the finaliser must know of its results. */
export type FinalChunk = Chunk & {
  readonly n: number;
  /** Number of requests of the chunk whose results are stored. */
  readonly finished: number;
  /** The error code of the requests without a stored result. */
  readonly unsent: 'batch_expired' | 'batch_cancelled';
};

/**
 * Numbers of lines of a chunk whose results are stored: `completed` in the output file, `failed` in the error file.
 * `parts` = the number of stored objects that hold them; absent = an earlier version of the Worker reported.
 */
export type ChunkCounts = { readonly completed: number; readonly failed: number; readonly parts?: number };

/** Why a task failed for a reason outside its lines. A chunk that fails so repeatedly is a dead letter. */
export const TASK_FAILURE_REASONS = [
  'config_invalid',
  'storage_failed',
  'internal',
  'input_file_changed',
  'lease_lost',
  'chunk_results_gone',
  'chunk_results_cut',
  // The consumer of the queue ended without a report.
  'consumer_lost',
] as const;

export type TaskFailureReason = (typeof TASK_FAILURE_REASONS)[number];

export type TaskReport =
  | { readonly kind: 'planned'; readonly chunks: readonly Chunk[]; readonly total: number }
  | { readonly kind: 'invalid'; readonly errors: readonly BatchError[]; readonly error_count: number }
  | ({ readonly kind: 'scored' } & ChunkCounts)
  /**
   * Some lines need another round. The results of the others are stored. `handed_on`: the consumer's time was over before
   * it had asked all lines, so the next round begins at once; else a judge failed.
   */
  | ({
      readonly kind: 'again';
      readonly retry_after_s: number | null;
      readonly tries: LineTries;
      readonly handed_on?: boolean;
    } & ChunkCounts)
  /** The input file was deleted, so the remaining lines cannot be scored. */
  | { readonly kind: 'input_gone' }
  /** A step that is not the last has merged its chunks, and how many of their requests have no line. */
  | { readonly kind: 'merged'; readonly merged: MergedResults; readonly lost: number }
  /** Which result files exist, and how many requests have no line because the input file was deleted. */
  | { readonly kind: 'finalised'; readonly output: boolean; readonly error: boolean; readonly lost: number }
  /** The task failed for a reason outside its lines (storage, a bug). */
  | { readonly kind: 'broke'; readonly reason: TaskFailureReason };
