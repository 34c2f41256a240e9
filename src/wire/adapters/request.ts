/**
 * The parts that requests of trainers share: the query, the prompt, and the label. The query carries the scoring
 * options, because the URL is the only setting that trainers expose.
 */

import * as z from 'zod';
import type { AnswerFormatName } from '../../citations/formats/names.ts';
import { requestedAnswer } from '../../citations/formats/requested-answer.ts';
import { type FamilyName, RECIPE_NAMES } from '../../families/composers.ts';
import { familyOf } from '../../families/registry.ts';
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
import { parsedJson } from '../../json.ts';
import { MAX_NAME_CHARS, MAX_PANEL_MEMBERS, MAX_TEXT_CHARS } from '../../limits.ts';
import type { Result } from '../../result.ts';
import { outcomeFields, type RolloutOutcome } from '../../runs/rollout-counts.ts';
import { runIdSchema } from '../../runs/row.ts';
import { readMessages } from '../../trajectory/rollout-messages.ts';
import { deadlineParameter, hasOneWayOfJudging, oneWayOfJudging, panelSchema } from '../score.ts';
import { groupSizeSchema, labelRunSchema } from './run-place.ts';

const recipeNameSchema = z.enum(RECIPE_NAMES).describe('Name of a recipe (GET /v1/recipes).');

/** A member in a query: `qwen`, or `qwen#1` for the replicate 1 (in a URL `qwen%231`). */
function memberOfText(text: string): z.input<typeof panelSchema>['members'][number] {
  const [, judge = text, replicate] = /^(.+)#(\d{1,9})$/.exec(text) ?? [];
  return replicate === undefined ? judge : { judge, replicate: Number(replicate) };
}

const judgesParameter = z
  .string()
  .max(MAX_PANEL_MEMBERS * (MAX_NAME_CHARS + 12))
  .transform((text) => ({ members: text.split(',').map(memberOfText) }))
  .pipe(panelSchema)
  .meta({
    pattern: `^[^,]+(?:,[^,]+){1,${MAX_PANEL_MEMBERS - 1}}$`,
    description:
      'Several judges whose votes decide each verdict, such as `qwen,llama,qwen%231`: names, or name#replicate.',
  });

export const adapterQueryFields = z.strictObject({
  recipe: recipeNameSchema,
  run: runIdSchema
    .exactOptional()
    .describe(
      'Names the run that records the sample. Everything that the family measures is measured, and the reply has the ' +
        'group and the sample.',
    ),
  group_size: groupSizeSchema.exactOptional(),
  judge: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured judge.'),
  judges: judgesParameter.exactOptional(),
  deadline_s: deadlineParameter.exactOptional(),
  store_reasons: z
    .literal('true')
    .exactOptional()
    .describe("Keeps the judge's reasons for 30 days, and with run until the run is deleted."),
});

export const adapterQuerySchema = adapterQueryFields.refine(hasOneWayOfJudging, oneWayOfJudging);

export type AdapterQuery = z.infer<typeof adapterQuerySchema>;

export const slimeQuerySchema = adapterQueryFields
  .extend({
    reply: z
      .enum(['number', 'object'])
      .default('number')
      .describe('number: the reward alone. object: a flat object, for --reward-key.'),
  })
  .refine(hasOneWayOfJudging, oneWayOfJudging);

/** The request itself determines the formula; the recipe only selects the family. */
export const longTraceRlQuerySchema = adapterQueryFields
  .extend({
    recipe: recipeNameSchema
      .exactOptional()
      .describe('Default: longtrace-rl for LongTraceRL, carr-0.3-normal-rop for CaRR.'),
  })
  .refine(hasOneWayOfJudging, oneWayOfJudging);

const textSchema = z.string().max(MAX_TEXT_CHARS);

const partSchema = z.looseObject({ text: textSchema.nullish() });

/** Schema of one chat message. Only its text is read; other parts and fields pass unread. */
export const chatMessageSchema = z.looseObject({
  role: z.string().nullish(),
  content: z.union([textSchema, z.array(partSchema)]).nullish(),
});

export const promptSchema = z
  .union([textSchema, z.array(chatMessageSchema)])
  .describe('A text, or chat messages; the last user message is the question.');

type Prompt = z.infer<typeof promptSchema>;

/** The question of a prompt: the text, or the text of the last user message; `undefined` if there is none. */
export function questionOf(prompt: Prompt): string | undefined {
  const text = typeof prompt === 'string' ? prompt : lastUserText(prompt);
  return text === '' ? undefined : text;
}

function lastUserText(messages: Exclude<Prompt, string>): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return last === undefined ? '' : textOfMessage(last);
}

/** The text of a chat message; other parts are left out. */
export function textOfMessage({ content }: z.infer<typeof chatMessageSchema>): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => text ?? []).join('\n');
}

const {
  response: _response,
  messages: _messages,
  cited_answer: citedAnswerSchema,
  answer_format,
  ...sampleFields
} = responseFields;

