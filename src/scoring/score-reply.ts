/** The reply of `POST /v1/score`: one shape a recipe family, told apart by `family`. */
import * as z from 'zod';
import {
  citedIdSchema,
  findingCountsSchema,
  findingReasonSchema,
  findingSchema,
  formatSchema,
  indexSchema,
  spanSchema,
} from '../citations/finding-schema.ts';
import { unscoredReasonSchema } from '../family/unscored-reason.ts';
import { judgmentKindSchema, samplingSchema, sha256Schema, tokenUsageSchema } from '../judgments/judgment-schema.ts';
import { JUDGE_FAILURE_REASONS, TEST_OUTCOMES } from '../judgments/types.ts';
import { receiptSchema } from './receipt-schema.ts';

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

const rewardFields = {
  reward: z.number().nullable().describe('null = could not be determined; 0 = the model earned zero.'),
  base: z.number().nullable().describe('Before scale and penalties.'),
  status: z.enum(['scored', 'unscored']),
  reason: unscoredReasonSchema.nullable().describe('Why the reward is null.'),
};

/** Which rule of the recipe decided; `null` where none could. */
const decidedBy = <const Rules extends readonly [string, ...string[]]>(rules: Rules) => z.enum(rules).nullable();

const refinerReplySchema = z.strictObject({
  family: z.literal('refiner'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'no_answer', 'non_stop_penalty']),
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
});

const longTraceReplySchema = z.strictObject({
  family: z.literal('long-trace'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'ill_formed']),
  components: z.strictObject({ outcome: componentSchema, rubric: componentSchema }),
  details: z.strictObject({
    rubric_share: shareSchema.describe("u before the group's maximum divides it."),
    group_max: shareSchema.describe('The largest u of the group; null for a rollout that was scored alone.'),
    final: z
      .boolean()
      .describe("false: the recipe divides by the group's maximum and no group was given, so the group decides."),
  }),
  observed: z.strictObject({
    well_formed: z.boolean(),
    entities: z
      .strictObject({ total: indexSchema, content: indexSchema, reasoning: indexSchema, both: indexSchema })
      .nullable()
      .describe('Gold entities, and how many of them stand in each text.'),
    chunks: shareSchema.describe('F-beta (beta 2) of the useful chunks.'),
  }),
});

const toolCallReplySchema = z.strictObject({
  family: z.literal('tool-call'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'no_runnable_block']),
  components: z.strictObject({
    outcome: componentSchema.describe('Mathematics: 1 or -1. Code: the share of tests passed, or -1.'),
    tool_calls: componentSchema.describe('What turns are worth on a wrong answer.'),
    overlong: componentSchema.describe('The overlong penalty, 0 or less.'),
  }),
  details: z.strictObject({ tests_passed: indexSchema.nullable(), tests_total: indexSchema.nullable() }),
  observed: z.strictObject({
    num_turns: indexSchema,
    response_tokens: indexSchema,
    math: z
      .strictObject({
        exact: z.boolean().describe('By the strict boxed rules.'),
        equivalent: z.boolean().nullable().describe('As expressions; null = not asked, or it could not be had.'),
      })
      .nullable(),
    code: z
      .strictObject({
        runnable: z.boolean().describe('There is a program at all.'),
        tests: z.array(z.enum(TEST_OUTCOMES)).nullable(),
      })
      .nullable(),
  }),
});

const drTuluScoreFields = {
  ...rewardFields,
  decided_by: decidedBy(['components', 'no_answer', 'non_stop_penalty']),
  components: z.strictObject({
    rubric: componentSchema,
    citation: componentSchema,
    format: componentSchema,
    search_turns: componentSchema,
  }),
  details: z.strictObject({
    compat: z.enum(['exact', 'corrected']),
    claim_f1: shareSchema,
    valid_id_ratio: shareSchema,
    queries: indexSchema.describe('Search queries in the transcript.'),
  }),
};

const drTuluReplySchema = z.strictObject({
  family: z.literal('dr-tulu'),
  ...drTuluScoreFields,
  criteria: z.array(
    z.strictObject({
      key: z.string(),
      title: z.string().exactOptional(),
      description: z.string(),
      weight: z.number().describe("The row's own, signed."),
      score: z.literal([0, 1, 2]).nullable().describe('0, 1 or 2 as judged; null = not judged.'),
    }),
  ),
  explain: z
    .strictObject({ exact: z.strictObject(drTuluScoreFields), corrected: z.strictObject(drTuluScoreFields) })
    .exactOptional()
    .describe('Both compat modes, where the request asked for it.'),
});

export const familyReplySchema = z.discriminatedUnion('family', [
  refinerReplySchema,
  longTraceReplySchema,
  toolCallReplySchema,
  drTuluReplySchema,
]);

/** What a family says of a rollout. */
export type FamilyReply = z.infer<typeof familyReplySchema>;
export type RefinerReply = z.infer<typeof refinerReplySchema>;
export type DrTuluReply = z.infer<typeof drTuluReplySchema>;

export const recipeReportSchema = z.strictObject({
  name: z.string().nullable().describe('null for an inline recipe.'),
  digest: sha256Schema,
  reward_range: z
    .tuple([z.number().nullable(), z.number().nullable()])
    .describe('Smallest and largest reward that the recipe can give; null = without bound.'),
});

const madeBy = {
  judgments: z.array(judgmentReportSchema),
  recipe: recipeReportSchema,
  receipt: receiptSchema.nullable().describe('null where the request did not ask for one.'),
};

export const scoreReplySchema = z.discriminatedUnion('family', [
  refinerReplySchema.extend(madeBy),
  longTraceReplySchema.extend(madeBy),
  toolCallReplySchema.extend(madeBy),
  drTuluReplySchema.extend(madeBy),
]);

/** The score of one rollout with its judgments, recipe and receipt. */
export type ScoreReply = z.infer<typeof scoreReplySchema>;
export type JudgmentReport = z.infer<typeof judgmentReportSchema>;
