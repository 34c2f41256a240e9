/**
 * Reads tool calls in the Hermes format: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
 *
 * Other models write the element in tags instead: Qwen3-Coder `<function=name><parameter=key>value</parameter></function>`,
 * GLM `name<arg_key>key</arg_key><arg_value>value</arg_value>`.
 *
 * There are two readers. `readToolCallsAsVerl` reproduces verl's rollout loop, which drops malformed calls.
 * `readToolCalls` returns malformed calls with a reason, so that the loop can show it to the model, and reads tags. Source:
 * HermesToolParser of verl, as vendored in Gen-Verse/Open-AgentRL 1fe5dbd2.
 *
 * An element ends at the first closing tag, even inside a JSON string (golden row tcr-s116). A policy that needs the
 * tag inside an argument can escape its slash.
 */
import type { Span } from '../text/span.ts';
import { isPythonObject, type PythonJson, PythonNumber, printPythonJson, readPythonJson } from './python-json.ts';

const OPENING = '<tool_call>';
const CLOSING = '</tool_call>';

/**
 * Why a call is malformed.
 * - `not_json`: the element is not one JSON object, has a number that is not finite, or exceeds the limits of
 *   python-json.ts (depth, integer digits).
 * - `no_name`: `name` is missing, empty or not a string.
 * - `arguments_not_object`: `arguments` is missing or not an object.
 */
export type MalformedCallReason = 'not_json' | 'no_name' | 'arguments_not_object';

/** A well-formed call. */
export type ToolCall = {
  readonly ok: true;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Place of the element with its tags, in UTF-16 code units. */
  readonly span: Span;
};

/** A call that cannot be run. */
export type MalformedCall = { readonly ok: false; readonly reason: MalformedCallReason; readonly span: Span };

/** An assistant message, split into text and calls. */
type ToolCallText = {
  /** The text without its call elements. An element that is never closed remains in the text. */
  readonly content: string;
  /** The calls in the order of the text. */
  readonly calls: readonly (ToolCall | MalformedCall)[];
};

/**
 * Reads the tool calls of one assistant message. Never throws: a malformed call is returned with its reason. Takes
 * linear time.
 *
 * @example
 * const { calls } = readToolCalls('<tool_call>{"name": "search", "arguments": {"q": "x"}}</tool_call>');
 * calls[0]; // { ok: true, name: 'search', arguments: { q: 'x' }, span: { start: 0, end: 66 } }
 */
export function readToolCalls(text: string): ToolCallText {
  const spans = elementSpans(text);
  return { content: textOutside(text, spans), calls: spans.map((span) => readCall(text, span)) };
}

/** A call as verl passes it on. `arguments` is any JSON value, as Python prints it. */
type VerlToolCall = { readonly name: string; readonly arguments: string };

/** Reads calls like verl: drops malformed calls together with their text, and accepts any JSON value as arguments. */
export function readToolCallsAsVerl(text: string): { readonly content: string; readonly calls: VerlToolCall[] } {
  const spans = elementSpans(text);
  const calls = spans.flatMap((span): VerlToolCall[] => {
    const call = readPythonJson(elementContent(text, span));
    if (call === undefined || !isPythonObject(call)) return [];
    const name = call.get('name');
    const given = call.get('arguments');
    return typeof name === 'string' && given !== undefined ? [{ name, arguments: printPythonJson(given) }] : [];
  });
  return { content: textOutside(text, spans), calls };
}

function readCall(text: string, span: Span): ToolCall | MalformedCall {
  const malformed = (reason: MalformedCallReason): MalformedCall => ({ ok: false, reason, span });
  const content = elementContent(text, span);
  const tagged = readTags(content) ?? readPairs(content);
  if (tagged !== null) return { ok: true, ...tagged, span };
  const call = readPythonJson(content);
  if (call === undefined || !isPythonObject(call) || !allFinite(call)) return malformed('not_json');
  const name = call.get('name');
  if (typeof name !== 'string' || name === '') return malformed('no_name');
  const given = call.get('arguments');
  if (given === undefined || !isPythonObject(given)) return malformed('arguments_not_object');
  return { ok: true, name, arguments: plainObject(given), span };
}

const FUNCTION = '<function=';
const FUNCTION_END = '</function>';
const PARAMETER = '<parameter=';
const PARAMETER_END = '</parameter>';

