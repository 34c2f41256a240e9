/** `POST /v1/score`: one rollout in, its reward with all parts out. */
import * as z from 'zod';
import { JUDGE_FAILURE_REASONS } from '../judgments/types.ts';
import { MAX_JUDGES_IN_TURN, MAX_NAME_CHARS, MAX_REPLICATE } from '../limits.ts';
import type { Rollout } from '../rewards/rollout.ts';
import {
  citedIdSchema,
  findingCountsSchema,
  findingReasonSchema,
  findingSchema,
  formatSchema,
  indexSchema,
  spanSchema,
} from './findings.ts';
import { judgmentKindSchema, samplingSchema, sha256Schema, tokenUsageSchema } from './judgment.ts';
import {
  criterionInputs,
  EXACTLY_ONE_ORIGIN,
  finishReasonSchema,
  hasOneOrigin,
  oneOriginRule,
  originFields,
  questionSchema,
  responseSchema,
  rolloutSources,
  rubricsSchema,
  textSchema,
} from './rollout.ts';

/** A recipe by name or inline. What it holds is checked by `resolveRecipe`, which knows the families. */
export const recipeInputSchema = z.union([z.string().max(MAX_NAME_CHARS), z.record(z.string(), z.unknown())]);

const judgeNameSchema = z.string().min(1).max(MAX_NAME_CHARS);

export const scoreRequestSchema = z
  .strictObject({
    question: questionSchema,
    response: responseSchema,
    ...originFields,
    reasoning: textSchema.exactOptional().describe("The agent's reasoning. Not judged; recorded by runs."),
    positive_rubrics: rubricsSchema.exactOptional(),
    negative_rubrics: rubricsSchema.exactOptional(),
    finish_reason: finishReasonSchema.exactOptional(),
    recipe: recipeInputSchema,
    judge: z
      .union([judgeNameSchema, z.array(judgeNameSchema).min(1).max(MAX_JUDGES_IN_TURN)])
      .exactOptional()
      .describe(
        'Name of a configured judge. A list is tried in turn: the next one judges the whole rollout anew where the one ' +
          'before failed. Judgments name the model that made them.',
      ),
    judgments: z
      .enum(['use', 'only', 'skip'])
      .default('use')
      .describe('use: stored or judged now. only: stored, else 409. skip: nothing is judged, reward null.'),
    replicate: z.int().min(0).max(MAX_REPLICATE).default(0).describe('Another independent judgment of the same thing.'),
    on_judge_failure: z
      .enum(['error', 'null'])
      .default('error')
      .describe('What a needed judgment that could not be had becomes: a 503, or 200 with reward null.'),
  })
  .refine(hasOneOrigin, oneOriginRule)
  .meta(EXACTLY_ONE_ORIGIN);

export type ScoreRequest = z.infer<typeof scoreRequestSchema>;

/** The rollout of a request, as the library takes it. */
export function rolloutOf(request: ScoreRequest): Rollout {
  const { question, response, finish_reason } = request;
  return {
    ...rolloutSources(request),
    question,
    response,
    positive_rubrics: criterionInputs(request.positive_rubrics),
    negative_rubrics: criterionInputs(request.negative_rubrics),
    ...(finish_reason === undefined ? {} : { finish_reason }),
  };
}

const unscoredReasonSchema = z.enum([...JUDGE_FAILURE_REASONS, 'not_measured', 'nothing_to_score']);
const weightSchema = z.number().min(0);

export const componentSchema = z
  .discriminatedUnion('status', [
    z.strictObject({ status: z.literal('scored'), value: z.number(), weight: weightSchema, contribution: z.number() }),
    z.strictObject({
      status: z.literal('not_applicable'),
      value: z.null(),
      weight: weightSchema,
      contribution: z.number(),
    }),
    z.strictObject({
      status: z.literal('unscored'),
      value: z.null(),
      weight: weightSchema,
      contribution: z.null(),
      reason: unscoredReasonSchema,
    }),
  ])
  .describe('Contributions are in reward units and add up to the reward where components decided it.');

