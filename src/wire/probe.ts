/** `POST /v1/recipes/probe`: what a recipe pays for canned answers, before a policy is trained on it. */
import * as z from 'zod';
import type { ResolvedRecipe } from '../families/resolve.ts';
import { factsSchema } from '../families/schemas.ts';
import {
  hasNotBothOrigins,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  rolloutOf,
  sampleOf,
  sharedFields,
} from '../family/rollout-schema.ts';
import { MAX_GROUP, MAX_PROBE_ROWS, MAX_PROBE_SAMPLES, MAX_SAMPLE_SEED } from '../limits.ts';
import { CANNED_ANSWERS, NOT_GIVEN_REASONS } from '../probe/canned-answers.ts';
import { KNOWN_ORIGINS } from '../probe/plan-probe.ts';
import { PROBE_WARNINGS, type ProbeReport, probeReport, WARNED_SHARE } from '../probe/probe-report.ts';
import type { PolicySample, ProbeRow } from '../probe/probe-row.ts';
import type { ProbedRow, ProbeResult } from '../probe/probe-rows.ts';
import { judgesOf, judgesSchema } from '../scoring/reward-reply.ts';
import { recipeReportSchema } from '../scoring/score-reply.ts';
import { sampleSchema } from './groups.ts';
import {
  hasOneWayOfJudging,
  hasOwnReplicates,
  oneWayOfJudging,
  onJudgeFailureSchema,
  ownReplicates,
  scoringFields,
} from './score.ts';

const probeRowIdSchema = z.union([z.string().max(256), z.number()]).describe('Shown in the reply.');

const samplesSchema = z
  .array(sampleSchema)
  .min(1)
  .max(MAX_GROUP)
  .describe(
    'Samples of the policy before training, one group. The best one may be the best known answer of the row, and the ' +
      'report says what their advantages would follow; outcome, if given, is compared too.',
  );

export const probeRowSchema = z
  .strictObject({ id: probeRowIdSchema.exactOptional(), ...sharedFields, responses: samplesSchema.exactOptional() })
  .refine(hasNotBothOrigins, oneOriginRule)
  .meta(NOT_BOTH_ORIGINS);

/** A row as a request has it. */
export type ProbeRowInput = z.infer<typeof probeRowSchema>;

/** How the rows of a request are judged. */
export const probeOptionFields = {
  recipe: scoringFields.recipe,
  judge: scoringFields.judge,
  judges: scoringFields.judges,
  judgments: scoringFields.judgments,
  replicate: scoringFields.replicate,
  on_judge_failure: onJudgeFailureSchema.default('null'),
  seed: z.int().min(0).max(MAX_SAMPLE_SEED).default(0).describe('Draws the random sentences.'),
};

export const probeRequestSchema = z
  .strictObject({
    rows: z
      .array(probeRowSchema)
      .min(1)
      .max(MAX_PROBE_ROWS)
      .describe(
        'Rows of the training data: the fields that the recipe reads. A reference is the best known answer: a whole ' +
          'response, or a text, which is written and cited as the recipe expects.',
      )
      .refine((rows) => samplesOf(rows) <= MAX_PROBE_SAMPLES, {
        error: `expected at most ${MAX_PROBE_SAMPLES} responses in all rows together`,
      }),
    ...probeOptionFields,
    detail: z
      .enum(['report', 'rows'])
      .default('report')
      .describe('rows: also the facts of every answer, which hold no text, to report on several requests together.'),
  })
  .refine(hasOneWayOfJudging, oneWayOfJudging)
  .refine(hasOwnReplicates, ownReplicates);

export type ProbeRequestBody = z.infer<typeof probeRequestSchema>;

function samplesOf(rows: readonly ProbeRowInput[]): number {
  return rows.reduce((sum, { responses = [] }) => sum + responses.length, 0);
}

/** A row of a request. */
export function requestedProbeRow({ id, responses, ...shared }: ProbeRowInput): ProbeRow {
  const { response: _response, ...prompt } = rolloutOf({ ...shared, response: '' });
  return {
    id: id ?? null,
    prompt,
    samples: (responses ?? []).map((sample): PolicySample => {
      if (typeof sample === 'string') return { rollout: { ...prompt, response: sample }, outcome: null };
      const { outcome = null, metrics: _metrics, ...fields } = sample;
      return { rollout: sampleOf(prompt, fields), outcome };
    }),
  };
}

const count = z.int().min(0);
const reward = z.number().nullable();
const cannedAnswerSchema = z.enum(CANNED_ANSWERS);

const triedChangeSchema = z.strictObject({
  set: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe('The changed fields of the recipe.'),
  best_known: reward.describe('Mean reward of the best known answers under the change.'),
  share: reward.describe('The share of the answer; of the changes together, the largest share of an answer.'),
  warns: z.array(cannedAnswerSchema).describe('The answers that would still be warned of.'),
});

