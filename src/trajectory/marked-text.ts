/**
 * Reads a transcript that is one text: what the policy wrote, with the outputs of tools between marks. slime, OpenRLHF
 * and verl send such texts. A text does not say who wrote the marks, so only the caller can name them.
 */
import { isSpace } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import { sliceText, TextBuilder, type TrajectoryDraft, wholeText } from './draft.ts';
import type { MessagePath, TracedText, TrajectoryCall, Turn } from './trajectory.ts';

/** The text between two marks. */
type Marks = { readonly open: string; readonly close: string };

export type TextMarkup = {
  readonly result: Marks;
  /** Marks around the query of a call. Without them, Hermes calls are read. */
  readonly call?: Marks;
};

/**
 * Known markups. `hermes`: `<tool_call>` and `<tool_response>`, as verl decodes Qwen's chat template. `search_r1`:
 * `<search>` and `<information>`.
 */
export const TEXT_MARKUPS = {
  hermes: { result: { open: '<tool_response>', close: '</tool_response>' } },
  search_r1: {
    result: { open: '<information>', close: '</information>' },
    call: { open: '<search>', close: '</search>' },
  },
} as const satisfies Record<string, TextMarkup>;

/** Adds the turns of a transcript: the policy's text up to an output, the output, and so on. Takes linear time. */
export function readMarkedText(
  text: string,
  { result, call }: TextMarkup,
  path: MessagePath,
  draft: TrajectoryDraft,
): void {
  const whole = wholeText(text, path);
  const common = { message: 0, path, thinking: null, finish_reason: null };
  const said = (from: number, to: number, isLast: boolean): void => {
    const span = withoutTemplate(text, from, to);
    if (span.start === span.end && !(isLast && draft.turns.length === 0)) return;
    const turn = { ...common, role: 'assistant', by_policy: true, results: [] } as const;
    draft.turns.push({ ...turn, ...splitCalls(sliceText(whole, span.start, span.end), call, path) });
  };
  let from = 0;
  for (const { content, end, start } of elements(text, result)) {
    said(from, start, false);
    from = end;
    if (!draft.countPart(path)) return;
    const one = { call_id: null, name: null, output: sliceText(whole, content.start, content.end), call: null, path };
    draft.turns.push({ ...common, role: 'tool', by_policy: false, text: null, calls: [], results: [one] });
  }
  said(from, text.length, true);
}

type Element = Span & { readonly content: Span };

/** Finds elements from left to right. One that is never closed ends with the text: outputs are often cut off. */
function* elements(text: string, { open, close }: Marks): Generator<Element> {
  for (let at = text.indexOf(open); at !== -1; ) {
    const start = at + open.length;
    const closing = text.indexOf(close, start);
    const contentEnd = closing === -1 ? text.length : closing;
    const end = closing === -1 ? text.length : closing + close.length;
    yield { start: at, end, content: { start, end: contentEnd } };
    at = text.indexOf(open, end);
  }
}

function splitCalls(text: TracedText, marks: Marks | undefined, path: MessagePath): Pick<Turn, 'text' | 'calls'> {
  if (marks === undefined) return { text, calls: [] };
  const outside = new TextBuilder();
  const calls: TrajectoryCall[] = [];
  let from = 0;
  for (const { start, end, content } of elements(text.text, marks)) {
    // A call that is never closed is text: the policy was cut off.
    if (end === content.end) break;
    outside.addText(sliceText(text, from, start));
    from = end;
    const query = text.text.slice(content.start, content.end);
    calls.push({ id: null, name: 'search', arguments: { query }, arguments_text: JSON.stringify({ query }), path });
  }
  outside.addText(sliceText(text, from, text.text.length));
  return { text: outside.isBlank() && calls.length > 0 ? null : outside.build(), calls };
}

/** Tokens and role names that chat templates write between turns; verl's decoding keeps only the names. */
const TOKENS = ['<|im_end|>', '<|im_start|>'] as const;
const ROLE_NAMES = ['assistant', 'user', 'tool'] as const;

/** The range without what a chat template wrote at its ends: tokens, and role names on a line of their own. */
function withoutTemplate(text: string, from: number, to: number): Span {
  let start = from;
  // The text before the first output begins with the policy's own words.
  for (
    let next = from === 0 ? -1 : afterTemplate(text, start, to);
    next !== -1;
    next = afterTemplate(text, start, to)
  ) {
    start = next;
  }
  let end = to;
  for (let next = beforeTemplate(text, start, end); next !== -1; next = beforeTemplate(text, start, end)) end = next;
  return blank(text, start, end) ? { start: end, end } : { start, end };
}

/** The offset after a token or role name at the start of a range, or -1. */
function afterTemplate(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  for (const token of TOKENS) if (text.startsWith(token, at) && at + token.length <= end) return at + token.length;
  for (const name of ROLE_NAMES) {
    const after = at + name.length;
    if (after <= end && text.startsWith(name, at) && (after === text.length || text.charAt(after) === '\n')) {
      return Math.min(after + 1, end);
    }
  }
  return -1;
}

/** The offset before a token or role name at the end of a range, or -1. */
function beforeTemplate(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--;
  for (const token of TOKENS) if (at - token.length >= start && text.endsWith(token, at)) return at - token.length;
  if (end === text.length) return -1;
  for (const name of ROLE_NAMES) {
    const before = at - name.length;
    if (before < start || !text.endsWith(name, at)) continue;
    if (before === start || text.charAt(before - 1) === '\n' || text.endsWith('<|im_start|>', before)) return before;
  }
  return -1;
}

function blank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}
