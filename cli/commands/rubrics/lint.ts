/** `citeward rubrics lint`: faults of the criteria of rows, by their wording and by verdicts on given answers. */
import * as z from 'zod';
import { digestJson } from '../../../src/digest.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_CRITERIA } from '../../../src/limits.ts';
import type { Result } from '../../../src/result.ts';
import { LINT_FINDINGS, type LintFinding, lintCriteria } from '../../../src/rubrics/lint-criteria.ts';
import type { PromptCriterion } from '../../../src/rubrics/rubric-set.ts';
import type { RowLine } from '../../../src/wire/rows/row-line.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_ALERT, EXIT_INCOMPLETE, EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { countOf } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { rowCriteria } from '../../shared/row-fields.ts';
import { MAP_FLAG, openRows } from '../../shared/row-files/open-rows.ts';
import { type LineProblem, lineFields, lineProblem, problemTexts } from '../../shared/rows.ts';
import { Screen } from '../../shared/screen.ts';
import { type Column, resultTable } from '../../shared/table.ts';

const syntax: CommandSyntax = {
  json: 'one object: `rows`, `criteria`, `bad_lines`, `findings`',
  usage: ['rubrics lint FILE.jsonl [flags]', 'rubrics lint - [flags]   (rows from standard input)'],
  flags: [{ name: 'json', kind: 'switch', help: 'Print the findings as one JSON object.' }, MAP_FLAG],
  details: [
    'A row has positive_rubrics and negative_rubrics, or rubrics with signed weights; or it is a line of',
    '`score --json`, whose verdicts also show which criteria pay for every answer (4 or more of a row).',
    'Rows with the same criteria are one row. The checks of wording know English only.',
    'Exit code: 0 no findings, 3 findings, 1 some lines invalid, 2 wrong command line.',
  ],
};

export const lintCommand: Command = { ...syntax, run };

const criterionSchema = z.object({
  description: z.string(),
  polarity: z.enum(['positive', 'negative']).optional(),
  origin: z.enum(['instance', 'static']).optional(),
  weight: z.number().optional(),
  score: z.number().min(0).max(2).nullish(),
});
const criteriaSchema = z.array(criterionSchema).max(MAX_CRITERIA);
type Given = z.infer<typeof criteriaSchema>;

/** The criteria of one or more lines. `line`, `id`: of the first one. */
type LintedRow = {
  readonly line: number;
  readonly id: string | number | null;
  readonly criteria: readonly (PromptCriterion & { readonly scores: number[] })[];
};

async function run(flags: Flags): Promise<number> {
  const screen = new Screen(flags);
  const input = await openRows(flags, 'rubrics lint examples/rollouts.jsonl');
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  const rows = new Map<string, LintedRow>();
  let [lines, bad] = [0, 0];
  for await (const line of input.lines) {
    lines++;
    progress.advance(lines, line.bytesRead);
    const read = criteriaIn(line);
    if (!read.ok) {
      bad++;
      for (const text of problemTexts(line.number, read.error, input.unit)) screen.message(text, 'red');
      continue;
    }
    addRow(rows, read.value.criteria, { line: line.number, id: read.value.id });
  }
  progress.clear();
  if (lines === 0) throw new RunError('the input has no rows');
  const found = [...rows.values()].flatMap((row) => lintCriteria(row.criteria).map((one) => reported(row, one)));
  const criteria = [...rows.values()].reduce((sum, row) => sum + row.criteria.length, 0);
  if (flags.isOn('json')) {
    await screen.result(JSON.stringify({ rows: rows.size, criteria, bad_lines: bad, findings: found }));
  } else {
    const table = resultTable(COLUMNS, screen);
    for (const { line, id, reason, detail, of, description } of found) {
      const why = of === null ? detail : `${detail}: "${of}"`;
      const cells = [String(id ?? `line ${line}`), reason, `"${description}": ${why}`];
      await table.add({ cells: cells.map((text) => ({ text })) });
    }
    await table.end();
  }
  const what = `${countOf(found.length, 'finding')} in ${countOf(criteria, 'criterion', 'criteria')}`;
  screen.message(`${what} of ${countOf(rows.size, 'row')} · ${countOf(bad, 'bad line')}`, 'bold');
  if (bad > 0) return EXIT_INCOMPLETE;
  return found.length > 0 ? EXIT_ALERT : EXIT_OK;
}

const COLUMNS: readonly Column[] = [
  { title: 'row', align: 'left', most: 24 },
  { title: 'finding', align: 'left', most: 18 },
  { title: 'criterion', align: 'left', most: 400 },
];

type ReadLine = Pick<LintedRow, 'id'> & { readonly criteria: Given };

function criteriaIn({ content }: RowLine): Result<ReadLine, readonly LineProblem[]> {
  const fields = lineFields(content);
  if (!fields.ok) return { ok: false, error: [fields.error] };
  const written = rowCriteria(fields.value);
  const read = criteriaSchema.safeParse(written);
  if (!read.success) return { ok: false, error: problemsOfIssues(read.error.issues, written).map(lineProblem) };
  if (read.data.length === 0) return { ok: false, error: [NO_CRITERIA] };
  const { id } = fields.value;
  return {
    ok: true,
    value: { id: typeof id === 'string' || typeof id === 'number' ? id : null, criteria: read.data },
  };
}

const NO_CRITERIA: LineProblem = {
  field: null,
  message: 'no criteria: give positive_rubrics and negative_rubrics, or rubrics',
};

/** Adds the verdicts of a line to the row with its criteria. */
function addRow(rows: Map<string, LintedRow>, given: Given, place: Pick<LintedRow, 'line' | 'id'>): void {
  const own = given
    .filter(({ origin }) => origin !== 'static')
    .map(({ description, polarity, weight = 1, score = null }) => ({
      criterion: { polarity: polarity ?? (weight < 0 ? ('negative' as const) : ('positive' as const)), description },
      score,
    }));
  const key = digestJson(own.map(({ criterion }) => criterion));
  const row: LintedRow = rows.get(key) ?? {
    ...place,
    criteria: own.map(({ criterion }) => ({ ...criterion, scores: [] })),
  };
  rows.set(key, row);
  for (const [position, { score }] of own.entries()) if (score !== null) row.criteria[position]?.scores.push(score);
}

function reported({ line, id, criteria }: LintedRow, { position, reason, of }: LintFinding) {
  const { polarity = 'positive', description = '', scores = [] } = criteria[position] ?? {};
  const criterion = { position, polarity, description, answers: scores.length };
  return { line, id, ...criterion, reason, detail: LINT_FINDINGS[reason], of };
}
