/**
 * Reads a line of input as a row: parses JSON, separates the labels `id` and `note`, and validates the other fields as
 * a request. A problem names the field and what is expected, in the words of the Worker.
 */

import * as z from 'zod';
import { type InputProblem, pathText, problemsOfIssues, UNKNOWN_FIELD } from '../../src/input-problem.ts';
import type { Result } from '../../src/result.ts';
import { nearestName } from '../../src/text/nearest-name.ts';
import { parseJsonValue } from '../../src/wire/absent-fields.ts';
import { cellProblems, withReadAnswer, withSourceTexts } from '../../src/wire/rows/columns.ts';
import { type RowLine, recordOfLine } from '../../src/wire/rows/row-line.ts';
import type { Input } from './input.ts';

/** The members of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Labels of a row for its reader. They are shown and never sent. */
export type Labels = { readonly id: string | number | null; readonly note: string | null };

/**
 * The label in which `rubrics convert` keeps the row of a trainer's data set. It is never sent.
 */
const TRAINING_ROW: ReadonlySet<string> = new Set(['training_row']);

/** One problem of a line; `field` is `null` if it concerns the whole line. */
export type LineProblem = { readonly field: string | null; readonly message: string };

export type Row<R> = { readonly line: number; readonly labels: Labels; readonly request: R };

export type RowResult<R> = Result<Row<R>, readonly LineProblem[]>;

const labelsSchema = z.strictObject({
  id: z.union([z.string(), z.number()]).nullish(),
  note: z.string().nullish(),
});

/**
 * Reads one line.
 * @param prepare changes the fields before validation: adds those of flags, removes those the command does not read.
 */
export function readRow<S extends z.ZodType>(
  line: RowLine,
  schema: S,
  prepare: (fields: Fields) => Fields,
): RowResult<z.output<S>> {
  const refused = (problems: readonly LineProblem[]) => ({ ok: false, error: problems }) as const;
  const read = lineFields(line.content);
  if (!read.ok) return refused([read.error]);
  const { id, note, ...rest } = read.value;
  const unread = cellProblems(rest);
  if (unread.length > 0) return refused(unread);
  const labels = labelsSchema.safeParse({ id, note });
  const fields = withoutFields(prepare(withSourceTexts(withReadAnswer(rest))), TRAINING_ROW);
  const request = parseJsonValue(schema, fields);
  if (labels.success && request.success) {
    const { id: shownId = null, note: shownNote = null } = labels.data;
    return {
      ok: true,
      value: { line: line.number, labels: { id: shownId, note: shownNote }, request: request.data },
    };
  }
  return refused([
    ...(labels.success ? [] : problemsOfIssues(labels.error.issues, { id, note })).map(lineProblem),
    ...(request.success ? [] : fieldProblems(schema, request.error, fields)),
  ]);
}

/** The problems of a row's fields; an unknown field is named with the field that was probably meant. */
export function fieldProblems(schema: z.ZodType, error: z.ZodError, fields: unknown): LineProblem[] {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return problemsOfIssues(error.issues, fields).map((problem) => {
    const [name] = problem.path;
    if (problem.message !== UNKNOWN_FIELD || problem.path.length !== 1) return lineProblem(problem);
    const near = nearestName(String(name), known);
    return lineProblem(near === null ? problem : { ...problem, message: `${UNKNOWN_FIELD}; did you mean ${near}?` });
  });
}

/** Parses a line that must hold a JSON object. */
export function lineFields(content: RowLine['content']): Result<Fields, LineProblem> {
  const read = recordOfLine(content);
  return read.ok ? read : { ok: false, error: { field: null, message: read.error } };
}

export function lineProblem({ path, message }: InputProblem): LineProblem {
  return { field: path.length === 0 ? null : pathText(path), message };
}

/** Problems of one line that are printed; the others are counted. */
const MAX_PROBLEMS_SHOWN = 8;

/** `line 4: recpie: unknown field`, one text for each problem. @param unit what the number counts. */
export function problemTexts(line: number, problems: readonly LineProblem[], unit: Input['unit'] = 'line'): string[] {
  const texts = problems
    .slice(0, MAX_PROBLEMS_SHOWN)
    .map(({ field, message }) => `${unit} ${line}: ${field === null ? '' : `${field}: `}${message}`);
  const more = problems.length - MAX_PROBLEMS_SHOWN;
  return more > 0 ? [...texts, `${unit} ${line}: and ${more} more`] : texts;
}

/** The fields without those named in `left`. */
export function withoutFields(fields: Fields, left: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !left.has(name)));
}
