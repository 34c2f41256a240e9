/**
 * Messages between the Worker and the `RunLedger` objects of a run. They carry a version, because the two may run
 * different code during a deployment. Every operation is idempotent, so a call whose answer was lost can be repeated.
 */

import * as z from 'zod';
import type { RowPosition } from '../../service/ledger-port.ts';
import { unscoredReasonSchema } from '../../src/family/score.ts';
import {
  answerCountsSchema,
  answerStructureSchema,
  outcomeSchema,
  type RolloutCounts,
  rolloutCountsSchema,
} from '../../src/runs/rollout-counts.ts';
import type { GroupFigures } from '../../src/runs/summary.ts';
import type { PromptVisit } from '../../src/wire/adapters/run-place.ts';

export const LEDGER_MESSAGE_VERSION = 1;

/** The stored step of a rollout without one; it sorts before all steps. */
export const NO_STEP = -1;

const { shape: countsSchema } = rolloutCountsSchema;
const countSchema = countsSchema.claims;

const countFields = [
  ...([countSchema, countSchema, countSchema, countSchema] as const),
  countsSchema.findings,
  countsSchema.criteria,
] as const;

const { words, copied, shared, best, sources, cited, hash } = answerCountsSchema.shape;
const answerFields = [words, copied, shared, best, sources, cited, hash] as const;
const { claims, ids, repeated, place } = answerStructureSchema.shape;
/** A digit is shorter than a word. */
const hedgesSchema = z.literal([0, 1]);

/** Only of rollouts with several judges. */
const agreementSchema = z.number().min(0).max(1);

const entryFields = [
  z.string(), // sample
  z.string(), // content: its digest
  z.int(), // attempt
  z.int(), // lacking: number of missing measurements
  z.int(), // line: number of its line in the packed lines of its record
  z.boolean(), // inferred: group and sample are digests of prompt and request
  z.number().nullable(), // reward
  unscoredReasonSchema.nullable(), // reason
  z.record(z.string(), z.number().nullable()), // components
  z.int(), // judgments
  z.int(), // cached: judgments that needed no judge call
  // The counts, as an array in the order of their fields: names would double their size.
  z.union([
    z.tuple(countFields),
    z.tuple([...countFields, agreementSchema]),
    // Only of rollouts under an evolving rubric: the reward by its persistent criteria.
    z.tuple([...countFields, agreementSchema.nullable(), z.number()]),
    // Only of single samples whose requests listed several judges: the model that judged.
    z.tuple([...countFields, agreementSchema.nullable(), z.number().nullable(), z.string()]),
  ]),
] as const;

/** The counts of the words of an answer; `null` = there is none, `[]` = unknown. */
const answerSchema = z.union([
  // Of earlier versions.
  z.tuple(answerFields),
  z.tuple([...answerFields, claims, ids, repeated, place, hedgesSchema]),
  z.null(),
  z.tuple([]),
]);

/**
 * What the ledger knows of a rollout without unpacking it: where it belongs among the attempts at its place, and the
 * numbers that summaries and alerts read. Stored as an array in this order.
 */
const entrySchema = z.union([
  // Of earlier versions, and of families that read no answer.
  z.tuple(entryFields),
  z.tuple([...entryFields, answerSchema]),
  // Only of rollouts whose trainer sent an outcome or metrics.
  z.tuple([...entryFields, answerSchema, outcomeSchema]),
]);

export const entriesSchema = z.array(entrySchema);

export type Entry = {
  readonly sample: string;
  readonly content: string;
  readonly attempt: number;
  readonly lacking: number;
  readonly line: number;
  readonly inferred: boolean;
  readonly reward: number | null;
  readonly reason: z.infer<typeof unscoredReasonSchema> | null;
  readonly components: Readonly<Record<string, number | null>>;
  readonly judgments: number;
  readonly cached: number;
  readonly counts: RolloutCounts;
};

/** A rollout to record. `attempt`: `null` = the next one at its place; a number for an imported rollout. */
export type NewEntry = Omit<Entry, 'attempt'> & { readonly attempt: number | null };

