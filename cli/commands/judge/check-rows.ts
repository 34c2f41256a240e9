/**
 * What a line of `citeward judge check` holds: a rollout as `citeward score` takes it, or a claim that people have
 * labelled. Told apart row by row, so that a file may hold both.
 */
import * as z from 'zod';
import { textSchema } from '../../../src/family/rollout-schema.ts';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_NAME_CHARS } from '../../../src/limits.ts';
import { type ScoreRequest, scoreRequestSchema } from '../../../src/wire/score.ts';
import type { Line } from '../../shared/lines.ts';
import { type LineProblem, readRow } from '../../shared/rows.ts';

export const LABELS = ['unsupported', 'partial', 'supported'] as const;

export type ClaimLabel = (typeof LABELS)[number];

const labelledClaimSchema = z.strictObject({
  set: z.string().min(1).max(MAX_NAME_CHARS),
  claim: textSchema.min(1),
  evidence: textSchema.min(1),
  label: z.enum(LABELS),
  edit_types: z.array(z.string()).exactOptional().describe('SummEdits has them; not read.'),
});

export type LabelledClaim = Readonly<z.infer<typeof labelledClaimSchema>>;

type CheckRow =
  | { readonly kind: 'rollout'; readonly request: ScoreRequest }
  | { readonly kind: 'claim'; readonly claim: LabelledClaim };

type ReadCheckRow =
  | { readonly ok: true; readonly row: CheckRow }
  | { readonly ok: false; readonly problems: readonly LineProblem[] };

/** Rows that name no recipe are judged by this one's: which criteria there are, and which answer block counts. */
const DEFAULT_RECIPE = 'refiner-gpt54-instance-rubric';

const anyFields = z.record(z.string(), z.unknown());

/** Reads one line. A row with a field that only labelled claims have is one. */
export function readCheckRow(line: Line): ReadCheckRow {
  const read = readRow(line, anyFields, (fields) => fields);
  if (!read.ok) return read;
  const fields = read.row.request;
  if (['claim', 'evidence', 'label'].some((name) => Object.hasOwn(fields, name))) {
    const parsed = labelledClaimSchema.safeParse(fields);
    return parsed.success ? { ok: true, row: { kind: 'claim', claim: parsed.data } } : refused(parsed.error, fields);
  }
  const withRecipe = { recipe: DEFAULT_RECIPE, ...fields };
  const parsed = scoreRequestSchema.safeParse(withRecipe);
  return parsed.success
    ? { ok: true, row: { kind: 'rollout', request: parsed.data } }
    : refused(parsed.error, withRecipe);
}

function refused(error: z.ZodError, fields: Readonly<Record<string, unknown>>): ReadCheckRow {
  const problems = problemsOfIssues(error.issues, fields).map(({ path, message }) => ({
    field: path.length === 0 ? null : pathText(path),
    message,
  }));
  return { ok: false, problems };
}
