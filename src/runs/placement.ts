/** `run` in requests: where in which run a rollout or a group is to be recorded. */
import * as z from 'zod';
import { MAX_GROUP, MAX_RUN_PLACE_CHARS, MAX_RUN_STEP } from '../limits.ts';
import type { RolloutPlace } from './row.ts';

const RUN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Names a run: the caller's own id. */
export const runIdSchema = z
  .string()
  .refine((run) => RUN_ID.test(run), { error: 'expected 1 to 128 letters, digits, ".", "_" or "-"' })
  .meta({ pattern: RUN_ID.source });

export const stepSchema = z.int().min(0).max(MAX_RUN_STEP).describe("The trainer's step, from 0.");

/** A group or a sample as it is stored. */
export const placeIdSchema = z
  .string()
  .min(1)
  .max(MAX_RUN_PLACE_CHARS)
  .refine((id) => id.isWellFormed() && !id.includes('\0'), { error: 'expected text without NUL and lone surrogates' });

const placeInputSchema = z.union([placeIdSchema, z.int().min(0)]).describe('A number is stored as its digits.');

export const rolloutRunSchema = z
  .strictObject({
    id: runIdSchema,
    step: stepSchema,
    group: placeInputSchema.describe('What the trainer calls the prompt: its samples are one group.'),
    sample: placeInputSchema,
  })
  .describe('Records the rollout in the ledger of a run, and measures everything that the family measures.');

export const groupRunSchema = z
  .strictObject({
    id: runIdSchema,
    step: stepSchema,
    group: placeInputSchema,
    samples: z
      .array(placeInputSchema)
      .min(1)
      .max(MAX_GROUP)
      .exactOptional()
      .describe('Of each response; default: its position.'),
  })
  .describe('Records the group in the ledger of a run, and measures everything that the family measures.');

export const storeTextSchema = z
  .boolean()
  .default(false)
  .describe(
    'With run: keep the text of the rollout too (question, response, tool output, …), until the run is deleted.',
  );

/** Where a rollout was recorded, and what became of it. */
export const runRecordSchema = z
  .strictObject({
    id: runIdSchema,
    step: stepSchema.nullable(),
    group: placeIdSchema,
    sample: placeIdSchema,
    attempt: z.int().min(0).describe('From 0; other content at the same place is a new attempt. The latest counts.'),
    status: z
      .enum(['recorded', 'unchanged'])
      .describe('unchanged: the same content stands there already, with no less observed.'),
  })
  .describe('Where the rollout stands in the ledger of its run.');

export type RunRecord = z.infer<typeof runRecordSchema>;

/** The rule that a text is kept only of what is recorded, as options of `refine`. */
export const textNeedsRun = { path: ['store_text'], error: 'only with run: the text is kept in the run' };

/** Where the rollouts of one request are recorded. */
export type RunPlacement = Omit<RolloutPlace, 'sample'> & {
  /** Of each rollout, in their order; distinct. */
  readonly samples: readonly string[];
  readonly grouping: 'given' | 'inferred';
  /** Keep the text too. */
  readonly store_text: boolean;
};

export function rolloutPlacement(run: z.infer<typeof rolloutRunSchema>, store_text: boolean): RunPlacement {
  const { id, step, group, sample } = run;
  return { run: id, step, group: String(group), samples: [String(sample)], grouping: 'given', store_text };
}

/** @param count responses of the group. */
export function groupPlacement(
  { id, step, group, samples }: z.infer<typeof groupRunSchema>,
  count: number,
  store_text: boolean,
): RunPlacement {
  const named = samples ?? Array.from({ length: count }, (_, position) => position);
  return { run: id, step, group: String(group), samples: named.map(String), grouping: 'given', store_text };
}

/** What is wrong with the samples of a group's run, by position; `null` = nothing. */
export function samplesProblem(samples: readonly (string | number)[], count: number): string | null {
  if (samples.length !== count) return `expected ${count} ids, one a response`;
  return new Set(samples.map(String)).size === count ? null : 'expected ids that differ';
}
