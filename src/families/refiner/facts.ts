/** The facts of a refiner rollout. */
import * as z from 'zod';
import { findingReasonSchema } from '../../citations/finding-schema.ts';
import {
  criterionScoreSchema,
  evidenceSchema,
  type FactsOf,
  finishReasonFactSchema,
  type ObservedIn,
  observedSchema,
  quoteSchema,
  supportSchema,
  uncitedFactSchema,
} from '../../family/facts.ts';
import { sharedLimitsFields } from '../../family/shared-limits.ts';
import { countFields } from '../../family/term-schemas.ts';
import { withPanel } from '../../family/vote-schemas.ts';
import { MAX_CRITERION_WEIGHT } from '../../limits.ts';

const criterionFactSchema = z.strictObject({
  origin: z.enum(['instance', 'static']),
  polarity: z.enum(['positive', 'negative']),
  // The criterion's own weight, as the row gives it.
  weight: z.number().min(0).max(MAX_CRITERION_WEIGHT),
  score: criterionScoreSchema,
  // 16 bits of the criterion's words; only of the row's own ones that the recipe's `holdout` or `dropout` may leave out.
  hash: z.int().min(0).max(0xffff).exactOptional(),
  evidence: evidenceSchema.exactOptional(),
});

const citedFactSchema = z.strictObject({
  cited: z.literal(true),
  support: supportSchema,
  // One entry for each distinct cited id; false for an invented id.
  relevant: z.array(z.boolean()),
  quote: quoteSchema.exactOptional(),
  // Only of a judge that was asked for contradictions: the sources deny the claim, and which part of it they lack.
  contradicted: z.literal(true).exactOptional(),
  unsupported: z.strictObject({ start: z.int().min(0), end: z.int().min(0) }).exactOptional(),
});

/** The reasons of `pricedFindings`. */
export const pricedReasonSchema = findingReasonSchema.exclude([
  'source_duplicate_id',
  'source_empty',
  'text_outside_answer',
  'citation_missing',
  'citation_forbidden',
]);

const ownFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('refiner'),
  has_answer: z.boolean(),
  format: z.strictObject({ answer_only: z.literal([0, 1]), full: z.literal([0, 1]) }),
  finish_reason: finishReasonFactSchema,
  // Whether the answer cites anything, invented ids too; only if the recipe has `citations`.
  cites: z.boolean().exactOptional(),
  // The answer cites nothing and only abstains, in a row with positive criteria of its own, which may ask for that;
  // absent = it does not, or recorded before 2026-11-27.
  abstains: z.literal(true).exactOptional(),
  // How often a claim cites an id again; absent = never, or recorded before 2026-11-26.
  repeated_ids: z.int().min(1).exactOptional(),
  // How often each reason was found, empty = none; only if the recipe has `finding_penalty`.
  findings: z.partialRecord(pricedReasonSchema, z.int().min(1)).exactOptional(),
  // 16 bits of what names the visit of the prompt, the same for all samples of its group; only if the recipe has `dropout`.
  visit: z.int().min(0).max(0xffff).exactOptional(),
  rubric: observedSchema(z.array(criterionFactSchema)),
  // Without duplicates: the cited statements in order, then the uncited ones.
  citation: observedSchema(z.array(z.discriminatedUnion('cited', [citedFactSchema, uncitedFactSchema]))),
  ...countFields,
  ...sharedLimitsFields,
});

export const refinerFactsSchema = withPanel(ownFactsSchema);

export type RefinerFacts = FactsOf<z.infer<typeof refinerFactsSchema>>;
/** One judged criterion. */
export type CriterionFact = ObservedIn<RefinerFacts['rubric']>[number];
/** One statement of the answer. */
export type StatementFact = ObservedIn<RefinerFacts['citation']>[number];
