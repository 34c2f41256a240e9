/** Projects: their daily budgets, and what is used of them. */
import * as z from 'zod';
import { MAX_BUDGET } from '../limits.ts';

const budgetSchema = z.int().min(1).max(MAX_BUDGET).nullable().describe('null = no limit.');

export const projectChangeSchema = z.strictObject({
  judge_calls_per_day: budgetSchema.exactOptional(),
  judge_tokens_per_day: budgetSchema.exactOptional(),
});

export const projectSchema = z.strictObject({
  project: z.string(),
  judge_calls_per_day: budgetSchema,
  judge_tokens_per_day: budgetSchema,
  used_today: z
    .strictObject({ judge_calls: z.int(), judge_tokens: z.int() })
    .describe('With what the desks have reserved. Counted while the project has a budget.'),
  renews_at: z.iso.datetime().describe('The next midnight UTC.'),
});

export type ProjectReply = z.infer<typeof projectSchema>;
