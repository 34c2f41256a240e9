/** `citeward score`: rows in, rewards out. */
/**
 * `--run`, `--step`, `--store-text`: where in the ledger of a run each row is recorded. A row that has a `run` of its own
 * keeps its group and sample; else rows of the same question are one group, numbered as they come, and so are its samples.
 * The same file therefore names the same places when it is scored again.
 */
import { RECIPE_NAMES } from '../../../src/families/resolve.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { HELP_WIDTH, wrapped } from '../../shared/help.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import { REMOTE_FLAGS } from '../../shared/worker.ts';

const RUN_PLACE_FLAGS: readonly FlagDescription[] = [
  { name: 'run', kind: 'text', value: 'RUN', help: 'Record the rollouts in this run of the Worker; needs --step.' },
  { name: 'step', kind: 'text', value: 'N', help: "The trainer's step, from 0." },
  { name: 'store-text', kind: 'switch', help: 'With --run: keep question, tool output and response there too.' },
];

export const scoreSyntax: CommandSyntax = {
  usage: ['score FILE.jsonl [flags]', 'score - [flags]          (rows from standard input)'],
  flags: [
    ...SCORING_FLAGS,
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, instead of the table.' },
    ...RUN_PLACE_FLAGS,
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/score, and if you like id and note. Flags win over a row.',
    ...wrapped(`Recipes: ${RECIPE_NAMES.join(', ')}.`, HELP_WIDTH),
    'Exit code: 0 all rows done, 1 some lines bad or not scored, 2 wrong command line.',
  ],
};

type Fields = Readonly<Record<string, unknown>>;

/** What adds the run to a row, told of the rows in their order; `null` = nothing is recorded. @throws UsageError */
export function runPlaces(flags: Flags): ((fields: Fields) => Fields) | null {
  const id = flags.text('run');
  const step = flags.count('step', { min: 0, max: 1_000_000_000 });
  const store_text = flags.isOn('store-text');
  if (id === null) {
    if (step !== null) throw new UsageError('--step is of a run: give its --run too');
    if (store_text) throw new UsageError('--store-text keeps text in a run: give its --run too');
    return null;
  }
  if (step === null) throw new UsageError('--run: give the --step of the rollouts too');
  if (flags.text('url') === null) throw new UsageError('--run: runs are recorded by a Worker', 'Give its --url.');
  const groups = new Map<string, { readonly group: number; samples: number }>();
  return (fields) => ({
    ...fields,
    run: { ...placeOf(fields, groups), id, step },
    ...(store_text ? { store_text } : {}),
  });
}

function placeOf({ run, question }: Fields, groups: Map<string, { readonly group: number; samples: number }>): Fields {
  if (typeof run === 'object' && run !== null && !Array.isArray(run)) return { ...run };
  const prompt = JSON.stringify(question ?? null);
  const known = groups.get(prompt) ?? { group: groups.size, samples: 0 };
  groups.set(prompt, known);
  return { group: known.group, sample: known.samples++ };
}
