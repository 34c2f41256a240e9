/** One problem document before it is sent: its status, its texts and its headers. */
import * as z from 'zod';
import { judgmentKindSchema, sha256Schema } from '../judgments/judgment-schema.ts';

/** What a problem says beside its texts. */
export const problemDataFields = {
  errors: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .exactOptional()
    .describe('Every invalid field, with the expected value.'),
  missing: z
    .array(z.strictObject({ kind: judgmentKindSchema, key: sha256Schema }))
    .exactOptional()
    .describe('Judgments that are missing from the store.'),
  unobserved: z
    .record(z.string(), z.int().min(0))
    .exactOptional()
    .describe('What a replay reads and the run lacks: rollout counts by recipe.<measure field> or rollout.<field>.'),
  budget: z
    .strictObject({
      name: z.enum(['judge_calls_per_day', 'judge_tokens_per_day']),
      limit: z.int(),
      used: z.int().describe('With what the desks have reserved.'),
      renews_at: z.iso.datetime(),
    })
    .exactOptional()
    .describe('The daily budget of the project that is used up.'),
};

const problemDataSchema = z.strictObject(problemDataFields);

export type Entry = {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** Default: false. */
  readonly retryable?: boolean;
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number;
  readonly extra?: z.infer<typeof problemDataSchema>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Default of `Retry-After` in seconds, for failures that name no time. */
export const DEFAULT_RETRY_AFTER_S = 5;

type Extras = Omit<Entry, 'status' | 'title' | 'detail'>;

export function entry(status: number, title: string, detail: string, extras: Extras = {}): Entry {
  return { status, title, detail, ...extras };
}
