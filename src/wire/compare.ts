/** `POST /v1/compare`: a judge compares the answers to one question in pairs, and win rates become rewards. */
import * as z from 'zod';
import { readBlocks } from '../citations/blocks.ts';
import type { SourceReader } from '../citations/recent-sources.ts';
import {
  checkMessages,
  criterionInputSchema,
  hasNotBothOrigins,
  hasOneOutput,
  NOT_BOTH_ORIGINS,
  ONE_OUTPUT,
  oneOriginRule,
  oneOutputRule,
  originFields,
  questionSchema,
  responseFields,
  responseSchema,
  sampleOf,
} from '../family/rollout-schema.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/protocol/failure.ts';
import { MAX_COMPARED, MAX_CRITERIA } from '../limits.ts';
import { advantages } from '../scoring/advantages.ts';
import type { Compared, ComparedPair, Comparing } from '../scoring/compare.ts';
import { judgesOf, judgesSchema } from '../scoring/reward-reply.ts';
import { failureSchema, reportFailure } from '../scoring/score-reply.ts';
import { defaultOpponents, ROUND_ROBIN_MAX, tournament } from '../scoring/tournament.ts';
import { advantageOptionsSchema, advantageProblems, degenerateSchema, maskedSchema } from './groups.ts';
import { deadlineSchema, onJudgeFailureSchema, scoringFields } from './score.ts';

const comparedCriterionSchema = criterionInputSchema.omit({ weight: true });

const scheduleSchema = z
  .strictObject({
    opponents: z
      .int()
      .min(1)
      .max(MAX_COMPARED - 1)
      .exactOptional()
      .describe(
        `How many others each answer meets. Default: all up to ${ROUND_ROBIN_MAX} responses, 4 above. An odd number ` +
          'needs an even number of responses, unless it is all others.',
      ),
    seed: z.int().min(0).default(0).describe('Selects who meets whom, if not all meet.'),
  })
  .default({ seed: 0 })
  .describe('Who meets whom: a function of the seed and the number of responses alone.');

const { response, messages, trajectory, cited_answer, answer_format } = responseFields;

const comparedResponseSchema = z.union([
  responseSchema,
  z
    .strictObject({ response, messages, trajectory, cited_answer, answer_format })
    .refine(hasOneOutput, oneOutputRule)
    .check(checkMessages)
    .meta(ONE_OUTPUT),
]);

export const compareRequestSchema = z
  .strictObject({
    question: questionSchema,
    ...originFields,
    criteria: z
      .array(z.union([criterionInputSchema.shape.description, comparedCriterionSchema]))
      .max(MAX_CRITERIA)
      .default([])
      .describe('What makes an answer better. Default: correct, supported by the sources, complete, to the point.'),
    responses: z
      .array(comparedResponseSchema)
      .min(2)
      .max(MAX_COMPARED)
      .describe('The answers: texts, or messages. The judge sees the text after the last thinking.'),
    judge: scoringFields.judge,
    judgments: scoringFields.judgments,
    replicate: scoringFields.replicate,
    schedule: scheduleSchema,
    on_judge_failure: onJudgeFailureSchema.default('null'),
    deadline_s: deadlineSchema.exactOptional(),
    advantages: advantageOptionsSchema.default('mean'),
  })
  .refine(hasNotBothOrigins, oneOriginRule)
  .superRefine(({ responses, schedule, advantages: options }, context) => {
    if (pairsOf(responses.length, schedule) === null) {
      const message = `expected an even number: ${responses.length} responses cannot meet ${schedule.opponents} others each`;
      context.addIssue({ code: 'custom', path: ['schedule', 'opponents'], message });
    }
    for (const { path, message } of advantageProblems(options))
      context.addIssue({ code: 'custom', path: [...path], message });
  })
  .meta(NOT_BOTH_ORIGINS);

export type CompareRequest = z.infer<typeof compareRequestSchema>;

function pairsOf(size: number, { opponents, seed }: CompareRequest['schedule']): Comparing['pairs'] | null {
  return tournament(size, opponents ?? defaultOpponents(size), seed);
}

/** What a request asks to compare. @throws Error if the request was not validated. */
export function requestedComparison(request: CompareRequest, readSources: SourceReader): Comparing {
  const { question, tool_output, sources = [], criteria, responses, schedule } = request;
  const origin = tool_output === undefined ? { sources } : { tool_output };
  const pairs = pairsOf(responses.length, schedule);
  if (pairs === null) throw new Error('requestedComparison: the schedule was not validated');
  return {
    question,
    criteria: criteria.map((one) => (typeof one === 'string' ? { description: one } : one)),
    sources: readSources(origin),
    answers: responses.map((sample) =>
      judgedText(typeof sample === 'string' ? sample : sampleOf(origin, sample).response),
    ),
    pairs,
  };
}

