/** The request of `POST /v1/runs/{id}/replay`. */
import * as z from 'zod';
import { MAX_NAME_CHARS, MAX_REPLICATE, MAX_SAMPLE_SEED, MAX_SWEEP_POINTS } from '../limits.ts';
import { replayedRubricsSchema } from '../rubrics/replayed-set.ts';
import { sweepValueSchema } from '../runs/sweep-value.ts';
import { advantageProblems, groupAdvantagesSchema } from './groups.ts';
import { recipeInputSchema } from './score.ts';

const NO_RESPONSE_TOKENS =
  'verl-gdpo needs response_tokens, the tokens that the policy wrote, and a run does not record them: ' +
  'send them with the components of a step to POST /v1/advantages';

const stepSchema = z.int().min(0);

export const replayRequestSchema = z
  .strictObject({
    recipe: z
      .union([z.strictObject({ set: z.record(z.string(), z.unknown()) }), recipeInputSchema])
      .exactOptional()
      .describe("A name, a whole recipe, {base, …}, or {set: {…}}: the run's own recipe with some fields changed."),
    sweep: z
      .strictObject({
        field: z
          .string()
          .min(1)
          .max(MAX_NAME_CHARS)
          .describe('A field of the recipe; a dot reaches into a nested field.'),
        values: z.array(sweepValueSchema).min(1).max(MAX_SWEEP_POINTS),
      })
      .exactOptional()
      .describe('Replays once per value of one field, in one pass over the run.'),
    rubrics: replayedRubricsSchema.exactOptional(),
    advantages: groupAdvantagesSchema
      .default('mean')
      .describe('As in POST /v1/groups, for all groups of a step; verl-gdpo is refused: a run has no response_tokens.'),
    steps: z
      .strictObject({ from: stepSchema.exactOptional(), to: stepSchema.exactOptional() })
      .exactOptional()
      .describe('First and last step; excludes rollouts without a step.'),
    samples: z.boolean().default(false).describe('Whether to send a line for each rollout.'),
    fill: z
      .boolean()
      .default(false)
      .describe('Judges rollouts whose reward needs something unobserved, or whose judge failed. Requires their text.'),
    judge: z
      .string()
      .min(1)
      .max(MAX_NAME_CHARS)
      .exactOptional()
      .describe(
        'A judge of this deployment. With fill: the judge that fills. Without: it judges every rollout again, from its text, ' +
          'and the reply compares its verdicts with the recorded ones.',
      ),
    replicate: z
      .int()
      .min(0)
      .max(MAX_REPLICATE)
      .default(0)
      .describe('With judge and without fill: which of its independent judgments. Another number judges again.'),
    sample: z
      .strictObject({
        share: z.number().gt(0).max(1).describe('The share of the groups, as a probability of each.'),
        seed: z.int().min(0).max(MAX_SAMPLE_SEED).default(0).describe('Another seed chooses other groups.'),
      })
      .exactOptional()
      .describe('Replays a random share of the groups only. The same seed chooses the same groups.'),
  })
  .superRefine(({ recipe, sweep, rubrics, fill, judge, replicate, advantages: options, steps }, context) => {
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if ([recipe, sweep, rubrics, judge].every((given) => given === undefined) && !fill) {
      issue(['recipe'], 'expected recipe, sweep, rubrics, judge or fill: what should be replayed');
    }
    if (rubrics !== undefined && judge !== undefined && !fill) {
      issue(['judge'], 'with rubrics only together with fill: judges are compared under the recorded sets');
    }
    if (fill && sweep !== undefined) issue(['fill'], 'not together with sweep: a sweep asks no judge');
    if (judge !== undefined && sweep !== undefined) issue(['judge'], 'not together with sweep: a sweep asks no judge');
    if (replicate > 0 && (judge === undefined || fill)) {
      issue(['replicate'], 'only with judge and without fill: it selects a judgment of that judge');
    }
    if (steps?.from !== undefined && steps.to !== undefined && steps.from > steps.to) {
      issue(['steps', 'to'], 'expected a step from `from` on');
    }
    for (const { path, message } of advantageProblems(options)) issue(path.map(String), message);
    if (presetOf(options) === 'verl-gdpo') issue(['advantages'], NO_RESPONSE_TOKENS);
  });

function presetOf(options: z.infer<typeof groupAdvantagesSchema>): string | null {
  if (typeof options === 'string') return options;
  return 'preset' in options ? options.preset : null;
}

export type ReplayRequest = z.infer<typeof replayRequestSchema>;
/** The request of `POST /v1/runs/{id}/replay`; defaults may be left out. */
export type ReplayInput = z.input<typeof replayRequestSchema>;
