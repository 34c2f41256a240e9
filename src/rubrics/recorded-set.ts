/** The set that scored a group, as a fact of each of its rollouts: replay under the recorded sets asks nothing. */
import * as z from 'zod';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_CRITERIA } from '../limits.ts';
import { rubricSetSchema } from './rubric-set.ts';

export const recordedSetSchema = z
  .strictObject({
    prompt: sha256Schema.describe('SHA-256 of the question.'),
    id: sha256Schema.describe('The digest of the entries, in order.'),
    entries: rubricSetSchema,
    positions: z
      .array(z.int().min(0))
      .max(MAX_CRITERIA)
      .describe('The index of each entry among the criteria of the facts.'),
  })
  .describe('The evolving rubric that scored the rollout; the same for all samples of its group.');

/** A set, and where its verdicts are in the facts. */
export type RecordedSet = z.infer<typeof recordedSetSchema>;