/** What a judge sees of a response: the text after the last thinking. Thinking without an end leaves nothing. */
export function judgedText(output: string): string {
  const judged = readBlocks(output, null, 'whole').judged?.content;
  return judged === undefined ? '' : output.slice(judged.start, judged.end).trim();
}

const count = z.int().min(0);
const position = count.max(MAX_COMPARED - 1);
const betterSchema = z.enum(['first', 'second', 'tie']);

const orderSchema = z.strictObject({
  better: betterSchema.nullable().describe('By place in the pair, not by the order of showing; null = missing.'),
  key: sha256Schema
    .nullable()
    .describe('Key of the judgment; null = no judge is configured, or it is too long for it.'),
  failure: failureSchema.nullable(),
});

const comparedPairSchema = z.strictObject({
  responses: z.tuple([position, position]).describe('Positions of the two responses: the first and the second.'),
  better: betterSchema
    .nullable()
    .describe('tie: also if the two orders disagree. null = a judgment is missing and would decide.'),
  orders: z
    .tuple([orderSchema, orderSchema])
    .describe('The judgments: as listed, then with the second response first.'),
});

const memberSchema = z.strictObject({
  reward: z.number().min(0).max(1).nullable().describe('Wins and half of the ties, as a share of all comparisons.'),
  wins: count,
  ties: count,
  losses: count,
  reason: z.enum(JUDGE_FAILURE_REASONS).nullable().describe('Why the reward is null.'),
  missing: z.array(position).describe('The responses with which the comparison has no result.'),
});

export const compareResponseSchema = z.strictObject({
  rewards: z.array(z.number().nullable()).describe('The win rates, in the order of the responses; null = unscored.'),
  reward_range: z.tuple([z.literal(0), z.literal(1)]),
  advantages: z.array(z.strictObject({ advantage: z.number(), masked: maskedSchema })),
  mean: z.number().nullable().describe('Mean of the scored rewards.'),
  std: z.number().nullable(),
  valid: count.describe('Number of scored responses.'),
  degenerate: degenerateSchema,
  members: z.array(memberSchema),
  pairs: z.array(comparedPairSchema),
  position_bias: z
    .strictObject({
      compared: count.describe('Pairs that were judged in both orders.'),
      disagreed: count.describe('Pairs on which the orders disagree: they count as ties.'),
      first: count.describe('Pairs of which the answer shown first was preferred both times.'),
      second: count.describe('Pairs of which the answer shown second was preferred both times.'),
    })
    .describe('How often the order of showing decided. Identical answers show it most clearly.'),
  judges: judgesSchema,
});

/** The reply of `POST /v1/compare`: a win rate and an advantage for each answer, and the result of each pair. */
export type CompareResponse = z.infer<typeof compareResponseSchema>;

/** The reply of a comparison. The request's advantage rule has been checked. */
export function compareReplyOf(
  { advantages: options }: Pick<CompareRequest, 'advantages'>,
  { pairs, answers }: Compared,
): CompareResponse {
  const rewards = answers.map(({ win_rate }) => win_rate);
  const result = advantages(rewards, options);
  if (!result.ok) throw new Error('compareReplyOf: the advantage rule was not validated');
  const { mean, std, valid, degenerate } = result.value;
  return {
    rewards,
    reward_range: [0, 1],
    advantages: result.value.advantages.map(({ advantage, masked }) => ({ advantage, masked })),
    mean,
    std,
    valid,
    degenerate,
    members: answers.map(({ win_rate, wins, ties, losses, open, failure }) => ({
      ...{ reward: win_rate, wins, ties, losses },
      ...{ reason: failure?.reason ?? null, missing: [...open] },
    })),
    pairs: pairs.map(({ pair: [first, second], result: better, orders: [listed, swapped] }) => ({
      ...{ responses: [first, second], better },
      orders: [orderReport(listed), orderReport(swapped)],
    })),
    position_bias: positionBias(pairs),
    judges: judgesOf(pairs.flatMap(({ orders }) => orders.map(({ obtained }) => ({ obtained: [obtained] })))),
  };
}

function orderReport({ better, obtained: { key, outcome } }: ComparedPair['orders'][number]) {
  return { better, key, failure: outcome.ok ? null : reportFailure(outcome.failure) };
}

/** Counts the pairs in which the order of showing decided. */
export function positionBias(pairs: readonly ComparedPair[]): CompareResponse['position_bias'] {
  const both = pairs.flatMap(({ orders: [{ better: listed }, { better: swapped }] }) =>
    listed === null || swapped === null ? [] : [{ listed, swapped }],
  );
  const number = (isCounted: (orders: (typeof both)[number]) => boolean): number => both.filter(isCounted).length;
  return {
    compared: both.length,
    disagreed: number(({ listed, swapped }) => listed !== swapped),
    first: number(({ listed, swapped }) => listed === 'first' && swapped === 'second'),
    second: number(({ listed, swapped }) => listed === 'second' && swapped === 'first'),
  };
}
