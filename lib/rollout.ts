/** Rollouts as callers of the library give them: a response, or the messages of a conversation. */
import type { AnswerFormatName } from '../src/citations/formats/names.ts';
import { requestedAnswer } from '../src/citations/formats/requested-answer.ts';
import type { Rollout as ScoredRollout } from '../src/family/rollout.ts';
import { type InputProblem, typeName } from '../src/input-problem.ts';
import { isJsonObject } from '../src/json.ts';
import type { Result } from '../src/result.ts';
import { derivedFields } from '../src/trajectory/final-turns.ts';
import { type Messages, readMessages, type TrajectoryOptions } from '../src/trajectory/rollout-messages.ts';

type Shared = Omit<ScoredRollout, 'response' | 'messages' | 'trajectory'>;

/**
 * The input of a score: what the policy wrote, the sources that it could cite, and what the recipe reads about the
 * question. What the policy wrote is `response`, or `messages` with its tool calls and results, from which the response,
 * the sources and the turns are read, or `cited_answer`, an answer as its vendor sent it.
 */
export type Rollout =
  | (Shared & { readonly response: string; readonly messages?: never; readonly trajectory?: never })
  | (Shared & { readonly messages: Messages; readonly trajectory?: TrajectoryOptions; readonly response?: never })
  | (Shared & {
      readonly cited_answer: unknown;
      readonly answer_format?: AnswerFormatName;
      readonly response?: never;
      readonly messages?: never;
      readonly trajectory?: never;
    });

const TEXTS = ['question', 'response', 'tool_output', 'reasoning', 'reference'];
const LISTS_OF_TEXTS = ['entities', 'entity_rubrics'];
/** Lists of objects, and the texts that each object must have. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  sources: ['id', 'text'],
  positive_rubrics: ['description'],
  negative_rubrics: ['description'],
  rubrics: ['description'],
};

/** Optional fields. Rows of data sets have null in columns without a value, which is the same as an absent field. */
const OPTIONAL = ['reasoning', 'reference', 'tool_output', ...LISTS_OF_TEXTS, ...Object.keys(LISTS)];

function withoutNulls<R extends object>(rollout: R): R {
  const isNull = (field: string): boolean => Reflect.get(rollout, field) === null;
  if (!OPTIONAL.some(isNull)) return rollout;
  const given = { ...rollout };
  for (const field of OPTIONAL.filter(isNull)) Reflect.deleteProperty(given, field);
  return given;
}

/** The first field of another type than `Rollout` says: callers in JavaScript have no types. An absent field is none. */
function misshapenField(rollout: object): InputProblem | null {
  const wrong = (path: InputProblem['path'], expected: string, value: unknown): InputProblem => ({
    path,
    message: value === undefined ? `required: ${expected}` : `expected ${expected}, got ${typeName(value)}`,
  });
  for (const [field, value] of Object.entries(rollout)) {
    if (value === undefined) continue;
    const names = Object.hasOwn(LISTS, field) ? LISTS[field] : undefined;
    if (TEXTS.includes(field) && typeof value !== 'string') return wrong([field], 'a string', value);
    const isList = names !== undefined || LISTS_OF_TEXTS.includes(field);
    if (!isList) continue;
    if (!Array.isArray(value)) return wrong([field], 'an array', value);
    for (const [at, element] of value.entries()) {
      if (names === undefined && typeof element !== 'string') return wrong([field, at], 'a string', element);
      if (names === undefined) continue;
      if (!isJsonObject(element)) return wrong([field, at], `an object with ${names.join(' and ')}`, element);
      const { title, weight } = element;
      const name = names.find((one) => typeof element[one] !== 'string');
      if (name !== undefined) return wrong([field, at, name], 'a string', element[name]);
      if (title !== undefined && typeof title !== 'string') return wrong([field, at, 'title'], 'a string', title);
      if (weight !== undefined && typeof weight !== 'number') return wrong([field, at, 'weight'], 'a number', weight);
    }
  }
  return null;
}

/** Reads the messages of a rollout. The fields that the rollout gives win over what its messages say. */
export function readRollout(written: Rollout): Result<ScoredRollout, readonly InputProblem[]> {
  const rollout = withoutNulls(written);
  const misshapen = misshapenField(rollout);
  if (misshapen !== null) return { ok: false, error: [misshapen] };
  const { response, messages, trajectory, ...shared } = rollout;
  const { cited_answer } = shared;
  if (cited_answer !== undefined && response === undefined) {
    return messages === undefined ? readAnswer(rollout, cited_answer) : problem('response', ONE_OUTPUT);
  }
  if (cited_answer === undefined && rollout.answer_format !== undefined) return problem('answer_format', NO_ANSWER);
  if (messages === undefined || response !== undefined) {
    if (messages !== undefined || response === undefined) return problem('response', ONE_OUTPUT);
    return trajectory === undefined ? { ok: true, value: { ...shared, response } } : problem('trajectory', NO_MESSAGES);
  }
  // A copy, because readings are kept by list, and the caller may change theirs.
  const list = typeof messages === 'string' ? messages : [...messages];
  const conversation = { messages: list, ...(trajectory === undefined ? {} : { trajectory }) };
  const read = readMessages(conversation);
  return read.ok ? { ok: true, value: { ...derivedFields(read.value), ...shared, ...conversation } } : read;
}

/** Converts an answer as its vendor sent it. Its own texts are the sources if the rollout gives none. */
function readAnswer(rollout: Rollout, cited_answer: unknown): Result<ScoredRollout, readonly InputProblem[]> {
  const { response: _response, messages: _messages, trajectory, ...shared } = rollout;
  if (trajectory !== undefined) return problem('trajectory', NO_MESSAGES);
  const fields = { ...shared, cited_answer };
  const answer = requestedAnswer(fields);
  if (answer === null) throw new Error('readAnswer: no cited_answer');
  if (!answer.ok) return answer;
  const { response, sources } = answer.value;
  return { ok: true, value: { ...(sources === null ? {} : { sources }), ...fields, response } };
}

const ONE_OUTPUT = 'give exactly one of response (a string), messages and cited_answer';
const NO_ANSWER = 'only with cited_answer: it names the format of that answer';
const NO_MESSAGES = 'only with messages: it says how they are read';

function problem(field: string, message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path: [field], message }] };
}