/** The rollouts of one request in one group. Content that is too large for a row of the object is in R2. */
export type NewRecord = {
  /** NO_STEP = the rollouts have no step. */
  readonly step: number;
  readonly group: string;
  readonly entries: readonly NewEntry[];
  /** Time of the recording, in milliseconds since 1970; of imported rollouts the latest. */
  readonly at: number;
} & PackedContent;

/** Packed lines (packed-lines.ts), or the R2 key under which they are stored. */
export type PackedContent = {
  /** What replay reads of each rollout. */
  readonly rows: ArrayBuffer | null;
  readonly rows_key: string | null;
  /** The fields that all rollouts share, then report and text of each rollout; neither = there are none. */
  readonly details: ArrayBuffer | null;
  readonly details_key: string | null;
};

/** A block of lines in a segment (segment-format.ts). */
export type SegmentBlock = {
  /** The segment's R2 key. */
  readonly key: string;
  /** First byte of the gzip member in the segment, and the number of its bytes. */
  readonly offset: number;
  readonly bytes: number;
  /** First byte of the block in the decompressed member, and the byte after the block. */
  readonly start: number;
  readonly end: number;
};

/** The content of a record as it is stored: in the object, in R2, or in a segment. */
export type StoredContent = PackedContent & {
  readonly rows_at: SegmentBlock | null;
  readonly details_at: SegmentBlock | null;
};

export type PackedRecipe = { readonly digest: string; readonly name: string | null; readonly recipe: string };

export type RecordCall = {
  readonly v: number;
  /** The prefix of the run's R2 keys, which the object needs for its segments and its erasure. */
  readonly prefix: string;
  /** The number of the shard, which is part of the names of its segments. */
  readonly shard: number;
  /**
   * Whether the caller has just read in the list of runs that the run exists. Only then may the object begin: an erased
   * run must not begin again because of a caller that remembers it.
   */
  readonly open: boolean;
  readonly recipes: readonly PackedRecipe[];
  readonly records: readonly NewRecord[];
};

/** The content of a record in a shard that has none. */
export const NO_CONTENT: StoredContent = {
  rows: null,
  rows_key: null,
  rows_at: null,
  details: null,
  details_key: null,
  details_at: null,
};

export type ObjectLoad = {
  /** Size of the object's database. */
  readonly bytes: number;
  readonly calls_per_s: number;
};

export type PageCall = {
  readonly v: number;
  readonly fromStep: number | null;
  readonly toStep: number | null;
  readonly group: string | null;
  readonly sample: string | null;
  /** `latest`: only the last attempt at each place. */
  readonly attempts: 'latest' | 'all';
  readonly after: RowPosition | null;
  readonly limit: number;
};

/** A rollout of a page, and the number of its record. */
export type PageEntry = { readonly step: number; readonly group: string; readonly seq: number; readonly entry: Entry };

/** The rows of a record. `detailed`: whether it has reports. */
export type PageRecord = Pick<StoredContent, 'rows' | 'rows_key' | 'rows_at'> & {
  readonly seq: number;
  readonly detailed: boolean;
};

export type LedgerPage = {
  readonly entries: readonly PageEntry[];
  readonly records: readonly PageRecord[];
  /** Whether rollouts follow. */
  readonly more: boolean;
};

export type StepsPage = {
  readonly steps: readonly { readonly step: number; readonly figures: GroupFigures }[];
  /** The first step that the page lacks; `null` = there are no more. */
  readonly next: number | null;
};

export type VisitCall = {
  readonly v: number;
  /** The groups of a prompt's visits: from `first` to before `end`, in byte order. */
  readonly first: string;
  readonly end: string;
  /** `null` = the sample has no id of its own. */
  readonly sample: string | null;
  readonly content: string;
};

export type LatestVisit = Omit<PromptVisit, 'number'> & { readonly group: string };

/**
 * Why an object refuses a call: it has never begun, its run was erased, it is full, or the caller or the stored records
 * have another version, which the object leaves alone.
 */
export type LedgerRefusal = 'unopened' | 'erased' | 'full' | 'version_skew';

export type LedgerAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: LedgerRefusal };
