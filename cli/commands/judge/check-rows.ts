/**
 * Reads the rows of `citeward judge check`: rollouts as for `citeward score`, and labelled rows. A file may hold both.
 */
import * as z from 'zod';
import { LABEL_FORMATS, type LabelledRow, labelFormatOf, readLabelledRow } from '../../../src/labels/labelled-row.ts';
import type { Result } from '../../../src/result.ts';
import type { RowLine } from '../../../src/wire/rows/row-line.ts';
import { type ScoreRequest, scoreRequestSchema } from '../../../src/wire/score.ts';
import { fieldProblems, type LineProblem, lineFields, lineProblem, readRow, withoutFields } from '../../shared/rows.ts';

/** The recipe of rows without one. It is not the default of `citeward score`, so that results can be compared over time. */
const CHECKED_RECIPE = 'refiner-gpt54-instance-rubric';

/** `auto`: each row says by its fields what it is. */
export const ROW_FORMATS = ['auto', ...LABEL_FORMATS, 'rollouts'] as const;
export type CheckFormat = (typeof ROW_FORMATS)[number];

type CheckRow =
  | { readonly kind: 'rollout'; readonly request: ScoreRequest }
  | { readonly kind: 'labelled'; readonly row: LabelledRow };

type ReadCheckRow = Result<CheckRow, readonly LineProblem[]>;

const anyFields = z.record(z.string(), z.unknown());
const NOTE: ReadonlySet<string> = new Set(['note']);

/** Reads one line. */
export function readCheckRow(line: RowLine, asked: CheckFormat): ReadCheckRow {
  const read = lineFields(line.content);
  if (!read.ok) return { ok: false, error: [read.error] };
  const format = asked === 'auto' ? (labelFormatOf(read.value) ?? 'rollouts') : asked;
  if (format === 'rollouts') return readRollout(line);
  const row = readLabelledRow(withoutFields(read.value, NOTE), format);
  return row.ok
    ? { ok: true, value: { kind: 'labelled', row: row.value } }
    : { ok: false, error: row.error.map(lineProblem) };
}

function readRollout(line: RowLine): ReadCheckRow {
  // The recipe decides which criteria there are, and which answer block counts.
  const read = readRow(line, anyFields, (fields) => ({ recipe: CHECKED_RECIPE, ...fields }));
  if (!read.ok) return read;
  const fields = read.value.request;
  const parsed = scoreRequestSchema.safeParse(fields);
  return parsed.success
    ? { ok: true, value: { kind: 'rollout', request: parsed.data } }
    : { ok: false, error: fieldProblems(scoreRequestSchema, parsed.error, fields) };
}
