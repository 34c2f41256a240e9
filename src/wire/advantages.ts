/**
 * `POST /v1/advantages`: the advantages of a whole training step from the rewards or components of its samples, without
 * a judge. GDPO normalises over all groups of a step, so `POST /v1/groups` cannot finish it.
 */
import * as z from 'zod';
import type { InputProblem } from '../input-problem.ts';
import { MAX_GROUP, MAX_STEP_GROUPS } from '../limits.ts';
import type { Result } from '../result.ts';
import { advantages } from '../scoring/advantages.ts';
import { type GdpoOptions, gdpoAdvantages, isGdpo } from '../scoring/gdpo.ts';
import { degenerateSchema, groupAdvantagesSchema, maskedSchema, weightedSumSchema } from './groups.ts';
import { runPlaceIdSchema } from './score.ts';

const NOT_BOTH = 'give reward or components, not both';

const memberSchema = z
  .strictObject({
    reward: z.number().nullable().exactOptional().describe('null = unscored.'),
    components: z
      .record(z.string(), z.number())
      .nullable()
      .exactOptional()
      .describe('The reward as a sum: `contributions` of a score. The GDPO presets need it. null = unscored.'),
    response_tokens: z
      .int()
      .min(0)
      .exactOptional()
      .describe('Number of tokens that the policy wrote, without tool output; required by verl-gdpo.'),
  })
  .refine(({ reward, components }) => (reward === undefined) !== (components === undefined), {
    path: ['components'],
    error: NOT_BOTH,
  });

type Member = z.infer<typeof memberSchema>;

export const stepRequestSchema = z.strictObject({
  rule: groupAdvantagesSchema,
  groups: z
    .array(
      z.strictObject({
        id: runPlaceIdSchema.exactOptional().describe('Repeated in the reply.'),
        members: z.array(memberSchema).min(1).max(MAX_GROUP),
      }),
    )
    .min(1)
    .max(MAX_STEP_GROUPS)
    .describe('All groups of one training step.'),
});

export type StepRequest = z.infer<typeof stepRequestSchema>;

export const stepResponseSchema = z.strictObject({
  groups: z
    .array(
      z.strictObject({
        id: runPlaceIdSchema.exactOptional(),
        advantages: z.array(
          z.strictObject({
            advantage: z.number(),
            masked: maskedSchema,
            weighted_sum: weightedSumSchema.exactOptional(),
          }),
        ),
        valid: z.int().min(0).describe('Number of scored members.'),
        degenerate: degenerateSchema,
      }),
    )
    .describe('In the order of the request.'),
  batch: z
    .strictObject({ mean: z.number(), std: z.number().nullable() })
    .nullable()
    .describe('GDPO: mean and std of the weighted sums over the step (verl: over its tokens); null = no batch step.'),
  final: z.literal(true),
});

export type StepResponse = z.infer<typeof stepResponseSchema>;

/** Computes the advantages of a step. Problems name the request's fields. */
export function stepAdvantages({ rule, groups }: StepRequest): Result<StepResponse, readonly InputProblem[]> {
  if (isGdpo(rule)) return gdpoStep(rule, groups);
  const finished: StepResponse['groups'] = [];
  for (const [n, { id, members }] of groups.entries()) {
    const result = advantages(members.map(rewardOf), rule);
    if (!result.ok)
      return { ok: false, error: result.error.map(({ path, message }) => ({ path: placed(path, n), message })) };
    const { advantages: own, valid, degenerate } = result.value;
    finished.push({
      ...(id === undefined ? {} : { id }),
      advantages: own.map(({ advantage, masked }) => ({ advantage, masked })),
      valid,
      degenerate,
    });
  }
  return { ok: true, value: { groups: finished, batch: null, final: true } };
}

/** Maps a path of `advantages` to the request. */
function placed([first, position, ...rest]: InputProblem['path'], group: number): InputProblem['path'] {
  if (first === 'rewards' && position !== undefined) return ['groups', group, 'members', position, 'reward', ...rest];
  return ['rule', ...(position === undefined ? [] : [position]), ...rest];
}

function rewardOf({ reward, components }: Member): number | null {
  if (components === undefined || components === null) return reward ?? null;
  return Object.values(components).reduce((sum, value) => sum + value, 0);
}

function gdpoStep(rule: GdpoOptions, groups: StepRequest['groups']): Result<StepResponse, readonly InputProblem[]> {
  const bare = groups.flatMap(({ members }, n) =>
    members.flatMap(({ reward }, position): InputProblem[] => {
      if (reward === undefined || reward === null) return [];
      const path = ['groups', n, 'members', position, 'components'];
      return [{ path, message: 'required by the GDPO presets, which normalise each component' }];
    }),
  );
  if (bare.length > 0) return { ok: false, error: bare };
  const step = gdpoAdvantages(
    groups.map(({ members }) =>
      members.map(({ components, response_tokens }) => ({ components: components ?? null, response_tokens })),
    ),
    rule,
  );
  if (!step.ok) return step;
  const finished = step.value.groups.map(({ members, valid, degenerate }, n) => {
    const id = groups[n]?.id;
    return {
      ...(id === undefined ? {} : { id }),
      advantages: members.map(({ advantage, masked, weighted_sum }) => ({ advantage, masked, weighted_sum })),
      valid,
      degenerate: degenerate === null ? null : { ...degenerate, dropped_by_filter: false },
    };
  });
  return { ok: true, value: { groups: finished, batch: step.value.batch, final: true } };
}
