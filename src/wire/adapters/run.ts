/**
 * Which run, group and sample a request is of. Trainers send no ids, so both are inferred: equal prompts are one group,
 * and a sample is the whole request. Two samples of a group with the same text are therefore one.
 */
import * as z from 'zod';
import { sha256Schema } from '../../judgments/judgment-schema.ts';
import { digestJson } from '../../judgments/key.ts';

const groupingSchema = z
  .enum(['inferred', 'given'])
  .describe('inferred: SHA-256 of the canonical JSON of prompt and request. given: ids of the trainer.');

const attemptSchema = z.int().min(0).describe('From 0; other content at the same place is a new attempt.');
const statusSchema = z
  .enum(['recorded', 'unchanged'])
  .describe('unchanged: the same content stands there already, with no less observed.');

export const runReportSchema = z.strictObject({
  id: z.string(),
  group: sha256Schema,
  sample: sha256Schema,
  grouping: groupingSchema,
  attempt: attemptSchema,
  status: statusSchema,
});

export type RunReport = z.infer<typeof runReportSchema>;

/** A sample's place in a run. */
export type InferredRun = Pick<RunReport, 'id' | 'group' | 'sample' | 'grouping'>;

/** The same for several samples, in their order. */
export const runReportsSchema = z.strictObject({
  id: z.string(),
  group: z.array(sha256Schema),
  sample: z.array(sha256Schema),
  grouping: groupingSchema,
  attempt: z.array(attemptSchema),
  status: z.array(statusSchema),
});

/** @param prompt the part that all samples of a group share. */
export async function inferredRun(id: string, prompt: unknown, request: unknown): Promise<InferredRun> {
  const [group, sample] = await Promise.all([digestJson(prompt), digestJson(request)]);
  return { id, group, sample, grouping: 'inferred' };
}
