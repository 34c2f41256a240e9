/**
 * `citeward graders convert`: makes a recipe and criteria of an OpenAI grader object, and of samples the rows that
 * `citeward score` reads.
 */
import * as z from 'zod';
import { type InputProblem, pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import {
  type ConvertedGrader,
  convertGrader,
  type GraderSample,
  rowOfSample,
  templateText,
} from '../../../src/wire/compat/graders/convert.ts';
import { prepareGrader } from '../../../src/wire/compat/graders/prepare.ts';
import { graderValidateSchema } from '../../../src/wire/compat/graders/schema.ts';
import { readTemplate, type TemplatePart } from '../../../src/wire/compat/graders/template.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { readTextFile } from '../../shared/input.ts';
import { countOf } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { MAP_FLAG, openRows } from '../../shared/row-files/open-rows.ts';
import { type Fields, lineProblem } from '../../shared/rows.ts';
import { runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';

const QUESTION = '{{ item.question }}';

const syntax: CommandSyntax = {
  usage: [
    'graders convert --grader GRADER.json                    (prints the recipe and its criteria)',
    'graders convert SAMPLES.jsonl --grader GRADER.json      (prints the samples as rows)',
  ],
  flags: [
    {
      name: 'grader',
      kind: 'text',
      value: 'FILE',
      help: 'The grader object: string_check, score_model, label_model or multi.',
    },
    { name: 'question', kind: 'text', value: 'TEMPLATE', help: `The question of a sample (default "${QUESTION}").` },
    MAP_FLAG,
  ],
  details: [
    'Each grader becomes a criterion, and the formula of a multi grader its weights. What no recipe can',
    'express is refused by its field; what a recipe does otherwise is a note on standard error.',
    'A sample has model_sample, the text, and item, the values of the placeholders. Its row can be scored.',
    'Exit code: 0 all converted, 1 some lines invalid, 2 wrong command line or a refused grader.',
  ],
};

export const convertCommand: Command = { ...syntax, run };

const sampleSchema = z.strictObject({ item: z.unknown().optional(), model_sample: z.string() });

async function run(flags: Flags): Promise<number> {
  const path = flags.text('grader');
  if (path === null) throw new UsageError('no grader: give --grader GRADER.json');
  const converted = await readGrader(path);
  const question = questionOf(flags.text('question') ?? QUESTION);
  const screen = new Screen(flags);
  for (const note of converted.notes) screen.message(`note: ${note}`, 'dim');
  if (flags.positionals.length === 0) {
    await screen.result(JSON.stringify(described(converted), null, 2));
    return EXIT_OK;
  }
  const input = await openRows(flags, 'graders convert samples.jsonl --grader grader.json');
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  let rows = 0;
  let bad = 0;
  await runRows({
    input,
    schema: sampleSchema,
    prepare: (fields) => fields,
    handler: { notices: [], concurrency: 1, handle: async (sample) => rowOutcome(converted, sample, question) },
    concurrency: null,
    screen,
    progress,
    async onFinished({ labels: { id, note }, outcome }) {
      rows++;
      if (outcome.kind !== 'done') {
        bad++;
        return;
      }
      const labels = { ...(id === null ? {} : { id }), ...(note === null ? {} : { note }) };
      await screen.result(JSON.stringify({ ...labels, ...outcome.reply }));
    },
  });
  screen.message(`${countOf(rows - bad, 'row')} · ${countOf(bad, 'bad line')}`, 'bold');
  return bad > 0 ? EXIT_INCOMPLETE : EXIT_OK;
}

/** @throws UsageError if the file holds no grader, or one that no recipe can express. */
async function readGrader(path: string): Promise<ConvertedGrader> {
  const text = await readTextFile(path);
  const grader = parsedJson(text);
  if (grader === undefined) throw new UsageError(`${path} is not JSON`);
  const parsed = graderValidateSchema.safeParse({ grader });
  if (!parsed.success) throw refused(path, problemsOfIssues(parsed.error.issues, { grader }));
  const prepared = prepareGrader(parsed.data.grader);
  if (!prepared.ok) throw refused(path, prepared.error);
  const converted = convertGrader(prepared.value);
  if (!converted.ok) throw refused(path, converted.error);
  return converted.value;
}

function refused(path: string, problems: readonly InputProblem[]): UsageError {
  const texts = problems.map((problem) => `${path}: ${pathText(problem.path)}: ${problem.message}`);
  return new UsageError(texts.join('\n'), 'A grader runs unchanged under /compat/openai: docs/guides/drop-ins.md');
}

/** @throws UsageError for a template that cannot be read. */
function questionOf(text: string): readonly TemplatePart[] {
  const template = readTemplate(text);
  if (!template.ok) throw new UsageError(`--question: ${template.error}`);
  return template.value;
}

function rowOutcome(converted: ConvertedGrader, sample: GraderSample, question: readonly TemplatePart[]) {
  const row = rowOfSample(converted, sample, question);
  return row.ok
    ? ({ kind: 'done', reply: row.value } as const)
    : ({ kind: 'refused', problems: row.error.map(lineProblem) } as const);
}

function described({ recipe, model, criteria }: ConvertedGrader): Fields {
  const texts = criteria.map(({ parts, ...rest }) => ({ ...rest, description: templateText(parts) }));
  return { recipe, model, criteria: texts };
}
