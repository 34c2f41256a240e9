/** The field `evolution` of `POST /v1/groups`, and what its reply says of the prompt's rubric. */
import * as z from 'zod';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import { evolutionEventSchema } from '../rubrics/evolution-log.ts';
import { rulesInputSchema } from './rubrics.ts';

export const evolutionSchema = z
  .strictObject({
    rules: rulesInputSchema.exactOptional().describe('Default: those of the prompt, citeward for a new one.'),
    generator: z
      .string()
      .min(1)
      .max(MAX_NAME_CHARS)
      .nullable()
      .exactOptional()
      .describe(
        'Proposes criteria from the responses. The name of a judge, which writes them as in POST /v1/rubrics. Default: the default judge; null = none is asked.',
      ),
  })
  .describe(
    'Scores the group under the evolving rubric of its prompt in the run. The criteria of the request are the ' +
      "row's own: they start the prompt.",
  );

export type EvolutionRequest = z.infer<typeof evolutionSchema>;

/** The rule that one rollout has no group, as options of `refine`. */
export const evolutionNeedsGroup = {
  path: ['evolution'],
  error:
    'a rubric evolves by whole groups: send all samples of the prompt to POST /v1/groups, or score under the set ' +
    'of GET /v1/runs/{id}/rubrics/{prompt} and record the verdicts with POST …/scored',
};

export const evolutionReportSchema = z
  .strictObject({
    prompt: sha256Schema.describe('SHA-256 of the question.'),
    set: sha256Schema.describe('The set that scored the group; each member has its entries.'),
    next_set: sha256Schema.describe('The set of now, which scores the next group.'),
    recorded: z
      .boolean()
      .describe('Whether the log gained the scores; false: it has them from this group, or no verdict was given.'),
    stale: z.boolean().describe('Whether the set had changed since the visit of this group began.'),
    generation: z.strictObject({
      status: z
        .enum(['proposed', 'failed', 'repeated', 'none'])
        .describe('failed: the set stays. repeated: the log has it from this group. none: no generator was asked.'),
      failure: z.string().nullable().describe('Why it failed.'),
      proposed: z.array(sha256Schema).describe('The criteria that were proposed; those in use count once.'),
    }),
    events: z.array(evolutionEventSchema).describe('What the log gained.'),
  })
  .describe('With evolution: what the group did to the rubric of its prompt.');

/** What a group did to the rubric of its prompt. */
export type EvolutionReport = z.infer<typeof evolutionReportSchema>;
