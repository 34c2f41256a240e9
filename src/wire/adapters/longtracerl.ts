/**
 * LongTraceRL's reward server, `POST /evaluate`. Sources: `launch_server.py` of THU-KEG/LongTraceRL 415b6433; its
 * client is `slime/slime/rollout/rm_hub/__init__.py`. Missing arguments give 500 there and 422 here.
 */
import * as z from 'zod';
import { longTrace } from '../../families/long-trace/family.ts';
import { readEvaluateRequest } from '../../families/long-trace/messages.ts';
import type { LongTraceRecipe } from '../../families/long-trace/recipe.ts';
import { neededParts } from '../../families/long-trace/reward.ts';
import type { Rollout, TraceMessage } from '../../family/rollout.ts';
import { questionSchema, responseSchema, textSchema } from '../../family/rollout-schema.ts';
import { MAX_ENTITIES, MAX_ENTITY_CHARS, MAX_USEFUL_CHUNKS } from '../../limits.ts';
import { outcomeFields } from '../../runs/rollout-counts.ts';
import { readConversation } from '../../trajectory/rollout-messages.ts';
import { type History, historySchema, promptOf } from './history.ts';
import { runReportSchema, type TrainedScore } from './reply.ts';

/** Name of the data set whose rubrics are chunk ids instead of entities. */
const CHUNK_DATA = 'longrlvr';

const extraRewardInfoSchema = z
  .object({
    question: questionSchema,
    dataset_name: z.string(),
    rubrics: z
      .array(z.union([z.string().max(MAX_ENTITY_CHARS), z.int().min(0)]))
      .max(MAX_USEFUL_CHUNKS)
      .default([])
      .describe('Gold entities, or chunk ids if the data set is longrlvr. Without any, the rubric reward is 0.'),
    rubric_reward_ratio: z.number().min(0).max(1).describe('The weight eta of the rubric; 0 in evaluation.'),
    rubric_use_reasoning_content: z.boolean().exactOptional(),
    rubric_use_content: z.boolean().exactOptional(),
  })
  .superRefine((info, context) => {
    if (!neededParts(info.rubric_reward_ratio).rubric) return;
    const required = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    for (const name of ['rubric_use_reasoning_content', 'rubric_use_content'] as const) {
      if (info[name] === undefined) required(name, 'required: a boolean, as rubric_reward_ratio is above 0');
    }
    const chunks = info.dataset_name === CHUNK_DATA;
    if (!chunks && info.rubrics.length > MAX_ENTITIES) required('rubrics', `expected at most ${MAX_ENTITIES} entries`);
    for (const [n, rubric] of info.rubrics.entries()) {
      if ((typeof rubric === 'number') === chunks) continue;
      const message = chunks ? 'expected a chunk id, as the data set is longrlvr' : 'expected an entity, a string';
      context.addIssue({ code: 'custom', path: ['rubrics', n], message });
    }
  });

export const longTraceRlRequestSchema = z
  .object({
    label: textSchema.min(1).describe('The correct final answer.'),
    extra_reward_info: extraRewardInfoSchema,
    history: historySchema.exactOptional().describe('Takes precedence over response.'),
    response: responseSchema.exactOptional(),
    ...outcomeFields,
  })
  .refine(({ history, response }) => history !== undefined || response !== undefined, {
    path: ['history'],
    error: 'give history or response',
  });

type LongTraceRlRequest = z.infer<typeof longTraceRlRequestSchema>;

export const longTraceRlReplySchema = z.strictObject({
  outcome_reward: z.number(),
  rubric_reward: z.number(),
  reward: z
    .number()
    .describe("The reward of this sample alone; the trainer's group step combines the other two rewards again."),
  run: runReportSchema.exactOptional(),
});

export type LongTraceRlRewards = Omit<z.infer<typeof longTraceRlReplySchema>, 'run'>;

type LongTraceRlReading =
  | { readonly status: 'ready'; readonly rollout: Rollout; readonly recipe: LongTraceRecipe }
  /** The last message is not an assistant's or has no content: every reward is 0, without judging. */
  | { readonly status: 'no_final_turn' };

