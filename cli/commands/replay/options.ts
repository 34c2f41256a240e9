/** The flags of `citeward replay`, read as the request of `POST /v1/runs/{id}/replay`. */

import { RECIPE_NAMES } from '../../../src/families/composers.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_REPLICATE, MAX_RUN_STEP, MAX_SAMPLE_SEED } from '../../../src/limits.ts';
import { EVOLUTION_PRESET_NAMES } from '../../../src/rubrics/evolution-rules.ts';
import { replayedRubricsSchema } from '../../../src/rubrics/replayed-set.ts';
import { parseSweep } from '../../../src/runs/sweep.ts';
import { ADVANTAGE_PRESET_NAMES } from '../../../src/scoring/advantage-presets.ts';
import { GDPO_PRESET_NAMES } from '../../../src/scoring/gdpo.ts';
import { type ReplayInput, type ReplayRequest, replayRequestSchema } from '../../../src/wire/replay.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { CITEWARD } from '../../shared/program.ts';
import { changedRecipe, readChanges, readNameOrObject, readRecipe } from '../../shared/recipe-flags.ts';
import { WAIT_FLAG } from '../../shared/worker.ts';
import { flagProblem } from '../../shared/worker-failures.ts';

const REPLAY_FLAGS: readonly FlagDescription[] = [
  {
    ...{ name: 'recipe', kind: 'text', value: 'NAME|JSON|@FILE', values: RECIPE_NAMES },
    help: 'The new recipe (default: the recorded one).',
  },
  { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
  {
    name: 'sweep',
    kind: 'text',
    value: 'FIELD=FROM:TO:BY',
    help: 'Replay once for each value of a field; also FIELD=A,B,C.',
  },
  { name: 'picture', kind: 'text', value: 'FILE.svg', help: 'With --sweep: write a chart as an SVG file.' },
  {
    name: 'rubrics-at',
    kind: 'text',
    value: 'STEP',
    help: 'Score all groups of a prompt under its evolving rubric at the end of this step.',
  },
  {
    name: 'rubrics-rules',
    kind: 'text',
    value: 'PRESET|JSON|@FILE',
    help: 'Evolve the rubrics under other rules: cap, retire, persistent, again; or citeward, dr-tulu, open-instruct.',
  },
  { name: 'judge', kind: 'text', value: 'JUDGE', help: 'Judge every rollout again with this judge, and compare.' },
  { name: 'replicate', kind: 'text', value: 'N', help: 'With --judge: its independent judgment N (default 0).' },
  { name: 'fill', kind: 'switch', help: 'Judge what the run did not observe; with --judge JUDGE by that judge.' },
  {
    name: 'advantages',
    kind: 'text',
    value: 'PRESET',
    values: [...ADVANTAGE_PRESET_NAMES, ...GDPO_PRESET_NAMES],
    help: `How rewards become advantages: ${ADVANTAGE_PRESET_NAMES.join(', ')}, trl-gdpo, nemo-gdpo (default mean).`,
  },
  { name: 'steps', kind: 'text', value: 'FROM:TO', help: 'Only these steps, both included; either may be omitted.' },
  { name: 'share', kind: 'text', value: 'PERCENT', help: 'Only a random share of the groups (default 100).' },
  { name: 'seed', kind: 'text', value: 'N', help: 'With --share: another seed chooses other groups (default 0).' },
  { name: 'samples', kind: 'switch', help: 'With --json: also print a line for each rollout.' },
];

export const replaySyntax: CommandSyntax = {
  json: 'a group: `ReplayLine`',
  usage: ['replay RUN --url URL --set FIELD=VALUE [flags]', 'replay --file RUN.jsonl --sweep FIELD=FROM:TO:BY [flags]'],
  flags: [
    ...REPLAY_FLAGS,
    { name: 'json', kind: 'switch', help: 'Print the lines of the reply instead of tables.' },
    { name: 'file', kind: 'text', value: 'RUN.jsonl', help: 'An exported run, instead of one of a Worker.' },
    { name: 'url', kind: 'text', value: 'URL', help: 'The Worker that recorded the run.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; safer in the environment, as CITEWARD_KEY.' },
    WAIT_FLAG,
  ],
  details: [
    'Weights, gates and penalties are recomputed from the recorded facts, without text or judge calls.',
    'A field that changes the questions to the judge needs new judgments: --fill obtains them; without',
    'it the replay is refused, and the error lists what is missing.',
    'Criteria of another rubric that have no verdict for a rollout leave it without a reward: they are',
    'listed, and --fill has a judge judge them.',
    'std: over n - 1. flipped: share of advantages that change sign. tau: Kendall within groups, against',
    'the recorded rewards. degenerate: groups whose rewards are all equal; in brackets how many became',
    'so (+) or stopped being so (-).',
    'Exit code: 0 done; 1 refused, interrupted, or some rollouts could not be judged; 2 wrong command',
    'line.',
  ],
};

/** @throws UsageError if the flags make no valid request. */
export async function readReplayRequest(
  flags: Flags,
): Promise<{ readonly input: ReplayInput; readonly request: ReplayRequest }> {
  const named = flags.text('recipe');
  const changes = readChanges(flags.list('set'));
  const recipe =
    named !== null
      ? changedRecipe(await readRecipe(named), changes)
      : Object.keys(changes).length > 0
        ? { set: { ...changes } }
        : null;
  const [sweep, judge, steps] = [readSweep(flags), flags.text('judge'), readSteps(flags)];
  const rubrics = await readRubrics(flags);
  const replicate = flags.count('replicate', { min: 0, max: MAX_REPLICATE });
  const share = flags.count('share', { min: 1, max: 100 });
  const seed = flags.count('seed', { min: 0, max: MAX_SAMPLE_SEED });
  if (seed !== null && share === null) throw new UsageError('--seed needs --share');
  const advantages = flags.choice('advantages', [...ADVANTAGE_PRESET_NAMES, ...GDPO_PRESET_NAMES]);
  const input = {
    ...(recipe === null ? {} : { recipe: typeof recipe === 'string' ? recipe : { ...recipe } }),
    ...(sweep === null ? {} : { sweep: { field: sweep.field, values: [...sweep.values] } }),
    ...(rubrics === null ? {} : { rubrics }),
    ...(judge === null ? {} : { judge }),
    ...(replicate === null ? {} : { replicate }),
    ...(share === null ? {} : { sample: { share: share / 100, seed: seed ?? 0 } }),
    ...(flags.isOn('fill') ? { fill: true } : {}),
    ...(advantages === null ? {} : { advantages }),
    ...(steps === null ? {} : { steps }),
    ...(flags.isOn('samples') ? { samples: true } : {}),
  };
  if (flags.text('picture') !== null && sweep === null) throw new UsageError('--picture needs --sweep');
  if (flags.isOn('samples') && !flags.isOn('json')) throw new UsageError('--samples needs --json');
  if (recipe === null && sweep === null && rubrics === null && judge === null && !flags.isOn('fill')) {
    throw new UsageError(
      'the replay changes nothing: give --recipe, --set, --sweep, --rubrics-at, --rubrics-rules, --judge or --fill',
      `Example: ${CITEWARD} replay RUN --url URL --set citation_weight=0.5`,
    );
  }
  const parsed = replayRequestSchema.safeParse(input);
  if (parsed.success) return { input, request: parsed.data };
  const problems = problemsOfIssues(parsed.error.issues, input);
  throw new UsageError(problems.map(({ path, message }) => flagProblem(path.join('.'), message)).join('\n'));
}

function readSweep(flags: Flags) {
  const text = flags.text('sweep');
  if (text === null) return null;
  const parsed = parseSweep(text);
  if (parsed.ok) return parsed.value;
  throw new UsageError(`--sweep: ${parsed.error}, got "${text}"`, 'Example: --sweep citation_weight=0:1:0.1');
}

async function readRubrics(flags: Flags) {
  const at_step = flags.count('rubrics-at', { min: 0, max: Math.min(MAX_RUN_STEP, 999_999_999) });
  const text = flags.text('rubrics-rules');
  if (at_step !== null && text !== null) throw new UsageError('--rubrics-at and --rubrics-rules exclude each other');
  if (at_step !== null) return { at_step };
  if (text === null) return null;
  const rules = await readNameOrObject('rubrics-rules', 'the object of rules', text);
  const parsed = replayedRubricsSchema.safeParse({ rules });
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `--rubrics-rules: expected ${EVOLUTION_PRESET_NAMES.join(', ')}, or an object of cap, retire, persistent and again`,
    'Example: --rubrics-rules \'{"cap": {"rule": "std", "most": 3}, "retire": {"rule": "never"}}\'',
  );
}

const STEPS = /^(\d{1,10})?:(\d{1,10})?$/;

function readSteps(flags: Flags) {
  const text = flags.text('steps');
  if (text === null) return null;
  const [, from, to] = STEPS.exec(text) ?? [];
  if (from === undefined && to === undefined) {
    throw new UsageError(
      `--steps: expected FROM:TO, got "${text}"`,
      'Examples: --steps 10:20, --steps 10:, --steps :20',
    );
  }
  return { ...(from === undefined ? {} : { from: Number(from) }), ...(to === undefined ? {} : { to: Number(to) }) };
}
