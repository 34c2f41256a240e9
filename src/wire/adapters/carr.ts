/**
 * CaRR's reward server, `POST /evaluate`. Sources: `deepsearch_rm_with_rubrics/launch_server.py` of THUDM/CaRR c97e7e89;
 * its client is `slime/slime/rollout/rm_hub/__init__.py`. Errors of the caller give 500 there and 422 here.
 */

import * as z from 'zod';
import { carr } from '../../families/carr/family.ts';
import type { CarrRecipe } from '../../families/carr/recipe.ts';
import type { CarrReply } from '../../families/carr/reply.ts';
import type { Rollout } from '../../family/rollout.ts';
import { questionSchema, textSchema } from '../../family/rollout-schema.ts';
import { isJsonObject } from '../../json.ts';
import { fill } from '../../judgments/kinds/entities/labels.ts';
import { MAX_CRITERIA, MAX_CRITERION_CHARS } from '../../limits.ts';
import { outcomeFields } from '../../runs/rollout-counts.ts';
import { fieldOf } from '../../trajectory/draft.ts';
import type { ScoreResponse } from '../score.ts';
import { historySchema } from './history.ts';
import { runReportSchema } from './reply.ts';

const remoteEnvInfoSchema = z
  .object({
    question: questionSchema
      .exactOptional()
      .describe('Default: the first of search_forbidden_strs, as on the public server.'),
    search_forbidden_strs: z.array(textSchema).exactOptional(),
    rubrics: z.array(z.string().min(1).max(MAX_CRITERION_CHARS)).max(MAX_CRITERIA).default([]),
    rubric_reward_ratio: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe('The weight eta of the criteria; 0 in evaluation.'),
  })
  .refine(({ question, search_forbidden_strs: [first = ''] = [] }) => question !== undefined || first !== '', {
    path: ['question'],
    error: 'give question, or the question as the first of search_forbidden_strs',
  });

export const carrRequestSchema = z.object({
  history: historySchema.describe('The whole trajectory; the last message is the answer.'),
  label: textSchema.min(1).describe('The correct final answer.'),
  task_unfinished: z.union([z.boolean(), z.number()]).nullable().describe('True: every reward is 0.'),
  remote_env_info: remoteEnvInfoSchema,
  ...outcomeFields,
});

type CarrRequest = z.infer<typeof carrRequestSchema>;

/** Whether a request is CaRR's: LongTraceRL's server takes `extra_reward_info` instead. */
export function isCarrRequest(request: object): boolean {
  return 'remote_env_info' in request || 'task_unfinished' in request;
}

const criterionScoreSchema = z.strictObject({
  raw_rubric: z.string(),
  filled_rubric: z.string(),
  entity_values: z.record(z.string(), z.string().nullable()),
  all_entity_identified: z.boolean(),
  is_supported: z.boolean(),
  connected_to_answer: z.boolean(),
  score: z.literal([0, 1]),
});

export const carrAdapterReplySchema = z.strictObject({
  reward: z
    .number()
    .describe("The reward of this sample alone; the trainer's group step combines the other two again."),
  outcome_reward: z.number(),
  rubric_reward: z.number(),
  rubric_scores: z.record(z.string(), criterionScoreSchema).describe('By the index of the criterion.'),
  run: runReportSchema.exactOptional(),
});

type CarrReading =
  | { readonly status: 'ready'; readonly rollout: Rollout; readonly recipe: CarrRecipe }
  /** Unfinished, or without a final answer: every reward is 0, without judging. */
  | { readonly status: 'no_answer' };

/** Reads the rollout and the recipe. @param named gives the compat mode; the request gives the rest. */
export function readCarr(
  { history, label, task_unfinished, remote_env_info: info }: CarrRequest,
  named: CarrRecipe,
): CarrReading {
  const last = history.at(-1);
  const content = isJsonObject(last) ? fieldOf(last, 'content') : undefined;
  if (task_unfinished || last === undefined || fieldOf(last, 'role') !== 'assistant' || typeof content !== 'string') {
    return { status: 'no_answer' };
  }
  const { rubrics, rubric_reward_ratio: eta } = info;
  return {
    status: 'ready',
    rollout: {
      question: info.question ?? info.search_forbidden_strs?.[0] ?? '',
      reference: label,
      response: content,
      messages: history,
      // The trainer does not send ill-formed samples, and unfinished ones are not judged.
      finish_reason: 'stop',
      // The public server pays 0 for a row without criteria; the corrected mode refuses it.
      ...(rubrics.length > 0 || named.compat === 'exact' ? { entity_rubrics: rubrics } : {}),
    },
    recipe: {
      ...named,
      variant: 'plain',
      eta,
      // A call scores one sample; the trainer normalises its groups itself.
      normalisation: 'none',
      connected: true,
      punish_ill_formed: false,
    },
  };
}

type CarrRewards = Omit<z.infer<typeof carrAdapterReplySchema>, 'rubric_scores' | 'run'>;

/** The rewards of the server's reply; a part that the server skips is 0. */
export function carrRewards({ components: { outcome, rubric } }: CarrReply, reward: number): CarrRewards {
  return { reward, outcome_reward: outcome.value ?? 0, rubric_reward: rubric.value ?? 0 };
}

/** @throws Error for the score of another family. */
export function carrScore(score: ScoreResponse): CarrReply {
  if (score.family !== carr.name) throw new Error(`carrScore: a score of the family ${score.family}`);
  return score;
}

/** The criteria as the server reports them; none if they have no weight, or the response was not judged. */
export function carrRubricScores({
  entity_rubrics,
  names,
}: CarrReply): z.infer<typeof carrAdapterReplySchema>['rubric_scores'] {
  const known = new Map(
    Object.entries(names ?? {}).flatMap(([label, name]) => (name === null ? [] : [[label, name] as const])),
  );
  return Object.fromEntries(
    entity_rubrics.map(({ criterion, statement, labels, counts, failed }, n) => [
      `${n}`,
      {
        raw_rubric: criterion,
        filled_rubric: statement ?? fill(criterion, known),
        entity_values: Object.fromEntries(labels.map((label) => [label, known.get(label) ?? null])),
        all_entity_identified: failed !== 'not_named',
        is_supported: counts === true || failed === 'not_connected',
        connected_to_answer: counts === true,
        score: counts === true ? 1 : 0,
      },
    ]),
  );
}