const answerReportSchema = z.strictObject({
  name: cannedAnswerSchema,
  does: z.string().describe('What the answer does, as a verb with its objects.'),
  rows: count.describe('Rows in which the answer and the best known one have a reward. Means are over these.'),
  reward: reward.describe('Mean reward; null = no such row.'),
  best_known: reward.describe('Mean reward of the best known answers of the same rows.'),
  share: reward.describe('reward / best_known; null = the best known answers earn nothing.'),
  unscored: count.describe('Rows in which the answer was given and has no reward, because a judgment failed.'),
  not_given: z
    .partialRecord(z.enum(NOT_GIVEN_REASONS), count)
    .describe('Rows in which the answer could not be given, by reason.'),
  warns: z
    .boolean()
    .describe(`Whether the share is above ${WARNED_SHARE}. Never for pasted rubrics: a policy does not see them.`),
  lowered_by: z.array(triedChangeSchema).describe('If it warns: the single changes that lower the share most.'),
});

const correlationSchema = z.strictObject({
  correlation: z.number().min(-1).max(1).nullable().describe('null = fewer than 16 groups in which both vary.'),
  groups: count.describe('Groups in which both vary.'),
});

const sampleReportSchema = z
  .strictObject({
    groups: count,
    samples: count,
    unscored: count,
    with_signal: count.describe('Groups whose reward varies.'),
    follows: z
      .strictObject({
        words: correlationSchema.describe('Words of the answer.'),
        copied: correlationSchema.describe('Share of the words in spans of 8 or more that a source contains.'),
        citations: correlationSchema.describe('Ids that the claims cite.'),
        criteria_met: correlationSchema.describe("The row's own positive criteria that are met."),
        outcome: correlationSchema.describe('The outcome that the caller gives.'),
      })
      .describe('Rank correlation of the reward inside groups: what advantages would pay for.'),
  })
  .describe('null = no row has two responses.');

const probeReportSchema = z.strictObject({
  rows: count,
  rows_without_own_criteria: count.describe('Rows without a positive criterion of their own.'),
  best_known: z
    .strictObject({
      reward,
      rows: count.describe('Rows in which it has a reward.'),
      criteria_met: reward.describe("Mean share of the rows' own positive criteria that it meets."),
      from: z.strictObject({ reference: count, sample: count, constructed: count }).describe('Rows by its origin.'),
    })
    .describe(
      'The answer that others are compared with: the reference of the row, else the best response, else the sentences of ' +
        'its sources that say most of its criteria, cited.',
    ),
  answers: z.array(answerReportSchema),
  together: triedChangeSchema.nullable().describe('Changes that together leave least to warn of.'),
  samples: sampleReportSchema.nullable(),
  warnings: z.array(
    z.strictObject({
      kind: z.enum(PROBE_WARNINGS),
      answer: cannedAnswerSchema.exactOptional().describe('Only with cheap_answer_paid.'),
      text: z.string(),
    }),
  ),
}) satisfies z.ZodType<ProbeReport>;

const probedRowSchema = z.strictObject({
  id: probeRowIdSchema.nullable(),
  own_criteria: count,
  best_known: z.strictObject({ from: z.enum(KNOWN_ORIGINS), facts: factsSchema }).nullable(),
  answers: z.array(
    z.union([
      z.strictObject({ name: cannedAnswerSchema, facts: factsSchema }),
      z.strictObject({ name: cannedAnswerSchema, not_given: z.enum(NOT_GIVEN_REASONS) }),
    ]),
  ),
  samples: z.array(
    z.strictObject({
      facts: factsSchema,
      outcome: z.number().nullable(),
      words: count.nullable(),
      copied: count.nullable(),
    }),
  ),
}) satisfies z.ZodType<ProbedRow>;

export const probeReplySchema = z.strictObject({
  recipe: recipeReportSchema,
  ...probeReportSchema.shape,
  judges: judgesSchema,
  measured: z.array(probedRowSchema).exactOptional().describe('With detail rows: the facts of every answer, by row.'),
}) satisfies z.ZodType<ProbeReply>;

/** The reply of `POST /v1/recipes/probe`. */
export type ProbeReply = ProbeReport & {
  readonly recipe: z.infer<typeof recipeReportSchema>;
  readonly judges: z.infer<typeof judgesSchema>;
  readonly measured?: readonly ProbedRow[];
};

/** The reply on measured rows. */
export function probeReplyOf(
  { detail }: Pick<ProbeRequestBody, 'detail'>,
  { name, digest, reward_range, recipe }: ResolvedRecipe,
  { rows, obtained }: Pick<Extract<ProbeResult, { status: 'done' }>, 'rows' | 'obtained'>,
): ProbeReply {
  return {
    recipe: { name, digest, reward_range: [...reward_range] },
    ...probeReport(rows, recipe),
    judges: judgesOf([{ obtained }]),
    ...(detail === 'rows' ? { measured: rows } : {}),
  };
}
