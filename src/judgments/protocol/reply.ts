/**
 * Reads judge replies strictly: exactly the requested entries, each in range, or no verdicts at all. A missing, extra
 * or out-of-range entry is a failure; the reader never fills in, clamps or guesses.
 */
import type * as z from 'zod';
import { parsedJson } from '../../json.ts';
import { dataBlock } from '../../text/untrusted.ts';
import type { JsonSchema } from './prompt.ts';

/** Version of the reply reader, part of each model template. Raise it when the same reply may be read differently. */
const READER_VERSION = 'citeward-reader-2';

export type ReadReply<Verdicts> =
  | {
      readonly ok: true;
      readonly verdicts: Verdicts;
      /** The reason of each entry of the request, in order. Absent: the kind asks for none. */
      readonly reasons?: readonly string[];
    }
  | {
      readonly ok: false;
      /** `not_json`: not one JSON object. `wrong_shape`: entries missing, extra or out of range. */
      readonly problem: 'not_json' | 'wrong_shape';
      /** Names the entries concerned; contains no text of the reply. */
      readonly detail: string;
    };

/** Has each kind of text that a data block replaces, so that a change of the replacement changes the template. */
const REPLACED_TEXT = 'text <tag> ＜tag﹥ <|end|> ｜▁ [INST] [TOOL▁CALLS] [control_8] [|system|] ]~b] [e~[ \0 \ud800';

/**
 * The template source of a kind that models answer: its texts, the reader's version, the form of a data block, and a
 * sample of each reply schema by name.
 */
export function readingTemplate(
  texts: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): object {
  const block = dataBlock('name', '0123456789ab', { key: 'k' }, REPLACED_TEXT);
  return { texts, reader: READER_VERSION, block, ...schemas };
}

/** The verdicts of a reply that matches the schema of its kind. */
export function readAs<Reply, Verdicts>(
  schema: z.ZodType<Reply>,
  reply: unknown,
  verdictsOf: (reply: Reply) => Verdicts,
): ReadReply<Verdicts> {
  const parsed = schema.safeParse(reply);
  return parsed.success ? { ok: true, verdicts: verdictsOf(parsed.data) } : wrongShape(parsed.error);
}

/**
 * Reads the named entries of a reply, each by its own schema: all of them, or why not. A schema of the whole reply says
 * the same, but would be built for each request, which takes ten times as long as reading.
 * @param others what becomes of entries that were not asked for.
 */
export function readEntries<Entry>(
  schemas: readonly (readonly [key: string, schema: z.ZodType<Entry>])[],
  reply: unknown,
  others: 'refused' | 'ignored',
): { readonly ok: true; readonly entries: Readonly<Record<string, Entry>> } | WrongShape {
  if (typeof reply !== 'object' || reply === null || Array.isArray(reply)) {
    return wrongShape({ issues: [{ code: 'invalid_type', path: [] }] });
  }
  const entries: [string, Entry][] = [];
  const issues: Issue[] = [];
  for (const [key, schema] of schemas) {
    const parsed = schema.safeParse(Reflect.get(reply, key));
    if (parsed.success) entries.push([key, parsed.data]);
    else issues.push(...parsed.error.issues.map(({ code, path }) => ({ code, path: [key, ...path] })));
  }
  if (others === 'refused') {
    const asked = new Set(schemas.map(([key]) => key));
    if (Object.keys(reply).some((key) => !asked.has(key))) issues.push({ code: 'unrecognized_keys', path: [] });
  }
  return issues.length === 0 ? { ok: true, entries: Object.fromEntries(entries) } : wrongShape({ issues });
}

/** Returns the entry of a key. The schema has already checked that the entry exists. */
export function entryOf<T>(entries: Readonly<Record<string, T>>, key: string): T {
  const entry = entries[key];
  if (entry === undefined) throw new Error(`readReply: the checked reply has no entry ${key}`);
  return entry;
}

const MAX_ISSUES_NAMED = 5;

type WrongShape = Extract<ReadReply<never>, { ok: false }>;
type Issue = Pick<z.core.$ZodIssue, 'code' | 'path'>;

const SAYS: Readonly<Record<string, string>> = {
  unrecognized_keys: 'entries that were not asked for',
  invalid_type: 'missing, or of another type',
  too_small: 'too few entries',
  too_big: 'too many entries',
};

/** Names the places of the issues, and quotes nothing of the reply. */
export function wrongShape({ issues }: { readonly issues: readonly Issue[] }): WrongShape {
  const named = issues.slice(0, MAX_ISSUES_NAMED).map((issue) => {
    const at = issue.path.join('.') || 'the reply';
    return `${at}: ${SAYS[issue.code] ?? 'none of the allowed values'}`;
  });
  return { ok: false, problem: 'wrong_shape', detail: named.join('; ') };
}

/**
 * Parses one JSON object, alone or in one Markdown fence; `null` for anything else, also if any object repeats a key.
 */
export function parseReply(text: string): unknown {
  let body = text.trim();
  if (body.startsWith('```') && body.endsWith('```') && body.length > 6) {
    const firstLine = body.indexOf('\n');
    if (firstLine === -1) return null;
    body = body.slice(firstLine + 1, -3).trim();
  }
  if (!body.startsWith('{') || !body.endsWith('}')) return null;
  const value = parsedJson(body);
  return value === undefined || hasRepeatedKey(body, value) ? null : value;
}

/** Why `parseReply` finds no object, and what mends it; quotes nothing of the reply. */
export function whyNoObject(text: string): string {
  const body = text.trim();
  if (body === '') return 'the reply is empty';
  if (THOUGHT.test(body)) return THINKS;
  if (!body.includes('{')) return `the reply has no JSON object: ${UNGUIDED}`;
  if (!/^(?:\{|```)/.test(body)) return `the reply has text before its JSON object: ${UNGUIDED}`;
  return `the JSON of the reply breaks off, is malformed, repeats a key or has text behind it: ${UNGUIDED}`;
}

const UNGUIDED = 'the server does not hold the model to the schema (response_format)';

/** Thinking in the text of a reply, as the templates of Qwen, DeepSeek, Mistral, Seed and gpt-oss write it. */
const THOUGHT = /^(?:<think|<thinking|\[THINK\]|<seed:think>|<\|channel\|>analysis)|<\/think>/;
const THINKS =
  'the reply contains thinking: start the server with its reasoning parser, turn thinking off there, or let the recipe ' +
  'allow it ("judge_options": {"thinking": "model_default"})';

/**
 * `JSON.parse` keeps the last of two equal keys, but a judge that scores a criterion twice has not scored it. Every
 * member of every object has one colon outside strings, so a repeated key leaves one colon too many.
 */
function hasRepeatedKey(body: string, value: unknown): boolean {
  let colons = 0;
  for (let i = 0; i < body.length; i++) {
    const unit = body.charAt(i);
    if (unit === '"') {
      i++;
      while (body.charAt(i) !== '"') i += body.charAt(i) === '\\' ? 2 : 1;
    } else if (unit === ':') colons++;
  }
  return colons !== countMembers(value);
}

/** Counts the members of all objects in a JSON value. Iterative: a reply may be nested as deep as it is long. */
function countMembers(value: unknown): number {
  let members = 0;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inside: readonly unknown[] = Object.values(next);
    if (!Array.isArray(next)) members += inside.length;
    for (const one of inside) open.push(one);
  }
  return members;
}
