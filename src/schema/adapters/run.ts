/**
 * Which run, group and sample a request is of. Trainers send no ids, so both are inferred: equal prompts are one group,
 * and a sample is the whole request. Two samples of a group with the same text are therefore one.
 */
import * as z from 'zod';
import { digestJson } from '../../judgments/key.ts';
import { sha256Schema } from '../judgment.ts';

const groupingSchema = z
  .enum(['inferred', 'given'])
  .describe('inferred: SHA-256 of the canonical JSON of prompt and request. given: ids of the trainer.');

export const runReportSchema = z.strictObject({
  id: z.string(),
  group: sha256Schema,
  sample: sha256Schema,
  grouping: groupingSchema,
});

export type RunReport = z.infer<typeof runReportSchema>;

/** The same for several samples, in their order. */
export const runReportsSchema = z.strictObject({
  id: z.string(),
  group: z.array(sha256Schema),
  sample: z.array(sha256Schema),
  grouping: groupingSchema,
});

/** @param prompt the part that all samples of a group share. */
export async function inferredRun(id: string, prompt: unknown, request: unknown): Promise<RunReport> {
  const [group, sample] = await Promise.all([digestJson(prompt), digestJson(request)]);
  return { id, group, sample, grouping: 'inferred' };
}
