/** `citeward rubrics convert`: rows of open-instruct's and dr-tulu's data sets as rows of Citeward, and back. */
import type { Result } from '../../../src/result.ts';
import type { RowLine } from '../../../src/wire/rows/row-line.ts';
import { citewardRowOf, TRAINERS, type Trainer, trainingRowOf } from '../../../src/wire/training-rows.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { countOf } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { MAP_FLAG, openRows } from '../../shared/row-files/open-rows.ts';
import { type Fields, type LineProblem, lineFields, lineProblem, problemTexts } from '../../shared/rows.ts';
import { Screen } from '../../shared/screen.ts';

const TARGETS = ['citeward', ...TRAINERS] as const;

const syntax: CommandSyntax = {
  usage: [
    'rubrics convert DATASET.jsonl --to citeward      (rows of Citeward, to make or edit criteria)',
    'rubrics convert DATASET.jsonl --to dr-tulu       (rows of the trainer)',
  ],
  flags: [
    {
      ...{ name: 'to', kind: 'text', value: 'TRAINER', values: TARGETS },
      help: `Whose rows are printed: ${TARGETS.join(', ')}.`,
    },
    { name: 'dry-run', kind: 'switch', help: 'Check the rows and print none.' },
    MAP_FLAG,
  ],
  details: [
    "A trainer's row has the column ground_truth: the JSON text of {query, rubrics}, or a list that begins",
    'with one. Its row of Citeward has question, rubrics with signed weights, and training_row, the whole',
    'row; converted back without an edit, it is the row that it was. Criteria that were added get the type',
    'persistent. The trainers differ in how rubrics_types calls evolving criteria.',
    'Exit code: 0 all rows converted, 1 some lines invalid, 2 wrong command line.',
  ],
};

export const convertCommand: Command = { ...syntax, run };

async function run(flags: Flags): Promise<number> {
  const target = flags.choice('to', TARGETS);
  if (target === null) throw new UsageError(`say whose rows to print: --to ${TARGETS.join('|')}`);
  const isDry = flags.isOn('dry-run');
  const screen = new Screen(flags);
  const input = await openRows(flags, 'rubrics convert examples/training-rows.jsonl --to citeward');
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  const counts = { rows: 0, bad: 0 };
  for await (const line of input.lines) {
    const converted = convertedLine(line, target);
    counts.rows++;
    progress.advance(counts.rows, line.bytesRead);
    if (!converted.ok) {
      counts.bad++;
      for (const text of problemTexts(line.number, converted.error, input.unit)) screen.message(text, 'red');
      continue;
    }
    if (!isDry) await screen.result(JSON.stringify(converted.value));
  }
  progress.clear();
  const { rows, bad } = counts;
  if (rows === 0) throw new RunError('the input has no rows');
  const done = `${countOf(rows - bad, 'row')}${isDry ? ' would be' : ''} converted to ${target}`;
  screen.message(`${done} · ${countOf(bad, 'bad line')}`, 'bold');
  return bad > 0 ? EXIT_INCOMPLETE : EXIT_OK;
}

function convertedLine({ content }: RowLine, target: 'citeward' | Trainer): Result<Fields, readonly LineProblem[]> {
  const fields = lineFields(content);
  if (!fields.ok) return { ok: false, error: [fields.error] };
  const converted = target === 'citeward' ? citewardRowOf(fields.value) : trainingRowOf(fields.value, target);
  return converted.ok ? converted : { ok: false, error: converted.error.map(lineProblem) };
}
