/**
 * slime's remote reward model: one sample in, a number out. Source: THUDM/slime 624b824a,
 * `slime/rollout/rm_hub/__init__.py`, `remote_rm`.
 */
import * as z from 'zod';
import { responseSchema } from '../../family/rollout-schema.ts';
import { sha256Schema } from '../../judgments/judgment-schema.ts';
import { loggedNumbers, type RunReport, runReportSchema, type TrainedScore, type TrainerReply } from './reply.ts';
import { promptSchema } from './request.ts';

export const slimeRequestSchema = z.object({
  prompt: promptSchema,
  response: responseSchema,
  label: z.unknown().optional().describe('What the recipe reads besides prompt and response.'),
});

const slimeObjectSchema = z
  .object({
    reward: z.number(),
    base: z.number().nullable().describe('Before scale and penalties.'),
    status: z.literal('scored'),
    recipe: z.string().nullable(),
    digest: sha256Schema.describe('Digest of the recipe.'),
    run: runReportSchema.exactOptional(),
  })
  .catchall(z.number().describe('A component of the reward by name, or its contribution by NAME_contribution.'));

export const slimeReplySchema = z.union([z.number(), slimeObjectSchema]);

/** Builds the flat object from which `--reward-key` picks the reward. */
export function slimeObject(member: TrainedScore, reward: number, run: RunReport | null): TrainerReply {
  const { score, recipe } = member;
  return {
    floats: { ...loggedNumbers(member), reward, base: score.base },
    others: {
      status: 'scored',
      recipe: recipe.name,
      digest: recipe.digest,
      ...(run === null ? {} : { run }),
    },
  };
}
