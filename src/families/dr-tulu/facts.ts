/** The facts of a dr-tulu rollout, under the compat mode in which they were measured. */
import * as z from 'zod';
import {
  countSchema,
  criterionScoreSchema,
  evidenceSchema,
  type FactsOf,
  finishReasonFactSchema,
  type ObservedIn,
  observedSchema,
  quoteSchema,
  shareFactSchema,
  supportSchema,
  uncitedFactSchema,
} from '../../family/facts.ts';
import { sharedLimitsFields } from '../../family/shared-limits.ts';
import { countFields } from '../../family/term-schemas.ts';
import { withPanel } from '../../family/vote-schemas.ts';
import { MAX_CRITERION_WEIGHT } from '../../limits.ts';

const ownFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('dr-tulu'),
  compat: z.enum(['exact', 'corrected']),
  has_answer: z.boolean(),
  finish_reason: finishReasonFactSchema,
  // dr-tulu's own format term.
  format: shareFactSchema,
  // Search queries in the transcript, as the compat mode counts them.
  queries: countSchema,
  rubric: observedSchema(
    z.array(
      z.strictObject({
        weight: z.number().min(-MAX_CRITERION_WEIGHT).max(MAX_CRITERION_WEIGHT),
        score: criterionScoreSchema,
        evidence: evidenceSchema.exactOptional(),
      }),
    ),
  ),
  citation: observedSchema(
    z.strictObject({
      // One entry for each claim or uncited part, in order. `relevance`: the share of the claim's sources that help to
      // support it.
      statements: z.array(
        z.discriminatedUnion('cited', [
          z.strictObject({
            cited: z.literal(true),
            support: supportSchema,
            relevance: shareFactSchema,
            // Only if the recipe has `unverified_quote`.
            quote: quoteSchema.exactOptional(),
          }),
          uncitedFactSchema,
        ]),
      ),
      // Distinct cited ids that exist / distinct cited ids.
      valid_id_ratio: shareFactSchema,
    }),
  ),
  ...countFields,
  ...sharedLimitsFields,
});

export const drTuluFactsSchema = withPanel(ownFactsSchema);

export type DrTuluFacts = FactsOf<z.infer<typeof drTuluFactsSchema>>;
export type DrTuluStatementFact = ObservedIn<DrTuluFacts['citation']>['statements'][number];
