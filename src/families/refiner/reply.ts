/** The reply for a refiner rollout: the score, and the criteria, claims and statements behind it. */
import * as z from 'zod';
import {
  citedIdSchema,
  findingCountsSchema,
  findingReasonSchema,
  findingSchema,
  formatSchema,
  indexSchema,
  spanSchema,
} from '../../citations/finding-schema.ts';
import type { ReplyOffsets } from '../../citations/offset-units.ts';
import { evidenceSchema } from '../../family/facts.ts';
import {
  componentSchema,
  criterionVerdictSchema,
  decidedBy,
  rewardFields,
  shareSchema,
  weightSchema,
} from '../../family/score.ts';
import { termComponents } from '../../family/term-schemas.ts';

const scoreFields = {
  family: z.literal('refiner'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'no_answer', 'citation_policy', 'non_stop_penalty']),
  components: z.strictObject({
    rubric: componentSchema,
    citation: componentSchema,
    format: componentSchema,
    findings: componentSchema.exactOptional().describe('With finding_penalty: what the findings cost, 0 or less.'),
    paid_criteria: componentSchema
      .exactOptional()
      .describe('With holdout: how far the own positive criteria that pay are met; null = none is held out.'),
    held_out_criteria: componentSchema.exactOptional().describe('The same of those that are held out.'),
    ...termComponents,
  }),
  details: z.strictObject({
    citation_recall: shareSchema,
    citation_precision: shareSchema,
    rubric_positive: shareSchema,
    rubric_negative: shareSchema,
    vacuous_credit: shareSchema,
    own_positives: shareSchema
      .exactOptional()
      .describe('With own_positives_required: how far the own positive criteria are met; null = the row has none.'),
    padding: shareSchema.exactOptional().describe('With padding_lowers_citation: the verdict on padding, 0 to 1.'),
  }),
};

const criterionReportSchema = z.strictObject({
  key: z.string(),
  title: z.string().exactOptional(),
  description: z.string(),
  origin: z.enum(['instance', 'static']),
  polarity: z.enum(['positive', 'negative']),
  weight: weightSchema.describe("The row's own weight, before the recipe's."),
  score: criterionVerdictSchema,
  evidence: evidenceSchema.exactOptional().describe("The check of the judge's quote for a score above 0."),
  left_out: z.literal(true).exactOptional().describe('The holdout or dropout leaves it out of the reward.'),
});

const claimReportSchema = z.strictObject({
  index: indexSchema,
  span: spanSchema,
  ids: z.array(citedIdSchema),
  duplicate_of: indexSchema.nullable().describe('Index of an earlier equal claim; duplicates count in no metric.'),
  support: shareSchema.describe(
    '0, 0.5 or 1 as judged; with the mean of several judges, any number between. null = not judged, or a duplicate.',
  ),
  relevant: z.array(z.boolean().nullable()).describe('One entry for each id.'),
  quote: z.enum(['verified', 'unverified']).exactOptional(),
  contradicted: z
    .literal(true)
    .exactOptional()
    .describe('With ask_contradiction: the cited sources say otherwise; absent = they do not.'),
  unsupported: spanSchema
    .exactOptional()
    .describe('With ask_contradiction: the words of the claim that no cited source states.'),
  findings: z.array(findingReasonSchema),
  unknown_language: z
    .literal(true)
    .exactOptional()
    .describe('The lexical judge does not know the language of the claim, so it sees no negation in it.'),
});

const statementReportSchema = z.strictObject({
  index: indexSchema,
  pieces: z.array(spanSchema),
  needs_citation: z.boolean().nullable(),
});

export const refinerReplySchema = z.strictObject({
  ...scoreFields,
  criteria: z.array(criterionReportSchema),
  claims: z.array(claimReportSchema),
  statements: z.array(statementReportSchema),
  findings: z.array(findingSchema).describe('Findings up to a limit; `finding_counts` is exact.'),
  finding_counts: findingCountsSchema,
  format: formatSchema,
});

/** `vacuous_credit`: the rubric score that the negative criteria alone give an answer that meets no criterion. */
export type RefinerScore = z.infer<z.ZodObject<typeof scoreFields>>;
export type RefinerReply = z.infer<typeof refinerReplySchema>;

/** The reply without the ids that the answer cites and the words of the criteria. */
export function refinerReplyWithoutText(reply: RefinerReply): Readonly<Record<string, unknown>> {
  return {
    ...reply,
    criteria: reply.criteria.map(({ title: _title, description: _description, ...criterion }) => criterion),
    claims: reply.claims.map(({ ids, ...claim }) => ({
      ...claim,
      ids: ids.map(({ span, source }) => ({ span, source })),
    })),
  };
}

/** The reply with the offsets of its claims, statements and findings in another unit. */
export function refinerReplyWithOffsets(reply: RefinerReply, { response, inString }: ReplyOffsets): RefinerReply {
  return {
    ...reply,
    claims: reply.claims.map((claim) => ({
      ...claim,
      span: response.span(claim.span),
      ...(claim.unsupported === undefined ? {} : { unsupported: response.span(claim.unsupported) }),
      ids: claim.ids.map((id) => ({ ...id, span: response.span(id.span) })),
    })),
    statements: reply.statements.map((statement) => ({
      ...statement,
      pieces: statement.pieces.map((piece) => response.span(piece)),
    })),
    findings: reply.findings.map(inString),
  };
}
