/** The rules by which the criteria of a prompt evolve, and the presets of the two public implementations. */
import * as z from 'zod';
import { MAX_CRITERIA } from '../limits.ts';

const count = z.int().min(1).max(MAX_CRITERIA);

/** The schema of the rules, as JSON. */
export const evolutionRulesSchema = z.strictObject({
  when: z
    .enum(['same_step', 'next_visit'])
    .describe(
      'same_step: new criteria score the responses that they were made from, so a whole group is needed. ' +
        'next_visit: they score the next group of the prompt.',
    ),
  cap: z
    .union([
      z.strictObject({ rule: z.enum(['std', 'fifo']), most: count }),
      z.strictObject({ rule: z.literal('none') }),
    ])
    .describe(
      'std: after scoring, the active criteria whose scores differ most stay; one without statistics stays too. ' +
        'fifo: after a proposal, the oldest go.',
    ),
  retire: z
    .union([
      z.strictObject({ rule: z.literal('zero_std') }),
      z.strictObject({ rule: z.literal('below'), std: z.number().positive().max(1), visits: count }),
      z.strictObject({ rule: z.literal('never') }),
    ])
    .describe(
      'zero_std: all scores of a group are equal. below: the standard deviation of the last visits is below std.',
    ),
  persistent: z
    .union([z.literal('row'), z.strictObject({ every: z.int().min(1).max(1_000_000) })])
    .describe(
      "row: the row's own criteria are never retired. every: they start as active, and each n-th step restores those " +
        'that are missing.',
    ),
  again: z
    .enum(['refuse', 'restore'])
    .describe('What a proposal of a retired criterion does: nothing, or it is active again.'),
});

/** When a criterion scores, is retired, capped and restored. */
export type EvolutionRules = Readonly<z.infer<typeof evolutionRulesSchema>>;

/** Rules by name. */
export const EVOLUTION_PRESETS = {
  /** Ours: a criterion goes after two groups that it does not tell apart, and does not come back. */
  citeward: {
    when: 'next_visit',
    cap: { rule: 'std', most: 5 },
    retire: { rule: 'below', std: 0.05, visits: 2 },
    persistent: 'row',
    again: 'refuse',
  },
  /** rlresearch/dr-tulu 6188f34c, `grpo_fast.py` 2767-2950, with its published switches. */
  'dr-tulu': {
    when: 'same_step',
    cap: { rule: 'std', most: 5 },
    retire: { rule: 'zero_std' },
    persistent: 'row',
    again: 'restore',
  },
  /** allenai/open-instruct e6c3044a, `rubrics/evolving_rubric_step.py`: the retirement rule there is never called. */
  'open-instruct': {
    when: 'next_visit',
    cap: { rule: 'fifo', most: 5 },
    retire: { rule: 'never' },
    persistent: 'row',
    again: 'restore',
  },
} as const satisfies Readonly<Record<string, EvolutionRules>>;

/** The names of the presets, for schemas. */
export const EVOLUTION_PRESET_NAMES = [
  'citeward',
  'dr-tulu',
  'open-instruct',
] as const satisfies readonly EvolutionPreset[];

/** The name of a preset. */
export type EvolutionPreset = keyof typeof EVOLUTION_PRESETS;
