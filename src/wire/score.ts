/** `POST /v1/score`: one rollout with what its recipe reads in, its reward with all its parts out. */
import * as z from 'zod';
import type { Rollout } from '../family/rollout.ts';
import {
  hasNotBothOrigins,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  responseFields,
  rolloutOf,
  sharedFields,
} from '../family/rollout-schema.ts';
import { MAX_JUDGES_IN_TURN, MAX_NAME_CHARS, MAX_REPLICATE } from '../limits.ts';
import { placeIdSchema, type RunPlacement, runIdSchema, stepSchema } from '../runs/placement.ts';
import { scoreReplySchema } from '../scoring/score-reply.ts';

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

export const runPlaceIdSchema = z.union([placeIdSchema, z.int().min(0)]).describe('A number is stored as its digits.');

const rolloutRunSchema = z
  .strictObject({
    id: runIdSchema,
    step: stepSchema,
    group: runPlaceIdSchema.describe('What the trainer calls the prompt: its samples are one group.'),
    sample: runPlaceIdSchema,
  })
  .describe('Records the rollout in the ledger of a run, and measures everything that the family measures.');

export const storeTextSchema = z
  .boolean()
  .default(false)
  .describe(
    'With run: keep the text of the rollout too (question, response, tool output, …), until the run is deleted.',
  );

/** The rule that text is kept only of what is recorded, as options of `refine`. */
export const textNeedsRun = { path: ['store_text'], error: 'only with run: the text is kept in the run' };

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

/** The rollout of a request. */
export function requestedRollout(request: ScoreRequest): Rollout {
  const { recipe: _recipe, judge: _judge, judgments: _judgments, replicate: _replicate, ...rest } = request;
  const { explain: _explain, receipt: _receipt, on_judge_failure: _onJudgeFailure, ...recorded } = rest;
  const { run: _run, store_text: _storeText, ...fields } = recorded;
  return rolloutOf(fields);
}

/** Where the rollout of a request is recorded; `null` = nowhere. */
export function requestedPlacement({ run, store_text }: Pick<ScoreRequest, 'run' | 'store_text'>): RunPlacement | null {
  if (run === undefined) return null;
  const { id, step, group, sample } = run;
  return { run: id, step, group: String(group), samples: [String(sample)], grouping: 'given', store_text };
}

const runRecordSchema = z
  .strictObject({
    id: runIdSchema,
    step: stepSchema.nullable(),
    group: placeIdSchema,
    sample: placeIdSchema,
    attempt: z.int().min(0).describe('From 0; other content at the same place is a new attempt. The latest counts.'),
    status: z
      .enum(['recorded', 'unchanged'])
      .describe('unchanged: the same content stands there already, with no less observed.'),
  })
  .describe('Where the rollout stands in the ledger of its run.');

/** Where a rollout was recorded, and whether that changed the ledger. */
export type RunRecord = z.infer<typeof runRecordSchema>;

const [refiner, longTrace, toolCall, drTulu] = scoreReplySchema.options;
const recorded = { run: runRecordSchema.exactOptional() };

export const scoreResponseSchema = z.discriminatedUnion('family', [
  refiner.extend(recorded),
  longTrace.extend(recorded),
  toolCall.extend(recorded),
  drTulu.extend(recorded),
]);

export type ScoreResponse = z.infer<typeof scoreResponseSchema>;
