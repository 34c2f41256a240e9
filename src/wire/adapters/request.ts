/** The query of the adapters' routes: a trainer's URL is the one place where a user can say how to score. */
import * as z from 'zod';
import type { Family } from '../../families/recipes.ts';
import { RECIPE_NAMES } from '../../families/resolve.ts';
import type { Rollout } from '../../family/rollout.ts';
import {
  hasNotBothOrigins,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  responseFields,
  rolloutOf,
  sharedFields,
} from '../../family/rollout-schema.ts';
import { type InputProblem, problemsOfIssues } from '../../input-problem.ts';
import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../limits.ts';
import { runIdSchema } from '../../runs/placement.ts';

const recipeNameSchema = z.enum(RECIPE_NAMES).describe('Name of a recipe (GET /v1/recipes).');

export const adapterQuerySchema = z.strictObject({
  recipe: recipeNameSchema,
  run: runIdSchema
    .exactOptional()
    .describe(
      'Names the run: everything that the family measures is measured and recorded, and the reply says as which group ' +
        'and sample.',
    ),
  judge: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured judge.'),
});

export type AdapterQuery = z.infer<typeof adapterQuerySchema>;

export const slimeQuerySchema = adapterQuerySchema.extend({
  reply: z.enum(['number', 'object']).default('number').describe('object: for --reward-key.'),
});

/** The request itself says how to combine the parts; the recipe only names the family. */
export const longTraceRlQuerySchema = adapterQuerySchema.extend({
  recipe: recipeNameSchema.default('longtrace-rl'),
});

const textSchema = z.string().max(MAX_TEXT_CHARS);

const partSchema = z.looseObject({ text: textSchema.nullish() });

/** Only text is read; other parts and fields pass. */
const chatMessageSchema = z.looseObject({
  role: z.string().nullish(),
  content: z.union([textSchema, z.array(partSchema)]).nullish(),
});

export const promptSchema = z
  .union([textSchema, z.array(chatMessageSchema)])
  .describe('A text, or chat messages of which the last of the user is the question.');

export type Prompt = z.infer<typeof promptSchema>;

/** What the prompt asks: the text, or that of the last user message; `undefined` where there is none. */
export function questionOf(prompt: Prompt): string | undefined {
  const text = typeof prompt === 'string' ? prompt : lastUserText(prompt);
  return text === '' ? undefined : text;
}

function lastUserText(messages: Exclude<Prompt, string>): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return typeof content === 'string' ? content : content.flatMap(({ text }) => text ?? []).join('\n');
}

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
