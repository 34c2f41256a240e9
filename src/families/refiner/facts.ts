/** The facts of a refiner rollout. */
import * as z from 'zod';
import {
  criterionScoreSchema,
  finishReasonFactSchema,
  type Observed,
  observedSchema,
  supportSchema,
  uncitedFactSchema,
} from '../../family/facts.ts';
import type { Support } from '../../judgments/kinds/citations/citations.ts';
import type { CriterionScore } from '../../judgments/kinds/rubric/rubric.ts';
import type { Polarity } from '../../judgments/kinds/rubric/static-criteria.ts';

/** One judged criterion. */
export type CriterionFact = {
  readonly origin: 'instance' | 'static';
  readonly polarity: Polarity;
  /** The row's own weight: finite, >= 0. */
  readonly weight: number;
  readonly score: CriterionScore;
};

/** One statement of the answer. Duplicates are left out. */
export type StatementFact =
  | {
      readonly cited: true;
      readonly support: Support;
      /** One entry for each distinct cited id; an invented id is `false`. */
      readonly relevant: readonly boolean[];
      /** `unverified`: no cited source contains the judge's quote. Absent if no quote was asked for or given. */
      readonly quote?: 'verified' | 'unverified';
    }
  | { readonly cited: false; readonly needs_citation: boolean };

export type RefinerFacts = {
  readonly v: 1;
  readonly family: 'refiner';
  readonly has_answer: boolean;
  readonly format: { readonly answer_only: 0 | 1; readonly full: 0 | 1 };
  readonly finish_reason: string | null;
  readonly rubric: Observed<readonly CriterionFact[]>;
  readonly citation: Observed<readonly StatementFact[]>;
};

export const refinerFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('refiner'),
  has_answer: z.boolean(),
  format: z.strictObject({ answer_only: z.literal([0, 1]), full: z.literal([0, 1]) }),
  finish_reason: finishReasonFactSchema,
  rubric: observedSchema(
    z.array(
      z.strictObject({
        origin: z.enum(['instance', 'static']),
        polarity: z.enum(['positive', 'negative']),
        weight: z.number().min(0),
        score: criterionScoreSchema,
      }),
    ),
  ),
  citation: observedSchema(
    z.array(
      z.discriminatedUnion('cited', [
        z.strictObject({
          cited: z.literal(true),
          support: supportSchema,
          relevant: z.array(z.boolean()),
          quote: z.enum(['verified', 'unverified']).exactOptional(),
        }),
        uncitedFactSchema,
      ]),
    ),
  ),
});
