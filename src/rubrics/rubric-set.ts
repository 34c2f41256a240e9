/**
 * The identity of criteria and of sets of criteria. Both are content addresses, so a criterion keeps its id when others
 * are retired, and a rollout names the set that it was scored under by one digest.
 */
import * as z from 'zod';
import { digestJson, sha256 } from '../digest.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_CRITERIA, MAX_CRITERION_WEIGHT } from '../limits.ts';

export const polaritySchema = z.enum(['positive', 'negative']);

/** A criterion of a prompt. Its weight is no part of its identity: a replay may change it. */
export const promptCriterionSchema = z.strictObject({
  polarity: polaritySchema,
  title: z.string().exactOptional(),
  description: z.string().min(1),
});
/** A criterion of one prompt, without its weight. */
export type PromptCriterion = Readonly<z.infer<typeof promptCriterionSchema>>;

/** `persistent`: given with the row. `evolving`: proposed during the run. */
const entryTypeSchema = z.enum(['persistent', 'evolving']);

export const setEntrySchema = z.strictObject({
  id: sha256Schema,
  weight: z.number().positive().max(MAX_CRITERION_WEIGHT),
  type: entryTypeSchema,
  since_step: z.int().min(0).nullable().describe('The step that added it; null = given with the row.'),
});
/** One criterion of a set; its weight is above 0, and its polarity is that of the criterion. */
export type SetEntry = Readonly<z.infer<typeof setEntrySchema>>;

/** An ordered list of criteria. Immutable: another list is another set. */
export const rubricSetSchema = z.array(setEntrySchema).max(MAX_CRITERIA);
/** The criteria that score a prompt, in order. */
export type RubricSet = readonly SetEntry[];

/** The digest of a question, part of the ids of its criteria. */
export function questionDigest(question: string): string {
  return sha256(question);
}

/**
 * The id of a criterion: SHA-256 (hex) of the RFC 8785 JSON of the question's digest, polarity, title and description.
 * @example criterionId(questionDigest('How deep is the lake?'), { polarity: 'positive', description: 'States 1,642 m' })
 */
export function criterionId(question: string, { polarity, title, description }: PromptCriterion): string {
  return digestJson({ question, polarity, title: title ?? null, description });
}

/** The id of a set: SHA-256 (hex) of the RFC 8785 JSON of its entries, in order. */
export function setId(set: RubricSet): string {
  return digestJson(set);
}
