/** Projects: their daily budgets, and what is used of them. */
import * as z from 'zod';
import { MAX_BUDGET } from '../limits.ts';

const budgetSchema = z.int().min(1).max(MAX_BUDGET).nullable().describe('null = no limit.');

export const projectChangeSchema = z.strictObject({
  judge_calls_per_day: budgetSchema.exactOptional(),
  judge_tokens_per_day: budgetSchema.exactOptional(),
});

const amountsSchema = z.strictObject({ judge_calls: z.int(), judge_tokens: z.int() });

export const projectSchema = z.strictObject({
  project: z.string(),
  judge_calls_per_day: budgetSchema,
  judge_tokens_per_day: budgetSchema,
  used_today: amountsSchema.describe('Of calls that have ended; up to 5 s old.'),
  reserved: amountsSchema.describe(
    'What the desks have reserved besides: for calls that run, and to admit calls at once. What they do not use they ' +
      'give back after a few seconds. 0 without a budget.',
  ),
  renews_at: z.iso.datetime().describe('The next midnight UTC.'),
});

export type ProjectReply = z.infer<typeof projectSchema>;
