/** The flags of `citeward score`. */

import { RECIPE_NAMES } from '../../../src/families/composers.ts';
import { CREDIT_BY } from '../../../src/family/credit.ts';
import { groupPlaces } from '../../../src/wire/rows/group-places.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { HELP_WIDTH, wrapped } from '../../shared/help.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { LOCAL_FLAGS } from '../../shared/row-host.ts';
import type { Fields } from '../../shared/rows.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import { ROW_WORKER_FLAGS } from '../../shared/worker.ts';

const RUN_FLAGS: readonly FlagDescription[] = [
  { name: 'run', kind: 'text', value: 'RUN', help: 'Record the rollouts in this run of the Worker; needs --step.' },
  { name: 'step', kind: 'text', value: 'N', help: 'The training step of the rollouts, from 0.' },
  { name: 'store-text', kind: 'switch', help: 'With --run: store question, tool output and response too.' },
  {
    name: 'store-reasons',
    kind: 'switch',
    help: "Keep the judge's reasons; --json, and runs show --reasons, show them.",
  },
];

export const scoreSyntax: CommandSyntax = {
  json: 'a row: `ScoreResponse`, with `line` and `id`; a row that fails: `reward: null`, `reason`, `detail`',
  usage: ['score FILE.jsonl [flags]', 'score - [flags]          (rows from standard input)'],
  flags: [
    ...SCORING_FLAGS,
    {
      name: 'credit',
      kind: 'text',
      value: CREDIT_BY.join('|'),
      help: 'With --json: the reward as shares of claims with their spans, or of turns.',
    },
    { name: 'json', kind: 'switch', help: 'Print one JSON result a line, with its line and id, instead of the table.' },
    ...RUN_FLAGS,
    MAP_FLAG,
    ...LOCAL_FLAGS,
    ...ROW_WORKER_FLAGS,
  ],
  details: [
    'FILE holds JSON lines, JSON, CSV, TSV or Parquet. A row holds the fields of POST /v1/score, and',
    'optionally id and note. Flags win over the row.',
    ...wrapped(`Recipes: ${RECIPE_NAMES.join(', ')}.`, HELP_WIDTH),
    'Exit code: 0 all rows done, 1 some lines invalid or not scored, 2 wrong command line.',
  ],
};

/**
 * Reads `--run`, `--step` and `--store-text`. A row keeps the group and sample of its own `run`. Other rows with the
 * same question form a group; groups and samples are numbered in the order of the rows, so that scoring a file again
 * records the same places.
 * @returns a function that adds the run to each row, called in the order of the rows; `null` = record nothing.
 * @throws UsageError
 */
export function runPlaces(flags: Flags): ((fields: Fields) => Fields) | null {
  const id = flags.text('run');
  const step = flags.count('step', { min: 0, max: 1_000_000_000 });
  const store_text = flags.isOn('store-text');
  if (id === null) {
    if (step !== null) throw new UsageError('--step needs --run', 'Give the run of the step too.');
    if (store_text) throw new UsageError('--store-text needs --run', 'Give the run that stores the text too.');
    return null;
  }
  if (step === null) throw new UsageError('--run needs --step', 'Give the training step of the rollouts too.');
  if (flags.text('url') === null) throw new UsageError('--run: only a Worker records runs', 'Give its --url.');
  const placeOf = groupPlaces();
  return (fields) => ({ ...fields, run: { ...placeOf(fields), id, step }, ...(store_text ? { store_text } : {}) });
}

/**
 * Reads `--store-reasons` and `--credit`. @returns a function that adds what they ask for to a row.
 * @throws UsageError
 */
export function reportsAsked(flags: Flags): (fields: Fields) => Fields {
  const credit = flags.choice('credit', CREDIT_BY);
  if (credit !== null && !flags.isOn('json'))
    throw new UsageError('--credit needs --json', 'The table shows no credit.');
  const store_reasons = flags.isOn('store-reasons');
  if (store_reasons && flags.text('url') === null)
    throw new UsageError('--store-reasons: only a Worker keeps reasons', 'Give its --url.');
  return (fields) => ({
    ...fields,
    ...(store_reasons ? { store_reasons } : {}),
    ...(credit === null ? {} : { credit }),
  });
}