const labelFields = {
  ...sharedFields,
  ...sampleFields,
  answer_format: answer_format.describe(
    'The response is the answer of a vendor in this format, as POST /v1/score takes it in cited_answer: Markdown as it ' +
      'is, the other formats as the text of their JSON.',
  ),
};

/**
 * The label of a row, with the field names of `POST /v1/score`. Unlike the request around it, it refuses unknown
 * fields.
 */
export const labelSchema = z
  .strictObject({ ...labelFields, ...outcomeFields, run: labelRunSchema.exactOptional() })
  .refine(hasNotBothOrigins, oneOriginRule)
  .meta(NOT_BOTH_ORIGINS)
  .describe('What the recipe reads besides prompt and response. An object, or its JSON text.');

type Label = z.infer<typeof labelSchema>;

/**
 * Names of the label's fields that a recipe reads and that rows can have at their top level. `trajectory` is a name that
 * others use too.
 */
export const LABEL_FIELD_NAMES: readonly string[] = Object.keys(labelFields).filter((name) => name !== 'trajectory');

/** A label and its path in the request, for problems. */
type PlacedLabel = { readonly label: Label; readonly path: InputProblem['path'] };

/**
 * Reads the label of a row: an object, its JSON text, a list with one of either, or nothing. For families with a
 * reference answer, a text that is not a JSON object is that answer.
 *
 * @param path path of the label in the request, for problems.
 */
export function readLabel(
  value: unknown,
  family: FamilyName,
  path: InputProblem['path'],
): Result<PlacedLabel, readonly InputProblem[]> {
  if (Array.isArray(value)) {
    const [only] = value;
    if (value.length === 1 && !Array.isArray(only)) return readLabel(only, family, [...path, 0]);
    return { ok: false, error: [{ path, message: 'expected an object, or a list with one' }] };
  }
  // Trainers send one of these if the data set has no label.
  if (value === undefined || value === null || value === '') return { ok: true, value: { label: {}, path } };
  const fields = typeof value === 'string' ? objectOf(value) : value;
  if (fields === null) {
    if (typeof value === 'string' && familyOf({ family }).hasReference) {
      return readLabel({ reference: value }, family, path);
    }
    return { ok: false, error: [{ path, message: 'expected an object, or the JSON text of one' }] };
  }
  const parsed = labelSchema.safeParse(fields);
  if (parsed.success) return { ok: true, value: { label: parsed.data, path } };
  return { ok: false, error: problemsOfIssues(parsed.error.issues, fields, path) };
}

/** Parses a JSON object; `null` for any other text. */
function objectOf(text: string): object | null {
  if (!text.trimStart().startsWith('{')) return null;
  const value = parsedJson(text);
  return typeof value === 'object' ? value : null;
}

/** What the policy wrote: a text, or a conversation that has been read without problems. */
export type PolicyOutput = { readonly response: string } | { readonly messages: Readonly<Record<string, unknown>>[] };

/**
 * Builds the rollout of a row. A text is a transcript if the label names its markup.
 * @param asked the prompt as a question, used if the label has no question.
 */
export function labelledRollout(
  label: Label,
  output: PolicyOutput,
  asked: string | undefined,
): Result<Rollout, readonly InputProblem[]> {
  const { trajectory, run: _run, outcome: _outcome, metrics: _metrics, answer_format, ...fields } = label;
  const question = asked === undefined ? {} : { question: asked };
  if (answer_format !== undefined) {
    const isText = 'response' in output && trajectory === undefined;
    return isText
      ? citedRollout({ ...question, ...fields, answer_format }, output.response)
      : { ok: false, error: [{ path: ['answer_format'], message: 'only with a response that is one text' }] };
  }
  const isTranscript = trajectory?.markup !== undefined;
  if ('response' in output && !isTranscript)
    return { ok: true, value: rolloutOf({ ...question, ...fields, ...output }) };
  const messages = 'response' in output ? output.response : output.messages;
  const conversation = { messages, ...(trajectory === undefined ? {} : { trajectory }) };
  const read = readMessages(conversation);
  return read.ok ? { ok: true, value: rolloutOf({ ...question, ...fields, ...conversation }) } : read;
}

type CitedFields = Omit<Label, 'run' | 'trajectory' | keyof RolloutOutcome> & {
  readonly answer_format: AnswerFormatName;
};

/** Builds the rollout of a row whose response is the answer of a vendor. */
function citedRollout(fields: CitedFields, response: string): Result<Rollout, readonly InputProblem[]> {
  const isMarkdown = fields.answer_format === 'markdown';
  const { data: cited_answer } = citedAnswerSchema.safeParse(isMarkdown ? response : parsedJson(response));
  if (cited_answer === undefined) {
    const message = `expected the text of the JSON of an answer, because answer_format is ${fields.answer_format}`;
    return { ok: false, error: [{ path: ['response'], message }] };
  }
  const cited = { ...fields, cited_answer };
  const reading = requestedAnswer(cited);
  if (reading !== null && !reading.ok) return reading;
  return { ok: true, value: rolloutOf(cited) };
}
