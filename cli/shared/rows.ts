/**
 * From a line to a row: JSON, the labels `id` and `note` taken off, the rest validated as a request. What is wrong is
 * said by field, with what was expected, in the words of the Worker.
 */
import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../src/input-problem.ts';
import { MAX_BODY_BYTES } from '../../src/limits.ts';
import type { Line } from './lines.ts';

/** What the user calls a row. Shown, never sent. */
export type Labels = { readonly id: string | number | null; readonly note: string | null };

/** One thing wrong with a line; `field` is `null` where it concerns the whole line. */
export type LineProblem = { readonly field: string | null; readonly message: string };

export type Row<R> = { readonly line: number; readonly labels: Labels; readonly request: R };

export type RowResult<R> =
  | { readonly ok: true; readonly row: Row<R> }
  | { readonly ok: false; readonly line: number; readonly problems: readonly LineProblem[] };

const labelsSchema = z.strictObject({
  id: z.union([z.string(), z.number()]).nullish(),
  note: z.string().nullish(),
});

/** The members of a parsed JSON object by name. */
function asFields(value: object): Readonly<Record<string, unknown>> {
  return { ...value };
}

/**
 * Reads one line.
 * @param prepare last changes to the fields before validation: what flags say, what the command does not read.
 */
export function readRow<S extends z.ZodType>(
  line: Line,
  schema: S,
  prepare: (fields: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): RowResult<z.output<S>> {
  const refused = (problems: readonly LineProblem[]): RowResult<z.output<S>> => ({
    ok: false,
    line: line.number,
    problems,
  });
  const read = lineFields(line.content);
  if (!read.ok) return refused([read.problem]);
  const { id, note, ...rest } = read.fields;
  const labels = labelsSchema.safeParse({ id, note });
  const fields = prepare(rest);
  const request = schema.safeParse(fields);
  if (!labels.success || !request.success) {
    return refused([
      ...(labels.success ? [] : describe(labels.error.issues, { id, note })),
      ...(request.success ? [] : describe(request.error.issues, fields)),
    ]);
  }
  return {
    ok: true,
    row: {
      line: line.number,
      labels: { id: labels.data.id ?? null, note: labels.data.note ?? null },
      request: request.data,
    },
  };
}

type LineFields =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: LineProblem };

/** The object that a line holds. */
export function lineFields(content: Line['content']): LineFields {
  const refused = (message: string): LineFields => ({ ok: false, problem: { field: null, message } });
  if (!content.ok) return refused(LINE_PROBLEMS[content.problem]);
  const parsed = parseJson(content.text);
  if (!parsed.ok) return refused(parsed.message);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('expected a JSON object');
  return { ok: true, fields: asFields(value) };
}

const LINE_PROBLEMS = {
  not_utf8: 'not UTF-8',
  too_long: `longer than ${MAX_BODY_BYTES} bytes`,
} as const;

type Json = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

function parseJson(text: string): Json {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // V8 says where at the end of its message; the rest may quote the line, which may be anything.
    const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)?.[1];
    const what = 'expected one JSON object a line; this is not JSON';
    if (position !== undefined) return { ok: false, message: `${what}: wrong from column ${Number(position) + 1}` };
    const ends = error.message.startsWith('Unexpected end');
    return { ok: false, message: ends ? `${what}: it ends too early` : what };
  }
}

function describe(issues: readonly z.core.$ZodIssue[], input: unknown): LineProblem[] {
  return problemsOfIssues(issues, input).map(({ path, message }) => ({
    field: path.length === 0 ? null : pathText(path),
    message,
  }));
}

/** The fields of a row that a command reads, when the row may also hold fields that are there for another command. */
export function withoutFields(
  fields: Readonly<Record<string, unknown>>,
  left: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !left.has(name)));
}
