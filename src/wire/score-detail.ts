/** The replies of `POST /v1/score` by `detail`: the full reply, or the short one that a trainer reads. */
import * as z from 'zod';
import type { OffsetUnit } from '../citations/offset-units.ts';
import { FAMILY_NAMES } from '../families/composers.ts';
import type { Rollout } from '../family/rollout.ts';
import { rewardFields } from '../family/score.ts';
import { type RecordedSet, recordedSetSchema } from '../rubrics/recorded-set.ts';
import { type Credit, creditWithOffsets } from '../scoring/credit.ts';
import { judgesOf, judgesSchema, rewardScore, rewardScoreFields } from '../scoring/reward-reply.ts';
import { madeByFields, recipeReportSchema } from '../scoring/score-reply.ts';
import type { ScoredRollout } from '../scoring/score-rollouts.ts';
import {
  type RunRecord,
  runRecordSchema,
  type ScoreRequest,
  type ScoreResponse,
  scoreResponseSchema,
} from './score.ts';
import { responseOffsets, scoreWithOffsets } from './score-offsets.ts';

const rewardRunSchema = runRecordSchema
  .pick({ attempt: true, status: true })
  .describe('What recording did; the request has named the place.');

/** The fields of one score in a short reply. */
export const rewardMemberFields = {
  ...rewardScoreFields,
  run: rewardRunSchema.exactOptional(),
  rubric_set: recordedSetSchema.shape.id.exactOptional().describe('The evolving set that scored it.'),
  credit: madeByFields.credit,
};

/** A score, and what recording it did. */
export type ScoredMember = ScoredRollout & { readonly run?: RunRecord; readonly rubric_set?: RecordedSet };

/** The short form of one score, with what recording it did. */
export function rewardMember(
  unit: OffsetUnit,
  rollout: Rollout,
  member: ScoredMember,
): z.infer<z.ZodObject<typeof rewardMemberFields>> {
  const { run, rubric_set } = member;
  return {
    ...rewardScore(member),
    ...(run === undefined ? {} : { run: { attempt: run.attempt, status: run.status } }),
    ...(rubric_set === undefined ? {} : { rubric_set: rubric_set.id }),
    ...creditIn(unit, rollout, member),
  };
}

/** The full form of one score. */
export function fullMember(unit: OffsetUnit, rollout: Rollout, member: ScoredMember): ScoreResponse {
  return { ...scoreWithOffsets(unit, member.reply, rollout), ...creditIn(unit, rollout, member) };
}

/** The credit of a score, if its request asks for it. */
function creditIn(unit: OffsetUnit, rollout: Rollout, { credit }: ScoredMember): { readonly credit?: Credit } {
  return credit === undefined ? {} : { credit: creditWithOffsets(credit, responseOffsets(unit, rollout)) };
}

/** The reply with `detail: "reward"`: one shape for all families. */
export const rewardResponseSchema = z.strictObject({
  family: z.enum(FAMILY_NAMES),
  reward: rewardFields.reward,
  ...rewardMemberFields,
  judges: judgesSchema,
  recipe: recipeReportSchema,
});

/** The reply of `POST /v1/score` with `detail: "reward"`. */
export type RewardResponse = z.infer<typeof rewardResponseSchema>;

/** The reply of `POST /v1/score` in either detail. */
export const scoreReplySchema = z.union([scoreResponseSchema, rewardResponseSchema]);

/** Builds the reply of a scored rollout in the detail that the request asks for. */
export function scoreReplyOf(
  { detail, offsets }: Pick<ScoreRequest, 'detail' | 'offsets'>,
  rollout: Rollout,
  member: ScoredMember,
): ScoreResponse | RewardResponse {
  switch (detail) {
    case 'full':
      return fullMember(offsets, rollout, member);
    case 'reward': {
      const { family, reward } = member.score;
      return {
        family,
        reward,
        ...rewardMember(offsets, rollout, member),
        judges: judgesOf([member]),
        recipe: member.recipe,
      };
    }
  }
}
