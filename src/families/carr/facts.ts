/** The facts of a carr rollout, under the compat mode in which they were measured. They contain labels, but no names. */
import * as z from 'zod';
import { countSchema, type FactsOf, finishReasonFactSchema, observedSchema } from '../../family/facts.ts';
import { countFields } from '../../family/term-schemas.ts';
import { withPanel } from '../../family/vote-schemas.ts';
import { MAX_CRITERIA, MAX_CRITERION_CHARS } from '../../limits.ts';

const labelSchema = z
  .string()
  .regex(/^E\p{Nd}+$/u)
  .max(MAX_CRITERION_CHARS)
  // For the OpenAPI document: clients in Python have no \p, and \d is ASCII alone in others.
  .meta({ pattern: '^E\\S+$' });

const ownFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('carr'),
  compat: z.enum(['exact', 'corrected']),
  // The response has a text to judge.
  has_answer: z.boolean(),
  finish_reason: finishReasonFactSchema,
  // Whether the answer agrees with the reference.
  outcome: observedSchema(z.literal([0, 1])),
  // The labels of each criterion, in order of appearance.
  criteria: z.array(z.array(labelSchema)).max(MAX_CRITERIA),
  // The cited pages that the trajectory saw.
  pages: countSchema,
  // The labels that the answer names.
  named: observedSchema(z.array(labelSchema)),
  // For each criterion, whether the cited pages support it; false if a label has no name or no page was cited.
  supported: observedSchema(z.array(z.boolean()).max(MAX_CRITERIA)),
  ...countFields,
});

export const carrFactsSchema = withPanel(ownFactsSchema);

export type CarrFacts = FactsOf<z.infer<typeof carrFactsSchema>>;
