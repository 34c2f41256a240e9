/**
 * Tool calls in Hermes text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. Two readings of the same elements:
 * what verl's rollout loop makes of them, for exact reproduction, and ours, where a malformed call is said to be so, since
 * the loop shows it to the model. Format and reference: HermesToolParser of verl as vendored in Gen-Verse/Open-AgentRL
 * 1fe5dbd2. An element ends at the first closing tag, even inside a string of its JSON (golden row tcr-s116): a policy that
 * must write the tag in an argument can escape its slash.
 */
import type { Span } from '../text/span.ts';
import { isPythonObject, type PythonJson, PythonNumber, printPythonJson, readPythonJson } from './python-json.ts';

const OPENING = '<tool_call>';
const CLOSING = '</tool_call>';

export const MALFORMED_CALL_REASONS = ['not_json', 'no_name', 'arguments_not_object'] as const;

/**
 * `not_json`: the element holds something else than one JSON object, a number that is not finite, or more than python-json.ts
 * reads (depth, integer digits).
 * `no_name`: `name` is missing, empty or no text.
 * `arguments_not_object`: `arguments` is missing or no object.
 */
export type MalformedCallReason = (typeof MALFORMED_CALL_REASONS)[number];

export type ToolCall = {
  readonly ok: true;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The element with its tags, in UTF-16 code units of the text. */
  readonly span: Span;
};

export type MalformedCall = { readonly ok: false; readonly reason: MalformedCallReason; readonly span: Span };

export type ToolCallText = {
  /** The text without its call elements. An element that is never closed is no call and stays. */
  readonly content: string;
  /** In the order of the text. */
  readonly calls: readonly (ToolCall | MalformedCall)[];
};

/** Reads the calls of one assistant message; malformed ones are in the list, each with its reason. Linear time. */
export function readToolCalls(text: string): ToolCallText {
  const spans = elementSpans(text);
  return { content: textOutside(text, spans), calls: spans.map((span) => readCall(text, span)) };
}

/** A call as verl hands it on: `arguments` is any JSON value, as Python prints it. */
export type VerlToolCall = { readonly name: string; readonly arguments: string };

/** What verl reads: malformed calls are left out without a word, their text too; arguments need be no object. */
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
  const call = readPythonJson(elementContent(text, span));
  if (call === undefined || !isPythonObject(call) || !allFinite(call)) return malformed('not_json');
  const name = call.get('name');
  if (typeof name !== 'string' || name === '') return malformed('no_name');
  const given = call.get('arguments');
  if (given === undefined || !isPythonObject(given)) return malformed('arguments_not_object');
  return { ok: true, name, arguments: plainObject(given), span };
}

/** From an opening tag to the next closing one, from left to right. */
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

/** No number in it is `NaN`, infinite, or too large for a JavaScript number. */
function allFinite(value: PythonJson): boolean {
  if (value instanceof PythonNumber) return Number.isFinite(Number(value.printed));
  if (value === null || typeof value !== 'object') return true;
  for (const item of value.values()) if (!allFinite(item)) return false;
  return true;
}

function plainObject(value: ReadonlyMap<string, PythonJson>): Record<string, unknown> {
  return Object.fromEntries(Array.from(value, ([key, item]) => [key, plain(item)]));
}

/** As `JSON.parse` gives it. */
function plain(value: PythonJson): unknown {
  if (value instanceof PythonNumber) return Number(value.printed);
  if (value === null || typeof value !== 'object') return value;
  return isPythonObject(value) ? plainObject(value) : value.map(plain);
}
