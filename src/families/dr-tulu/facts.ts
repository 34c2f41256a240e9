/** The facts of a dr-tulu rollout, under the compat mode in which they were measured. */
import * as z from 'zod';
import {
  countSchema,
  criterionScoreSchema,
  finishReasonFactSchema,
  type Observed,
  observedSchema,
  shareFactSchema,
  supportSchema,
  uncitedFactSchema,
} from '../../family/facts.ts';
import type { Support } from '../../judgments/kinds/citations/citations.ts';
import type { CriterionScore } from '../../judgments/kinds/rubric/rubric.ts';

export type DrTuluStatementFact =
  /** `relevance`: share of its sources that help, [0, 1]. */
  | { readonly cited: true; readonly support: Support; readonly relevance: number }
  | { readonly cited: false; readonly needs_citation: boolean };

export type DrTuluFacts = {
  readonly v: 1;
  readonly family: 'dr-tulu';
  readonly compat: 'exact' | 'corrected';
  readonly has_answer: boolean;
  readonly finish_reason: string | null;
  /** dr-tulu's own format term, [0, 1]. */
  readonly format: number;
  /** Search queries in the transcript, as the compat mode counts them. */
  readonly queries: number;
  readonly rubric: Observed<readonly { readonly weight: number; readonly score: CriterionScore }[]>;
  readonly citation: Observed<{
    /** One entry for each claim or uncited part, in order. */
    readonly statements: readonly DrTuluStatementFact[];
    /** Distinct cited ids that exist / distinct cited ids, [0, 1]. */
    readonly valid_id_ratio: number;
  }>;
};

export const drTuluFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('dr-tulu'),
  compat: z.enum(['exact', 'corrected']),
  has_answer: z.boolean(),
  finish_reason: finishReasonFactSchema,
  format: shareFactSchema,
  queries: countSchema,
  rubric: observedSchema(z.array(z.strictObject({ weight: z.number(), score: criterionScoreSchema }))),
  citation: observedSchema(
    z.strictObject({
      statements: z.array(
        z.discriminatedUnion('cited', [
          z.strictObject({ cited: z.literal(true), support: supportSchema, relevance: shareFactSchema }),
          uncitedFactSchema,
        ]),
      ),
      valid_id_ratio: shareFactSchema,
    }),
  ),
});
