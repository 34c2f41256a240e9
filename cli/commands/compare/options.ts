/** The flags of `citeward compare`. */
import { isJsonObject } from '../../../src/json.ts';
import { MAX_COMPARED } from '../../../src/limits.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { comparedFields } from '../../shared/row-fields.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { LOCAL_FLAGS } from '../../shared/row-host.ts';
import type { Fields } from '../../shared/rows.ts';
import type { ScoringOptions } from '../../shared/scoring-flags.ts';
import { ROW_WORKER_FLAGS } from '../../shared/worker.ts';

export const compareSyntax: CommandSyntax = {
  json: 'a row: `CompareResponse`, with `line` and `id`',
  usage: ['compare FILE.jsonl [flags]', 'compare - [flags]        (rows from standard input)'],
  flags: [
    { name: 'judge', kind: 'text', value: 'JUDGE', help: 'The judge, by its name in the Worker or in --backends.' },
    {
      name: 'judgments',
      kind: 'text',
      value: 'use|only|skip',
      help: 'use: stored judgments, else judge; only: stored judgments only; skip: do not judge.',
    },
    { name: 'opponents', kind: 'text', value: 'N', help: 'How many others each answer meets (default all up to 6).' },
    { name: 'json', kind: 'switch', help: 'Print one JSON result a line, with its line and id, instead of the table.' },
    MAP_FLAG,
    ...LOCAL_FLAGS,
    ...ROW_WORKER_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/compare, and optionally id and note: a question and two or more',
    'responses, such as those of several models in the same order in every row. Flags win over the row.',
    'Exit code: 0 all rows done, 1 some lines invalid or answers without a win rate, 2 wrong command line.',
  ],
};

/** Returns a function that sets the fields of the flags in a row, and the names of these fields. @throws UsageError */
export function readComparedFields(flags: Flags): {
  readonly apply: (fields: Fields) => Fields;
  readonly names: ReadonlySet<string>;
  readonly judging: Pick<ScoringOptions, 'judge' | 'judgments'>;
} {
  const opponents = flags.count('opponents', { min: 1, max: MAX_COMPARED - 1 });
  const judging = { judge: flags.text('judge'), judgments: flags.choice('judgments', ['use', 'only', 'skip']) };
  return {
    judging,
    apply: (fields) => {
      const { schedule } = fields;
      return {
        ...comparedFields(fields, judging),
        ...(opponents === null ? {} : { schedule: { ...(isJsonObject(schedule) ? schedule : {}), opponents } }),
      };
    },
    names: new Set([...Object.keys(comparedFields({}, judging)), ...(opponents === null ? [] : ['schedule'])]),
  };
}