/** Reads a call in tags; `null` = the element has none, or they are not closed. The arguments are texts. */
function readTags(content: string): { readonly name: string; readonly arguments: Record<string, string> } | null {
  const inner = content.trim();
  if (!inner.startsWith(FUNCTION) || !inner.endsWith(FUNCTION_END)) return null;
  const nameEnd = inner.indexOf('>');
  const name = inner.slice(FUNCTION.length, nameEnd).trim();
  const end = inner.length - FUNCTION_END.length;
  if (name === '' || nameEnd > end) return null;
  const given = new Map<string, string>();
  let from = nameEnd + 1;
  for (let at = inner.indexOf(PARAMETER, from); at !== -1; at = inner.indexOf(PARAMETER, from)) {
    const keyEnd = inner.indexOf('>', at);
    const close = keyEnd === -1 ? -1 : inner.indexOf(PARAMETER_END, keyEnd);
    if (close === -1 || close > end) return null;
    // Another function begins in the same element, whose parameters are not this one's.
    if (inner.slice(from, at).includes(FUNCTION_END)) return null;
    const key = inner.slice(at + PARAMETER.length, keyEnd).trim();
    if (key === '') return null;
    // The template puts a line break after the tag and one before its end.
    given.set(
      key,
      inner
        .slice(keyEnd + 1, close)
        .replace(/^\n/, '')
        .replace(/\n$/, ''),
    );
    from = close + PARAMETER_END.length;
  }
  return { name, arguments: Object.fromEntries(given) };
}

const KEY = '<arg_key>';
const KEY_END = '</arg_key>';
const VALUE = '<arg_value>';
const VALUE_END = '</arg_value>';

/** Reads a call in pairs of tags after its name; `null` = it is none. The arguments are texts. */
function readPairs(content: string): { readonly name: string; readonly arguments: Record<string, string> } | null {
  const first = content.indexOf(KEY);
  const name = content.slice(0, Math.max(first, 0)).trim();
  if (!/^[\w.-]+$/.test(name)) return null;
  const given = new Map<string, string>();
  for (let at = first; at !== -1; ) {
    const keyEnd = content.indexOf(KEY_END, at);
    const value = keyEnd === -1 ? -1 : content.indexOf(VALUE, keyEnd);
    const close = value === -1 ? -1 : content.indexOf(VALUE_END, value);
    if (close === -1) return null;
    const key = content.slice(at + KEY.length, keyEnd).trim();
    // Else the value is of another key, or what follows is of another function.
    if (key === '' || content.slice(keyEnd + KEY_END.length, value).trim() !== '') return null;
    given.set(key, content.slice(value + VALUE.length, close));
    at = content.indexOf(KEY, close);
    if (content.slice(close + VALUE_END.length, at === -1 ? content.length : at).trim() !== '') return null;
  }
  return { name, arguments: Object.fromEntries(given) };
}

/** Finds the elements from left to right, each from an opening tag to the next closing one. */
function elementSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (let start = text.indexOf(OPENING); start !== -1; ) {
    const closing = text.indexOf(CLOSING, start + OPENING.length);
    if (closing === -1) break;
    const end = closing + CLOSING.length;
    spans.push({ start, end });
    start = text.indexOf(OPENING, end);
  }
  return spans;
}

function elementContent(text: string, span: Span): string {
  return text.slice(span.start + OPENING.length, span.end - CLOSING.length);
}

function textOutside(text: string, spans: readonly Span[]): string {
  let outside = '';
  let from = 0;
  for (const { start, end } of spans) {
    outside += text.slice(from, start);
    from = end;
  }
  return outside + text.slice(from);
}

/** Returns whether all numbers in a value are finite JavaScript numbers. */
function allFinite(value: PythonJson): boolean {
  if (value instanceof PythonNumber) return Number.isFinite(Number(value.printed));
  if (value === null || typeof value !== 'object') return true;
  for (const item of value.values()) if (!allFinite(item)) return false;
  return true;
}

function plainObject(value: ReadonlyMap<string, PythonJson>): Record<string, unknown> {
  return Object.fromEntries(Array.from(value, ([key, item]) => [key, plain(item)]));
}

/** Converts a value to what `JSON.parse` returns. */
function plain(value: PythonJson): unknown {
  if (value instanceof PythonNumber) return Number(value.printed);
  if (value === null || typeof value !== 'object') return value;
  return isPythonObject(value) ? plainObject(value) : value.map(plain);
}
