/** `citeward replay`: what the rewards of a run would have been under another recipe, without asking a judge again. */
/** What should be replayed, as flags say it: the request of `POST /v1/runs/{id}/replay`. */

import { problemsOfIssues } from '../../../src/input-problem.ts';
import { parseSweep } from '../../../src/runs/sweep.ts';
import { ADVANTAGE_PRESET_NAMES } from '../../../src/scoring/advantage-presets.ts';
import { type ReplayInput, type ReplayRequest, replayRequestSchema } from '../../../src/wire/replay.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { changedRecipe, readChanges, readRecipe } from '../../shared/recipe-flags.ts';
import { flagProblem } from '../../shared/worker-failures.ts';

const REPLAY_FLAGS: readonly FlagDescription[] = [
  { name: 'recipe', kind: 'text', value: 'NAME|JSON|@FILE', help: 'The other recipe (default: the one recorded).' },
  { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
  {
    name: 'sweep',
    kind: 'text',
    value: 'FIELD=FROM:TO:BY',
    help: 'One replay for each value of a field; also FIELD=A,B,C.',
  },
  { name: 'picture', kind: 'text', value: 'FILE.svg', help: 'With --sweep: the chart, as an SVG file.' },
  { name: 'judge', kind: 'text', value: 'NAME', help: 'Judge every rollout again with this judge, and compare.' },
  { name: 'fill', kind: 'switch', help: 'Judge what nobody observed; with --judge NAME by that judge.' },
  {
    name: 'advantages',
    kind: 'text',
    value: 'PRESET',
    help: `How a group becomes advantages: ${ADVANTAGE_PRESET_NAMES.join(', ')} (default mean).`,
  },
  { name: 'steps', kind: 'text', value: 'FROM:TO', help: 'Only these steps, both included; either may be left out.' },
  { name: 'samples', kind: 'switch', help: 'With --json: a line for each rollout as well.' },
];

export const replaySyntax: CommandSyntax = {
  usage: ['replay RUN --url URL [flags]', 'replay --file RUN.jsonl [flags]'],
  flags: [
    ...REPLAY_FLAGS,
    { name: 'json', kind: 'switch', help: 'The lines of the reply as they come, instead of tables.' },
    { name: 'file', kind: 'text', value: 'FILE', help: 'A run as it was exported, instead of one of a Worker.' },
    { name: 'url', kind: 'text', value: 'URL', help: 'The Worker that has the run.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
  ],
  details: [
    'Weights, gates and penalties replay from what was observed: no text is read, no judge is called.',
    'A field that decides what is asked needs new judgments: without --fill it is refused with what is missing.',
    'std over n - 1; flipped = share of advantages that change sign; tau = Kendall within groups, against the',
    'recorded rewards; degenerate = groups without a signal, in brackets those that became or ceased to be so.',
    'Exit code: 0 done, 1 refused, broken off or not all rollouts could be measured, 2 wrong command line.',
  ],
};

/** @throws UsageError for flags that make no request. */
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
  const advantages = flags.choice('advantages', ADVANTAGE_PRESET_NAMES);
  const input = {
    ...(recipe === null ? {} : { recipe: typeof recipe === 'string' ? recipe : { ...recipe } }),
    ...(sweep === null ? {} : { sweep: { field: sweep.field, values: [...sweep.values] } }),
    ...(judge === null ? {} : { judge }),
    ...(flags.isOn('fill') ? { fill: true } : {}),
    ...(advantages === null ? {} : { advantages }),
    ...(steps === null ? {} : { steps }),
    ...(flags.isOn('samples') ? { samples: true } : {}),
  };
  if (flags.text('picture') !== null && sweep === null) throw new UsageError('--picture: only with --sweep');
  if (flags.isOn('samples') && !flags.isOn('json')) throw new UsageError('--samples: only with --json');
  if (recipe === null && sweep === null && judge === null && !flags.isOn('fill')) {
    throw new UsageError(
      'nothing to replay with: give --recipe, --set, --sweep, --judge or --fill',
      'Example: citeward replay RUN --url URL --set citation_weight=0.5',
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
  if (parsed.ok) return parsed.sweep;
  throw new UsageError(`--sweep: ${parsed.problem}, got "${text}"`, 'Example: --sweep citation_weight=0:1:0.1');
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
