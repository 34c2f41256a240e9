/** The request of `POST /v1/score`: one rollout with what its recipe reads. The reply stands in score-reply.ts. */
import * as z from 'zod';
import type { Rollout } from '../family/rollout.ts';
import {
  criterionInputs,
  hasNotBothOrigins,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  responseFields,
  sharedFields,
} from '../family/rollout-schema.ts';
import { MAX_JUDGES_IN_TURN, MAX_NAME_CHARS, MAX_REPLICATE } from '../limits.ts';
import {
  type RunPlacement,
  rolloutPlacement,
  rolloutRunSchema,
  storeTextSchema,
  textNeedsRun,
} from '../runs/placement.ts';

/** A recipe by name or inline. What it holds is checked by `resolveRecipe`, which knows the families. */
export const recipeInputSchema = z.union([z.string().max(MAX_NAME_CHARS), z.record(z.string(), z.unknown())]);

const judgeNameSchema = z.string().min(1).max(MAX_NAME_CHARS);

/** How a rollout or a group is to be scored. */
export const scoringFields = {
  recipe: recipeInputSchema,
  judge: z
    .union([judgeNameSchema, z.array(judgeNameSchema).min(1).max(MAX_JUDGES_IN_TURN)])
    .exactOptional()
    .describe(
      'Name of a configured judge. A list is tried in turn: the next one judges everything anew where the one ' +
        'before failed. Judgments name the model that made them.',
    ),
  judgments: z
    .enum(['use', 'only', 'skip'])
    .default('use')
    .describe('use: stored or judged now. only: stored, else 409. skip: nothing is judged, reward null.'),
  replicate: z.int().min(0).max(MAX_REPLICATE).default(0).describe('Another independent judgment of the same thing.'),
  explain: z
    .boolean()
    .default(false)
    .describe('dr-tulu only: what the other compat mode gives as well; it may need judgments of its own.'),
  receipt: z
    .boolean()
    .default(false)
    .describe('Sign the reward (docs/receipts.md). 422 where the deployment has no ISSUER_KEY to sign with.'),
};

export const onJudgeFailureSchema = z
  .enum(['error', 'null'])
  .describe('What a needed judgment that could not be had becomes: a 503, or 200 with reward null.');

export const scoreRequestSchema = z
  .strictObject({
    ...sharedFields,
    ...responseFields,
    ...scoringFields,
    on_judge_failure: onJudgeFailureSchema.default('error'),
    run: rolloutRunSchema.exactOptional(),
    store_text: storeTextSchema,
  })
  .refine(hasNotBothOrigins, oneOriginRule)
  .refine(({ run, store_text }) => run !== undefined || !store_text, textNeedsRun)
  .meta(NOT_BOTH_ORIGINS);

export type ScoreRequest = z.infer<typeof scoreRequestSchema>;

type RolloutFields = z.infer<z.ZodObject<typeof sharedFields & typeof responseFields>>;

/** A rollout as the library takes it. */
export function rolloutOf({ positive_rubrics, negative_rubrics, ...fields }: RolloutFields): Rollout {
  return {
    ...fields,
    positive_rubrics: criterionInputs(positive_rubrics),
    negative_rubrics: criterionInputs(negative_rubrics),
  };
}

/** The rollout of a request. */
export function requestedRollout(request: ScoreRequest): Rollout {
  const { recipe: _recipe, judge: _judge, judgments: _judgments, replicate: _replicate, ...rest } = request;
  const { explain: _explain, receipt: _receipt, on_judge_failure: _onJudgeFailure, ...recorded } = rest;
  const { run: _run, store_text: _storeText, ...fields } = recorded;
  return rolloutOf(fields);
}

/** Where a request is recorded; `null` = nowhere. */
export function requestedPlacement({ run, store_text }: Pick<ScoreRequest, 'run' | 'store_text'>): RunPlacement | null {
  return run === undefined ? null : rolloutPlacement(run, store_text);
}
