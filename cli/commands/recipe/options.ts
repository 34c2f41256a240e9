/** The flags of `citeward recipe probe`. */
import { RECIPE_NAMES } from '../../../src/families/composers.ts';
import { MAX_SAMPLE_SEED } from '../../../src/limits.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { HELP_WIDTH, wrapped } from '../../shared/help.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { LOCAL_FLAGS } from '../../shared/row-host.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import { ROW_WORKER_FLAGS } from '../../shared/worker.ts';

/** Flags about replies that a probe does not give. */
const UNUSED_FLAGS: ReadonlySet<string> = new Set(['receipt', 'offsets']);

export const DEFAULT_PROMPTS = 64;
export const PROMPTS_RANGE = { min: 1, max: 10_000 } as const;
export const SEED_RANGE = { min: 0, max: Math.min(MAX_SAMPLE_SEED, 999_999_999) } as const;

export const probeSyntax: CommandSyntax = {
  json: 'one object: `ProbeReply`',
  usage: ['recipe probe FILE.jsonl [flags]', 'recipe probe - [flags]   (rows from standard input)'],
  flags: [
    ...SCORING_FLAGS.filter(({ name }) => !UNUSED_FLAGS.has(name)),
    {
      name: 'prompts',
      kind: 'text',
      value: 'N',
      help: `How many prompts of the file are probed, from its beginning (default ${DEFAULT_PROMPTS}).`,
    },
    { name: 'seed', kind: 'text', value: 'N', help: 'Draws the random sentences (default 0).' },
    { name: 'json', kind: 'switch', help: 'Print the report as JSON, like the reply of POST /v1/recipes/probe.' },
    MAP_FLAG,
    ...LOCAL_FLAGS,
    ...ROW_WORKER_FLAGS.filter(({ name }) => name !== 'concurrency'),
  ],
  details: [
    'FILE holds rows of training data: question, sources and criteria, as for score; a reference answer if there is',
    'one; and, if you have them, samples of the policy before training: response in rows of equal prompts, or a list',
    'responses; outcome beside a response says whether it is right. Recipes and judges in rows are not read.',
    'Each prompt gets up to 18 canned answers, which are judged like any other answer.',
    ...wrapped(`Recipes: ${RECIPE_NAMES.join(', ')}.`, HELP_WIDTH),
    'Exit code: 0 no warning, 3 a warning, 1 some lines invalid or answers not scored, 2 wrong command line.',
  ],
};