/** Reads the rollout and the recipe; the request determines both. */
export function readLongTraceRl(request: LongTraceRlRequest): LongTraceRlReading {
  const { label, extra_reward_info: info, history, response } = request;
  const reading = readEvaluateRequest({
    label,
    extra_reward_info: info,
    ...(history === undefined ? {} : { history: traceMessages(history) }),
    ...(response === undefined ? {} : { response }),
  });
  switch (reading.status) {
    case 'no_final_turn':
      return reading;
    case 'error':
      throw new Error(`readLongTraceRl: ${reading.reason} after validation`);
    case 'ready': {
      const { rubric } = neededParts(info.rubric_reward_ratio);
      return {
        status: 'ready',
        rollout: {
          question: info.question,
          reference: label,
          response: reading.response,
          // If both switches are off, no text is searched.
          history: info.rubric_use_content || info.rubric_use_reasoning_content ? reading.history : [],
          // The trainer sends completed samples only.
          finish_reason: 'stop',
          ...goldOf(info, rubric),
        },
        recipe: recipeOf(info),
      };
    }
  }
}

/** @throws Error if the history was not validated. */
function traceMessages(history: History): TraceMessage[] {
  const read = readConversation({ messages: history });
  if (!read.ok) throw new Error('traceMessages: a history that cannot be read, after validation');
  return read.value.turns.map(({ role, by_policy, message, text, thinking }): TraceMessage => {
    if (!by_policy) return { role: role === 'assistant' ? 'other' : role };
    // The reference searches a text as it is written, with the calls in it.
    const written = history[message]?.['content'];
    const content = typeof written === 'string' ? written : text?.text;
    return {
      role,
      ...(content === undefined ? {} : { content }),
      ...(thinking === null ? {} : { reasoning_content: thinking.text }),
    };
  });
}

type ExtraRewardInfo = LongTraceRlRequest['extra_reward_info'];

/** Returns the gold entities or chunks of a row; none if the rubric has no weight, as in evaluation. */
function goldOf({ dataset_name, rubrics }: ExtraRewardInfo, rubricCounts: boolean) {
  if (dataset_name === CHUNK_DATA) {
    return { useful_chunks: rubricCounts ? rubrics.flatMap((id) => (typeof id === 'number' ? [id] : [])) : [] };
  }
  return { entities: rubricCounts ? rubrics.flatMap((entity) => (typeof entity === 'string' ? [entity] : [])) : [] };
}

function recipeOf(info: ExtraRewardInfo): LongTraceRecipe {
  const { rubric_reward_ratio: eta, rubric_use_content: content, rubric_use_reasoning_content: reasoning } = info;
  return {
    family: longTrace.name,
    // With eta 1 the server skips the outcome, and its chunk formula equals the plain one.
    variant: info.dataset_name === CHUNK_DATA && neededParts(eta).outcome ? 'chunks' : 'plain',
    eta,
    text: reasoning ? (content ? 'both' : 'reasoning') : 'content',
    // A call scores one sample; the trainer normalises its groups itself.
    normalise_in_group: false,
    punish_ill_formed: false,
  };
}

/** Builds the rewards of the server's reply; a part that the server skips is 0. */
export function longTraceRlReply(
  request: LongTraceRlRequest,
  { score }: TrainedScore,
  reward: number,
): LongTraceRlRewards {
  if (score.family !== longTrace.name) throw new Error(`longTraceRlReply: a score of the family ${score.family}`);
  const needed = neededParts(request.extra_reward_info.rubric_reward_ratio);
  const { outcome, rubric } = score.components;
  return {
    outcome_reward: needed.outcome ? determinedValue(outcome) : 0,
    rubric_reward: needed.rubric ? determinedValue(rubric) : 0,
    reward,
  };
}

/** @throws Error if a needed part of a scored reward has no value. */
function determinedValue(component: { readonly value: number | null }): number {
  if (component.value === null) throw new Error('longTraceRlReply: a scored reward with an unscored part');
  return component.value;
}

/** The prompt that all samples of a group share. */
export function longTraceRlPrompt({ history, extra_reward_info }: LongTraceRlRequest): unknown {
  return history === undefined ? extra_reward_info.question : promptOf(history);
}

/** The split of a sample: the trainer sets the rubric's share to 0 in evaluation. */
export function splitOf({ extra_reward_info: { rubric_reward_ratio: ratio } }: LongTraceRlRequest): string {
  return ratio === 0 ? 'eval' : 'train';
}
