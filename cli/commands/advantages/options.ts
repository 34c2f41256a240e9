/** The flags of `citeward advantages`. */
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import { ADVANTAGE_PRESET_NAMES } from '../../../src/scoring/advantage-presets.ts';
import { GDPO_PRESET_NAMES } from '../../../src/scoring/gdpo.ts';
import type { StepRequest } from '../../../src/wire/advantages.ts';
import { advantageProblems, groupAdvantagesSchema } from '../../../src/wire/groups.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { CITEWARD } from '../../shared/program.ts';

export const advantagesSyntax: CommandSyntax = {
  usage: ['advantages FILE.jsonl --rule PRESET', 'advantages --file RUN.jsonl --rule PRESET [--set FIELD=VALUE]'],
  flags: [
    {
      name: 'rule',
      kind: 'text',
      value: 'PRESET|JSON',
      help: `${[...GDPO_PRESET_NAMES, ...ADVANTAGE_PRESET_NAMES].join(', ')}; or an object.`,
    },
    { name: 'file', kind: 'text', value: 'RUN.jsonl', help: 'An exported run: its recorded steps are recomputed.' },
    { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'With --file: change one field of the recipe.' },
  ],
  details: [
    'A row holds step (optional), group, sample (optional), and reward or components; null = unscored.',
    'verl-gdpo also needs response_tokens. The rows of a step are consecutive. Prints one line a sample:',
    'its advantage, and with a GDPO preset its weighted sum.',
    `Settings of a trainer: --rule '{"preset": "nemo-gdpo", "use_leave_one_out_baseline": false}'.`,
    'Exit code: 0 done; 1 a row or the run is refused; 2 wrong command line.',
  ],
};

/** The rule of `--rule`. @throws UsageError */
export function readRule(flags: Flags): StepRequest['rule'] {
  const text = flags.text('rule');
  if (text === null) {
    throw new UsageError('no rule', `Try: ${CITEWARD} advantages examples/step.jsonl --rule trl-gdpo`);
  }
  const value = text.trimStart().startsWith('{') ? jsonOf(text) : text;
  const read = groupAdvantagesSchema.safeParse(value);
  if (!read.success) {
    const [problem] = problemsOfIssues(read.error.issues, value);
    const names = [...GDPO_PRESET_NAMES, ...ADVANTAGE_PRESET_NAMES].join(', ');
    throw new UsageError(`--rule: ${problem?.message ?? 'invalid'}`, `Expected one of ${names}, or an object.`);
  }
  const [problem] = advantageProblems(read.data);
  if (problem !== undefined) throw new UsageError(`--rule: ${problem.path.slice(1).join('.')}: ${problem.message}`);
  return read.data;
}

function jsonOf(text: string): unknown {
  const value = parsedJson(text);
  if (value === undefined) throw new UsageError('--rule: expected a preset, or a JSON object');
  return value;
}
