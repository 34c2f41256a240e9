/**
 * Fitting a request into a judge's context. Sources are cut, never the answer, a claim, a statement or a criterion:
 * uncited sources go first, from the last one on, then the cited ones lose their ends alike. The cut is made on the
 * request itself, before its key is computed, so that it is part of the key; what was cut is said in the result.
 *
 * Tokens are estimated from above (no tokenizer at the edge): one per three ASCII units, one per other unit. Qwen's
 * vocabulary needs about one per four and one per 1.5.
 */
import type { CitedRequest, JudgedSource, JudgeFailure, JudgmentRequest, OutcomeRequest } from './types.ts';

const ASCII_UNITS_PER_TOKEN = 3;
/** Delimiters, attributes and the chat template around one block. */
const TOKENS_PER_BLOCK = 40;
/** System message, task and chat template. */
const FIXED_TOKENS = 1_200;
/** A source cut below this says nothing any more and is left out whole. */
const MIN_SOURCE_TOKENS = 50;

/** One source that was shortened; `kept_chars` of `chars` UTF-16 code units are shown, from its beginning. */
export type SourceCut = { readonly source: number; readonly kept_chars: number; readonly chars: number };

export type Fitted<R extends JudgmentRequest = JudgmentRequest> =
  | { readonly ok: true; readonly request: R; readonly cuts: readonly SourceCut[] }
  | { readonly ok: false; readonly failure: JudgeFailure };

/** Upper estimate of the tokens of a text. */
export function estimateTokens(text: string): number {
  let other = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) other++;
  return Math.ceil((text.length - other) / ASCII_UNITS_PER_TOKEN) + other;
}

/**
 * The request within a budget of prompt tokens.
 * @param cited positions of the sources that the answer cites.
 */
export function fitRequest<R extends CitedRequest>(
  request: R,
  promptTokens: number,
  cited: ReadonlySet<number>,
): Fitted<R> {
  const fixed = FIXED_TOKENS + tokensBesideSources(request);
  const sizes = request.sources.map((source) => estimateTokens(source.text) + TOKENS_PER_BLOCK);
  let over = fixed + sizes.reduce((sum, size) => sum + size, 0) - promptTokens;
  if (over <= 0) return { ok: true, request, cuts: [] };

  const kept = [...sizes];
  for (let position = sizes.length - 1; position >= 0 && over > 0; position--) {
    if (cited.has(position)) continue;
    over -= takeFrom(kept, position, over);
  }
  over -= cutAlike(kept, [...cited], over);
  return over > 0 ? tooLong(promptTokens + over, promptTokens) : withCuts(request, sizes, kept);
}

/** A final answer is never cut: it fits whole, or not at all. */
export function fitOutcome(request: OutcomeRequest, promptTokens: number): Fitted<OutcomeRequest> {
  const { question, reference, answer } = request;
  const needed = FIXED_TOKENS + [question, reference, answer].reduce((sum, text) => sum + blockTokens(text), 0);
  return needed <= promptTokens ? { ok: true, request, cuts: [] } : tooLong(needed, promptTokens);
}

function blockTokens(text: string): number {
  return estimateTokens(text) + TOKENS_PER_BLOCK;
}

function tooLong(needed: number, promptTokens: number): Extract<Fitted, { ok: false }> {
  const detail = `the prompt needs about ${needed} tokens without any source text; the judge takes ${promptTokens}`;
  return { ok: false, failure: { reason: 'judge_prompt_too_long', detail, retryable: false } };
}

function tokensBesideSources(request: CitedRequest): number {
  let tokens = blockTokens(request.question);
  const add = (...texts: readonly (string | undefined)[]): void => {
    for (const text of texts) if (text !== undefined) tokens += estimateTokens(text);
    tokens += TOKENS_PER_BLOCK;
  };
  for (const { id, title } of request.sources) add(id, title);
  switch (request.kind) {
    case 'rubric':
      for (const { title, description } of request.criteria) add(title, description);
      add(request.answer);
      break;
    case 'citations':
      for (const { text } of request.claims) add(text);
      for (const { text } of request.statements) add(text);
      break;
  }
  return tokens;
}

/** Takes up to `wanted` tokens from one source; what would be left below the minimum goes too. Returns what was taken. */
function takeFrom(kept: number[], position: number, wanted: number): number {
  const size = kept[position] ?? 0;
  const left = size - wanted < MIN_SOURCE_TOKENS + TOKENS_PER_BLOCK ? 0 : size - wanted;
  kept[position] = left;
  return size - left;
}

/** Cuts the longest of the sources down to a common length until `wanted` tokens are gone. Returns what was taken. */
function cutAlike(kept: number[], positions: readonly number[], wanted: number): number {
  if (wanted <= 0) return 0;
  const total = positions.reduce((sum, position) => sum + (kept[position] ?? 0), 0);
  let low = 0;
  let high = Math.max(0, ...positions.map((position) => kept[position] ?? 0));
  const cappedAt = (cap: number): number =>
    positions.reduce((sum, position) => sum + Math.min(kept[position] ?? 0, cap), 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (total - cappedAt(middle) >= wanted) low = middle;
    else high = middle - 1;
  }
  const cap = low < MIN_SOURCE_TOKENS + TOKENS_PER_BLOCK ? 0 : low;
  for (const position of positions) kept[position] = Math.min(kept[position] ?? 0, cap);
  return total - positions.reduce((sum, position) => sum + (kept[position] ?? 0), 0);
}

function withCuts<R extends CitedRequest>(request: R, sizes: readonly number[], kept: readonly number[]): Fitted<R> {
  const cuts: SourceCut[] = [];
  const sources = request.sources.map((source, position): JudgedSource => {
    const budget = kept[position] ?? 0;
    if (budget === sizes[position] || source.text === '') return source;
    const chars = unitsWithin(source.text, Math.max(0, budget - TOKENS_PER_BLOCK));
    cuts.push({ source: position, kept_chars: chars, chars: source.text.length });
    return { ...source, text: source.text.slice(0, chars) };
  });
  return { ok: true, request: { ...request, sources }, cuts };
}

/** How many units of a text fit into so many tokens; never half a surrogate pair. */
function unitsWithin(text: string, tokens: number): number {
  let cost = 0;
  let units = 0;
  for (const point of text) {
    cost += point.charCodeAt(0) > 0x7f ? point.length : 1 / ASCII_UNITS_PER_TOKEN;
    if (cost > tokens) break;
    units += point.length;
  }
  return units;
}
