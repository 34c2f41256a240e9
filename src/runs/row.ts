/**
 * A ledger row, version 1: the record of one rollout of a run, with everything that replay reads. `compose(facts,
 * recipe)` gives the reward under any recipe of the family. A row holds no text. Rows of another form are refused,
 * because replay computes rewards from them.
 */
import * as z from 'zod';
import type { Facts } from '../families/composers.ts';
import { factsSchema } from '../families/schemas.ts';
import { type UnscoredReason, unscoredReasonSchema } from '../family/score.ts';
import { judgmentKindSchema, sha256Schema } from '../judgments/judgment-schema.ts';
import type { PinnedJudgment } from '../judgments/pin.ts';
import { MAX_RUN_PLACE_CHARS, MAX_RUN_STEP } from '../limits.ts';
import { type RecordedSet, recordedSetSchema } from '../rubrics/recorded-set.ts';
import type { RolloutOutcome } from './rollout-counts.ts';

/** The place of a rollout in its run. `group` is a prompt, `sample` one of its rollouts. */
type RolloutPlace = {
  readonly run: string;
  /** The trainer's step, from 0; `null` = unknown, as for adapters. */
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
};

export type LedgerRow = RolloutPlace & {
  readonly v: 1;
  /** Counts from 0. Other content at the same place is a new attempt (a resumed checkpoint); the latest counts. */
  readonly attempt: number;
  /** `inferred`: group and sample are digests of prompt and request, because the trainer sends no ids. */
  readonly grouping: 'given' | 'inferred';
  /** Digest of rollout, recipe, judge and replicate (content-digest.ts), SHA-256 in hex. */
  readonly content: string;
  /** SHA-256 (hex) of the recipe that scored the rollout; the run stores each recipe once. */
  readonly recipe: string;
  readonly facts: Facts;
  /** The judgments that the facts were read from. */
  readonly judgments: readonly PinnedJudgment[];
  /** The reward of the reply. An unscored rollout has a row too: its facts say what is missing. */
  readonly reward: number | null;
  readonly reason: UnscoredReason | null;
  /** The set of an evolving rubric that scored the rollout. Absent: the row's own criteria did. */
  readonly rubric_set?: RecordedSet;
  /** Time of the recording, as ISO 8601. */
  readonly recorded_at: string;
};

/** Not `.` or `..`, which no URL can name. */
const RUN_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id of a run. */
export const runIdSchema = z
  .string()
  .refine((run) => RUN_ID.test(run), {
    error: 'expected 1 to 128 letters, digits, ".", "_" or "-", and not only "." or ".."',
  })
  .meta({ pattern: RUN_ID.source });

export const stepSchema = z.int().min(0).max(MAX_RUN_STEP).describe("The trainer's step, from 0.");

/** The step of a rollout that is to be recorded. It must be given, so that a forgotten step is not an unknown one. */
export const recordedStepSchema = stepSchema
  .nullable()
  .describe("The trainer's step, from 0; null = the trainer has none. The group's id then has to differ by epoch.");

/** The id of a group or a sample in its stored form. */
export const placeIdSchema = z
  .string()
  .min(1)
  .max(MAX_RUN_PLACE_CHARS)
  .refine((id) => id.isWellFormed() && !id.includes('\0'), { error: 'expected text without NUL and lone surrogates' });

/** Where the rollouts of one request are recorded. */
export type RunPlacement = Omit<RolloutPlace, 'sample'> & {
  /** One id per rollout, in the order of the rollouts; distinct. */
  readonly samples: readonly string[];
  /** What the trainer knows of each rollout, in the same order. Absent: nothing. */
  readonly reported?: readonly RolloutOutcome[];
  readonly grouping: 'given' | 'inferred';
  /** Whether the ledger also keeps the text of the rollouts. */
  readonly store_text: boolean;
};

/** What names the visit of a prompt, of step and group; `{}` = the trainer names neither, so visits are numbered later. */
export function visitOfPlace({ step, group, grouping }: Pick<RunPlacement, 'step' | 'group' | 'grouping'>): {
  readonly visit?: string;
} {
  return step === null && grouping === 'inferred' ? {} : { visit: `${step ?? ''} ${group}` };
}

const countSchema = z.int().min(0);

const pinnedJudgmentSchema = z.strictObject({
  kind: judgmentKindSchema,
  key: sha256Schema,
  verdicts: sha256Schema.describe('SHA-256 of the RFC 8785 JSON of the verdicts.'),
});

/** The stored JSON of a row: the part that replay reads. The other fields are columns. */
export const storedFactsSchema = z.strictObject({
  v: z.literal(1),
  facts: factsSchema.describe('All observations of the rollout, independent of any recipe.'),
  judgments: z.array(pinnedJudgmentSchema).describe('The judgments that the facts were read from.'),
  reward: z.number().nullable().describe('As answered; null = unscored.'),
  reason: unscoredReasonSchema.nullable(),
  rubric_set: recordedSetSchema.exactOptional(),
});

/** The columns of a row. */
const ledgerPlaceSchema = z.strictObject({
  run: runIdSchema,
  step: stepSchema.nullable().describe('null = the trainer sends no step.'),
  group: placeIdSchema,
  sample: placeIdSchema,
  attempt: countSchema.describe('From 0; other content at the same place is a new attempt. The latest counts.'),
  grouping: z.enum(['given', 'inferred']).describe('inferred: group and sample are digests of prompt and request.'),
  content: sha256Schema.describe('Digest of rollout, recipe and judge; equal content is recorded once.'),
  recipe: sha256Schema.describe('Digest of the recipe that scored the rollout.'),
  recorded_at: z.iso.datetime(),
});

export const ledgerRowSchema = z.strictObject({
  ...storedFactsSchema.shape,
  ...ledgerPlaceSchema.shape,
}) satisfies z.ZodType<LedgerRow>;
