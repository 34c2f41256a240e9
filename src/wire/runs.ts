/** Runs: the list, one run step by step, its rollouts, and the result of a deletion. */
import * as z from 'zod';
import { findingCountsSchema } from '../citations/finding-schema.ts';
import { FAMILY_NAMES } from '../families/composers.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_RUN_PAGE, MAX_RUN_ROLLOUT_PAGE, MAX_RUN_STEPS_PAGE, MAX_RUN_TITLE_CHARS } from '../limits.ts';
import { ledgerRowSchema, placeIdSchema, runIdSchema, stepSchema } from '../runs/row.ts';
import { runStepSchema } from '../runs/summary.ts';
import { plainLine } from '../text/foreign-line.ts';

const countSchema = z.int().min(0);
/** A number in a query. */
const digitsSchema = z
  .string()
  .regex(/^\d{1,10}$/, { error: 'expected digits' })
  .transform(Number);
/** A step in a query. */
export const stepParameter = digitsSchema.pipe(stepSchema);
export const pageSize = (most: number, usual: number) =>
  digitsSchema.pipe(z.int().min(1).max(most)).default(usual).describe(`1 to ${most}.`);
const cursorSchema = z.string().min(1).max(4096).describe('`next` of the previous page.');

export const runListQuerySchema = z.strictObject({
  limit: pageSize(MAX_RUN_PAGE, 20),
  after: runIdSchema.exactOptional().describe('The last run of the previous page.'),
});

/** One line of text: characters that move the cursor of a terminal, reorder or hide text are refused. */
const titleSchema = z
  .string()
  .min(1)
  .max(MAX_RUN_TITLE_CHARS)
  .refine((title) => plainLine(title) === title, {
    error: 'expected a line of text, without white space at its ends and without unseen or control characters',
  });

export const runChangeSchema = z.strictObject({ title: titleSchema.nullable().describe('null removes it.') });

export const runSchema = z.strictObject({
  id: runIdSchema,
  family: z.enum(FAMILY_NAMES).describe('The family of all recipes of the run, so its rewards are comparable.'),
  created_at: z.iso.datetime(),
  active_at: z.iso.datetime().describe('Time of the last record, to the minute.'),
  expires_at: z.iso.datetime().nullable().describe('Time of deletion (RUN_RETENTION_DAYS); null = never.'),
  store_text: z.boolean().describe('Whether the run keeps the text of any rollout.'),
  first_step: stepSchema.nullable().describe('null = no rollout has a step.'),
  last_step: stepSchema.nullable(),
  title: titleSchema.exactOptional().describe('Absent = it has none.'),
});

/** A run as lists show it. */
export type RunReply = z.infer<typeof runSchema>;

export const runListSchema = z.strictObject({
  runs: z.array(runSchema).describe('Newest first.'),
  next: runIdSchema.nullable().describe('For `after`; null = last page.'),
  deleting: z
    .array(runIdSchema)
    .describe('Runs whose deletion has begun and not ended, at most 100 of them; delete them again to end it.'),
});

export const runQuerySchema = z.strictObject({
  limit: pageSize(MAX_RUN_STEPS_PAGE, 100),
  from_step: stepParameter.exactOptional().describe('First step to summarise; excludes rollouts without a step.'),
});

export const runDetailSchema = runSchema.extend({
  rollouts: countSchema.describe('All attempts included.'),
  recipes: z.array(
    z.strictObject({
      digest: sha256Schema,
      name: z.string().nullable().describe('null = an inline recipe.'),
      recipe: z.record(z.string(), z.unknown()).describe('All parameters.'),
    }),
  ),
  steps: z.array(runStepSchema).describe('In order; rollouts without a step first.'),
  next_step: stepSchema.nullable().describe('For `from_step`; null = last page.'),
});

/** A run with the summaries of its steps. */
export type RunDetail = z.infer<typeof runDetailSchema>;

export const rolloutListQuerySchema = z
  .strictObject({
    step: z
      .union([z.literal('none'), stepParameter])
      .exactOptional()
      .describe('none: rollouts without a step.'),
    group: placeIdSchema.exactOptional(),
    sample: placeIdSchema.exactOptional(),
    attempts: z.enum(['latest', 'all']).default('latest'),
    detail: z
      .enum(['true', 'summary', 'false'])
      .default('false')
      .describe(
        `true: with report and stored text, at most ${MAX_RUN_ROLLOUT_PAGE.detail} rollouts a page. ` +
          'summary: with the question and the number of findings.',
      ),
    limit: pageSize(MAX_RUN_ROLLOUT_PAGE.rows, MAX_RUN_ROLLOUT_PAGE.detail),
    after: cursorSchema.exactOptional(),
  })
  .refine(({ detail, limit }) => detail !== 'true' || limit <= MAX_RUN_ROLLOUT_PAGE.detail, {
    path: ['limit'],
    error: `expected at most ${MAX_RUN_ROLLOUT_PAGE.detail} with detail`,
  });

export const runRolloutSchema = ledgerRowSchema.extend({
  components: z.record(z.string(), z.number().nullable()).describe('Value of each component; null = it has none.'),
  cached: countSchema.describe('Judgments that came from the store.'),
  detail: z
    .strictObject({
      report: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('The reply of the score; without the text of ids and criteria unless the run keeps text.'),
      rollout: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('The rollout as sent; null = its text is not kept.'),
    })
    .nullable()
    .exactOptional()
    .describe('null where none was recorded, as for an import.'),
  summary: z
    .strictObject({
      question: z.string().nullable().describe('null = the run keeps no text.'),
      finding_counts: findingCountsSchema.nullable().describe('null = the family reports no findings.'),
    })
    .nullable()
    .exactOptional()
    .describe('With detail=summary; null where nothing was recorded beside the row, as for an import.'),
});

/** A recorded rollout: its place in the run, its reward and, on request, its report and text. */
export type RunRollout = z.infer<typeof runRolloutSchema>;

export const rolloutListSchema = z.strictObject({
  rollouts: z.array(runRolloutSchema).describe('By step, group, sample, attempt.'),
  next: z.string().nullable().describe('For `after`; null = last page.'),
});

export const runDeletionSchema = z.strictObject({
  id: runIdSchema,
  deleted: z.literal(true),
  complete: z.boolean().describe('false: the run is hidden; the next cleanup or another DELETE removes the rest.'),
});

/** The reply to the deletion of a run. */
export type RunDeletion = z.infer<typeof runDeletionSchema>;
