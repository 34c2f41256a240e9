/**
 * Fits a request into a judge's context. It cuts only sources, never an answer, claim, statement or criterion: first
 * the uncited sources, the last one first, then the ends of the longest cited ones. The request is cut before its key
 * is computed, so the key covers what the judge sees; the result lists every cut.
 *
 * Token counts are upper estimates, because the edge has no tokenizer: one token per three ASCII units, one per other
 * unit. Qwen's tokenizer needs about one per four and one per 1.5.
 */
import type { JudgeFailure } from './failure.ts';
import type { Evidence, JudgedSource } from './prompt.ts';

const ASCII_UNITS_PER_TOKEN = 3;
/** Tokens of the delimiters, attributes and chat template around one block. */
const TOKENS_PER_BLOCK = 40;
/** Tokens of the system message, the task and the chat template. */
const FIXED_TOKENS = 1_200;
/** A source that would keep fewer tokens than this is dropped whole. */
const MIN_SOURCE_TOKENS = 50;

/** One shortened source: the judge sees the first `kept_chars` of its `chars` UTF-16 code units. */
export type SourceCut = { readonly source: number; readonly kept_chars: number; readonly chars: number };

/** The request as the judge sees it, or why it cannot fit. */
export type Fitted<Request> =
  | { readonly ok: true; readonly request: Request; readonly cuts: readonly SourceCut[] }
  | { readonly ok: false; readonly failure: JudgeFailure };

/** Upper estimate of the tokens of a text. */
export function estimateTokens(text: string): number {
  let other = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) other++;
  return Math.ceil((text.length - other) / ASCII_UNITS_PER_TOKEN) + other;
}

/**
 * Cuts the sources of a request until its prompt fits.
 * @param tokensBeside tokens of everything beside question and sources (`blockTokens`).
 * @param cited positions of the sources that the answer cites.
 */
export function fitSources<Request extends Evidence>(
  request: Request,
  tokensBeside: number,
  promptTokens: number,
  cited: ReadonlySet<number>,
): Fitted<Request> {
  const attributes = request.sources.map(({ id, title }) => blockTokens(id, title));
  const fixed = FIXED_TOKENS + blockTokens(request.question) + sum(attributes) + tokensBeside;
  const sizes = request.sources.map(({ text }) => blockTokens(text));
  let over = fixed + sum(sizes) - promptTokens;
  if (over <= 0) return { ok: true, request, cuts: [] };

  const kept = [...sizes];
  for (let position = sizes.length - 1; position >= 0 && over > 0; position--) {
    if (cited.has(position)) continue;
    over -= takeFrom(kept, position, over);
  }
  over -= cutAlike(kept, [...cited], over);
  return over > 0 ? tooLong(promptTokens + over, promptTokens) : withCuts(request, sizes, kept);
}

/** Fits a request that must not be cut, or fails. @param texts each becomes one block of the prompt. */
export function fitWhole<Request>(request: Request, texts: readonly string[], promptTokens: number): Fitted<Request> {
  const needed = FIXED_TOKENS + sum(texts.map((text) => blockTokens(text)));
  return needed <= promptTokens ? { ok: true, request, cuts: [] } : tooLong(needed, promptTokens);
}

/** Upper estimate of the tokens of one block with its text and attributes. */
export function blockTokens(...texts: readonly (string | undefined)[]): number {
  return texts.reduce((tokens, text) => tokens + (text === undefined ? 0 : estimateTokens(text)), TOKENS_PER_BLOCK);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function tooLong(needed: number, promptTokens: number): Extract<Fitted<never>, { ok: false }> {
  const detail = `the prompt needs about ${needed} tokens without any source text; the judge takes ${promptTokens}`;
  return { ok: false, failure: { reason: 'judge_prompt_too_long', detail, retryable: false } };
}

/**
 * Takes up to `wanted` tokens from one source, and the rest if it would fall below the minimum. Returns the tokens
 * taken.
 */
function takeFrom(kept: number[], position: number, wanted: number): number {
  const size = kept[position] ?? 0;
  const left = size - wanted < MIN_SOURCE_TOKENS + TOKENS_PER_BLOCK ? 0 : size - wanted;
  kept[position] = left;
  return size - left;
}

/** Cuts the longest of the sources to a common length until `wanted` tokens are gone. Returns the tokens taken. */
function cutAlike(kept: number[], positions: readonly number[], wanted: number): number {
  if (wanted <= 0) return 0;
  const total = sum(positions.map((position) => kept[position] ?? 0));
  let low = 0;
  let high = Math.max(0, ...positions.map((position) => kept[position] ?? 0));
  const cappedAt = (cap: number): number => sum(positions.map((position) => Math.min(kept[position] ?? 0, cap)));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (total - cappedAt(middle) >= wanted) low = middle;
    else high = middle - 1;
  }
  const cap = low < MIN_SOURCE_TOKENS + TOKENS_PER_BLOCK ? 0 : low;
  for (const position of positions) kept[position] = Math.min(kept[position] ?? 0, cap);
  return total - sum(positions.map((position) => kept[position] ?? 0));
}

function withCuts<Request extends Evidence>(
  request: Request,
  sizes: readonly number[],
  kept: readonly number[],
): Fitted<Request> {
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

/** Returns how many UTF-16 units of a text fit into `tokens`; never splits a surrogate pair. */
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