const shareSchema = z.number().min(0).max(1).nullable();

const criterionReportSchema = z.strictObject({
  key: z.string(),
  title: z.string().exactOptional(),
  description: z.string(),
  origin: z.enum(['instance', 'static']),
  polarity: z.enum(['positive', 'negative']),
  weight: weightSchema.describe("The row's own weight, before the recipe's."),
  score: z.literal([0, 1, 2]).nullable().describe('0, 1 or 2 as judged; null = not judged.'),
});

const claimReportSchema = z.strictObject({
  index: indexSchema,
  span: spanSchema,
  ids: z.array(citedIdSchema),
  duplicate_of: indexSchema.nullable().describe('An earlier equal claim: this one counts in no metric.'),
  support: z.literal([0, 0.5, 1]).nullable().describe('null = not judged, or a duplicate.'),
  relevant: z.array(z.boolean().nullable()).describe('One entry an id.'),
  quote: z.enum(['verified', 'unverified']).exactOptional(),
  findings: z.array(findingReasonSchema),
});

const statementReportSchema = z.strictObject({
  index: indexSchema,
  pieces: z.array(spanSchema),
  needs_citation: z.boolean().nullable(),
});

const failureSchema = z.strictObject({
  reason: z.enum(JUDGE_FAILURE_REASONS),
  detail: z.string(),
  retryable: z.boolean(),
});

const judgmentReportSchema = z.strictObject({
  kind: judgmentKindSchema,
  key: sha256Schema.nullable().describe('null where no judge is configured, or the request is too long for it.'),
  cached: z.boolean(),
  stored: z.boolean().describe('Whether it can be replayed from the store.'),
  model: z.string().nullable(),
  template: z.string().nullable(),
  sampling: samplingSchema,
  issuer: sha256Schema
    .nullable()
    .describe('Key id of who signed the judgment, checked; null = unsigned, or by a key that is not known here.'),
  cuts: z
    .array(z.strictObject({ source: indexSchema, kept_chars: indexSchema, chars: indexSchema }))
    .describe('Sources of which the judge saw the beginning only, as its context is limited. Part of the key.'),
  usage: tokenUsageSchema.nullable().describe('Of the original call, also when cached.'),
  judged_at: z.string().nullable(),
  latency_ms: z.number().min(0).nullable().describe('Of this request.'),
  failure: failureSchema.nullable().describe('Why the judgment could not be had.'),
  store_problem: failureSchema.nullable().describe('What went wrong with the store although it was had.'),
});

export const scoreResponseSchema = z.strictObject({
  reward: z.number().nullable().describe('null = could not be determined; 0 = the model earned zero.'),
  status: z.enum(['scored', 'unscored']),
  reason: unscoredReasonSchema.nullable().describe('Why the reward is null.'),
  decided_by: z.enum(['components', 'no_answer', 'non_stop_penalty']).nullable(),
  base: z.number().nullable().describe('Before scale and penalties.'),
  components: z.strictObject({ rubric: componentSchema, citation: componentSchema, format: componentSchema }),
  details: z.strictObject({
    citation_recall: shareSchema,
    citation_precision: shareSchema,
    rubric_positive: shareSchema,
    rubric_negative: shareSchema,
    vacuous_credit: shareSchema,
  }),
  criteria: z.array(criterionReportSchema),
  claims: z.array(claimReportSchema),
  statements: z.array(statementReportSchema),
  findings: z.array(findingSchema).describe('Listed one by one up to a limit; the counts are exact.'),
  finding_counts: findingCountsSchema,
  format: formatSchema,
  judgments: z.array(judgmentReportSchema),
  recipe: z.strictObject({
    name: z.string().nullable().describe('null for an inline recipe.'),
    family: z.literal('refiner'),
    digest: sha256Schema,
    reward_range: z.tuple([z.number(), z.number()]),
  }),
});

export type ScoreResponse = z.infer<typeof scoreResponseSchema>;
