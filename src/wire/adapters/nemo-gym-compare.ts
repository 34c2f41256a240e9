/**
 * `POST /compare` of NeMo Gym's resources server `genrm_compare`: the answers to one prompt in, a reward for each out.
 * Source: NVIDIA-NeMo/Gym, `resources_servers/genrm_compare/app.py`, `GenRMCompareRequest` and `GenRMCompareResponse`;
 * `utils.py`, `aggregate_scores`. Rewards and scores are on the scale of that server, from 1 to 5.
 */
import * as z from 'zod';
import { sourcesFromList } from '../../citations/sources.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { Preference } from '../../judgments/kinds/comparison/comparison.ts';
import { MAX_COMPARED, MAX_CRITERION_CHARS } from '../../limits.ts';
import type { Result } from '../../result.ts';
import type { Compared, Comparing } from '../../scoring/compare.ts';
import { defaultOpponents, tournament } from '../../scoring/tournament.ts';
import { endOf } from '../../trajectory/final-turns.ts';
import { readConversation } from '../../trajectory/rollout-messages.ts';
import { judgedText, positionBias } from '../compare.ts';
import type { TrainerReply } from './reply.ts';
import { adapterQueryFields, chatMessageSchema, textOfMessage } from './request.ts';

export const genRmQuerySchema = adapterQueryFields.pick({ judge: true, deadline_s: true });

export const genRmRequestSchema = z.looseObject({
  conversation_history: z.array(chatMessageSchema).min(1).describe('The prompt: at least one message.'),
  response_objs: z
    .array(z.looseObject({ output: z.array(z.record(z.string(), z.unknown())) }))
    .min(2)
    .max(MAX_COMPARED)
    .describe("Objects of OpenAI's Responses API. The judge sees the final answer of each."),
  principle: z.string().max(MAX_CRITERION_CHARS).nullish().describe('What makes an answer better.'),
});

export type GenRmRequest = z.infer<typeof genRmRequestSchema>;

const scoreSchema = z.number().min(1).max(5);

export const genRmReplySchema = z.strictObject({
  rewards: z.array(scoreSchema).describe('1 + 4 x win rate, in the order of the responses.'),
  comparison_results: z.array(
    z.strictObject({
      response_i: z.int().min(0),
      response_j: z.int().min(0),
      judge_idx: z.literal(0),
      score_1: scoreSchema.describe('5 = response_i is better, 3 = tie, 1 = response_j is better.'),
      score_2: scoreSchema,
      ranking: z.literal([2, 3.5, 5]).describe('2 = response_i is better, 3.5 = tie, 5 = response_j is better.'),
    }),
  ),
  metrics: z.record(z.string(), z.number()),
});

/** What a request asks to compare, or the items that cannot be read. */
export function genRmComparison({
  conversation_history,
  response_objs,
  principle,
}: GenRmRequest): Result<Comparing, readonly InputProblem[]> {
  const problems: InputProblem[] = [];
  const answers = response_objs.map(({ output }, n) => {
    if (output.length === 0) return '';
    const read = readConversation({ messages: output });
    if (read.ok) return judgedText(endOf(read.value).answer.text);
    for (const { path, message } of read.error) {
      problems.push({ path: ['response_objs', n, 'output', ...path.slice(1)], message });
    }
    return '';
  });
  if (problems.length > 0) return { ok: false, error: problems };
  const size = answers.length;
  const pairs = tournament(size, defaultOpponents(size), 0);
  if (pairs === null) throw new Error('genRmComparison: the default schedule does not exist');
  const criteria =
    principle === undefined || principle === null || principle === '' ? [] : [{ description: principle }];
  return {
    ok: true,
    value: { question: questionOf(conversation_history), criteria, sources: sourcesFromList([]), answers, pairs },
  };
}

/** A single user message is the question. A longer history is a transcript, each message after its role. */
function questionOf(history: GenRmRequest['conversation_history']): string {
  const [only] = history;
  if (history.length === 1 && only?.role === 'user') return textOfMessage(only);
  return history.map((message) => `${message.role ?? 'user'}: ${textOfMessage(message)}`).join('\n\n');
}

const SCORES = {
  first: { score_1: 5, score_2: 1, ranking: 2 },
  tie: { score_1: 3, score_2: 3, ranking: 3.5 },
  second: { score_1: 1, score_2: 5, ranking: 5 },
} as const satisfies Record<Preference, object>;

/**
 * The reply in Gym's shape. A reward is the mean of the answer's scores, as Gym computes it.
 * @throws Error if a reward is missing: that is a failure, which has no reply.
 */
export function genRmReply({ pairs, answers }: Compared): TrainerReply {
  const rewards = answers.map(({ win_rate }) => {
    if (win_rate === null) throw new Error('genRmReply: an answer without a win rate');
    return 1 + 4 * win_rate;
  });
  const results = pairs.flatMap(({ pair: [response_i, response_j], result }) =>
    result === null ? [] : [{ response_i, response_j, judge_idx: 0, ...SCORES[result] }],
  );
  const scores = results.flatMap(({ score_1, score_2 }) => [score_1, score_2]);
  const mean = scores.reduce<number>((sum, score) => sum + score, 0) / scores.length;
  const variance = scores.reduce<number>((sum, score) => sum + (score - mean) ** 2, 0) / scores.length;
  const ties = results.filter(({ score_1, score_2 }) => score_1 === score_2).length;
  const { compared, disagreed } = positionBias(pairs);
  const metrics = {
    mean_individual_score: mean,
    std_individual_score: Math.sqrt(variance),
    tiebreak_usage_rate: ties / results.length,
    position_disagreement_rate: compared === 0 ? 0 : disagreed / compared,
  };
  return { floats: { rewards }, others: { comparison_results: results, metrics } };
}
