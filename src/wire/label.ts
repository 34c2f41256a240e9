/**
 * The label of trainers that send a prompt, a response and one field of the row: it carries what a recipe reads beside
 * them. An object, or the JSON text of one, with the names of `POST /v1/score`. It is strict, as a typo in a weight must
 * not pass silently; the envelopes around it are not, as trainers send extras.
 */
import * as z from 'zod';
import type { Family } from '../families/recipes.ts';
import type { Rollout } from '../family/rollout.ts';
import {
  hasNotBothOrigins,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  responseFields,
  rolloutOf,
  sharedFields,
} from '../family/rollout-schema.ts';
import { type InputProblem, problemsOfIssues } from '../input-problem.ts';

const { response: _response, ...sampleFields } = responseFields;

const labelFields = { ...sharedFields, ...sampleFields };

export const labelSchema = z
  .strictObject(labelFields)
  .refine(hasNotBothOrigins, oneOriginRule)
  .meta(NOT_BOTH_ORIGINS)
  .describe('What the recipe reads beside prompt and response. Also as JSON text.');

export type Label = z.infer<typeof labelSchema>;

/** The names of a label's fields. */
export const LABEL_FIELD_NAMES: readonly string[] = Object.keys(labelFields);

export type LabelReading =
  | { readonly ok: true; readonly label: Label; readonly path: InputProblem['path'] }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/**
 * Reads the label of a row: an object, its JSON text, a list with one of either, or nothing at all. For families that
 * have a right answer, a text that is no JSON object is that answer.
 *
 * @param path where the label stands in the request.
 */
export function readLabel(value: unknown, family: Family, path: InputProblem['path']): LabelReading {
  if (Array.isArray(value)) {
    const [only] = value;
    if (value.length === 1 && !Array.isArray(only)) return readLabel(only, family, [...path, 0]);
    return { ok: false, problems: [{ path, message: 'expected an object, or a list with one' }] };
  }
  // What trainers send where the data set has no label.
  if (value === undefined || value === null || value === '') return { ok: true, label: {}, path };
  const fields = typeof value === 'string' ? objectOf(value) : value;
  if (fields === null) {
    if (typeof value === 'string' && hasReference(family)) return readLabel({ reference: value }, family, path);
    return { ok: false, problems: [{ path, message: 'expected an object, or the JSON text of one' }] };
  }
  const parsed = labelSchema.safeParse(fields);
  if (parsed.success) return { ok: true, label: parsed.data, path };
  return { ok: false, problems: problemsOfIssues(parsed.error.issues, fields, path) };
}

function hasReference(family: Family): boolean {
  return family === 'long-trace' || family === 'tool-call';
}

/** The object that a JSON text holds; `null` for any other text. */
function objectOf(text: string): object | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The rollout of a row. @param asked the prompt as a question, where the label has none of its own. */
export function labelledRollout(label: Label, response: string, asked: string | undefined): Rollout {
  return rolloutOf({ ...(asked === undefined ? {} : { question: asked }), ...label, response });
}
