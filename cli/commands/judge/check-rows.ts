/**
 * Reads the rows of `citeward judge check`: rollouts as for `citeward score`, and labelled claims. A file may hold
 * both.
 */
import * as z from 'zod';
import { textSchema } from '../../../src/family/rollout-schema.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_NAME_CHARS } from '../../../src/limits.ts';
import { type ScoreRequest, scoreRequestSchema } from '../../../src/wire/score.ts';
import type { Line } from '../../shared/lines.ts';
import { type Fields, type LineProblem, lineProblem, readRow } from '../../shared/rows.ts';
import { DEFAULT_RECIPE } from '../../shared/scoring-flags.ts';

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

const anyFields = z.record(z.string(), z.unknown());

/** Reads one line. A row with a field of labelled claims is a labelled claim. */
export function readCheckRow(line: Line): ReadCheckRow {
  const read = readRow(line, anyFields, (fields) => fields);
  if (!read.ok) return read;
  const fields = read.row.request;
  if (['claim', 'evidence', 'label'].some((name) => Object.hasOwn(fields, name))) {
    const parsed = labelledClaimSchema.safeParse(fields);
    return parsed.success ? { ok: true, row: { kind: 'claim', claim: parsed.data } } : refused(parsed.error, fields);
  }
  // The recipe decides which criteria there are, and which answer block counts.
  const withRecipe = { recipe: DEFAULT_RECIPE, ...fields };
  const parsed = scoreRequestSchema.safeParse(withRecipe);
  return parsed.success
    ? { ok: true, row: { kind: 'rollout', request: parsed.data } }
    : refused(parsed.error, withRecipe);
}

function refused(error: z.ZodError, fields: Fields): ReadCheckRow {
  return { ok: false, problems: problemsOfIssues(error.issues, fields).map(lineProblem) };
}
