/**
 * Fits a request into a judge's context. It cuts sources: first the uncited ones, the last one first, then the ends of
 * the longest cited ones. A policy must not be able to leave itself unscored by its length: if the answer alone is too
 * long, its end is cut too, and of too many claims or statements the judge sees those that fit. Criteria are never cut,
 * and no claim or statement is shortened. The request is cut before its key is computed, so the key covers what the
 * judge sees; the result lists every cut.
 */
import type { JudgeFailure } from './failure.ts';
import type { Evidence, JudgedSource } from './prompt.ts';
import { estimateTokens, hasMoreTokens, unitsWithin } from './token-estimate.ts';

/**
 * Least number of tokens to which an answer is cut. If even that is too long, something else is too long for the judge.
 */
const MIN_ANSWER_TOKENS = 50;
/** Tokens of the delimiters, attributes and chat template around one block. */
const TOKENS_PER_BLOCK = 40;
/** Tokens of the system message, the task and the chat template. */
const FIXED_TOKENS = 1_200;
/** A source that would keep fewer tokens than this is dropped whole. */
const MIN_SOURCE_TOKENS = 50;

/** One shortened source: the judge sees the first `kept_chars` of its `chars` UTF-16 code units. */
export type SourceCut = { readonly source: number; readonly kept_chars: number; readonly chars: number };

/** A shortened answer: the judge sees the first `kept_chars` of its `chars` UTF-16 code units. */
export type AnswerCut = Omit<SourceCut, 'source'>;

/** The judge sees only some of the request's `entries` (claims, then statements): those at the positions `judged`. */
export type EntriesCut = { readonly judged: readonly number[]; readonly entries: number };

/** The request as the judge sees it, or why it cannot fit. */
export type Fitted<Request> =
  | {
      readonly ok: true;
      readonly request: Request;
      readonly cuts: readonly SourceCut[];
      readonly answer_cut?: AnswerCut;
      readonly entries_cut?: EntriesCut;
    }
  /** `entries_cut`: the request would fit without its entries, of which each alone is too long. */
  | { readonly ok: false; readonly failure: JudgeFailure; readonly entries_cut?: EntriesCut };

/**
 * Cuts the sources of a request until its prompt fits.
 * @param tokensBeside tokens of everything beside question and sources (`blockTokens`).
 * @param cited indexes of the sources that the answer cites.
 */
export function fitSources<Request extends Evidence>(
  request: Request,
  tokensBeside: number,
  promptTokens: number,
  cited: ReadonlySet<number>,
): Fitted<Request> {
  const { attributes, sizes } = tokensOfSources(request.sources);
  const fixed = FIXED_TOKENS + blockTokens(request.question) + attributes + tokensBeside;
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

/**
 * Cuts the sources of a request until its prompt fits, and then the end of its answer.
 * @param tokensBeside tokens of everything beside question, sources and answer.
 */
export function fitAnswered<Request extends Evidence & { readonly answer: string }>(
  request: Request,
  tokensBeside: number,
  promptTokens: number,
  cited: ReadonlySet<number>,
): Fitted<Request> {
  const fitWithAnswer = (one: Request): Fitted<Request> =>
    fitSources(one, tokensBeside + blockTokens(one.answer), promptTokens, cited);
  // Judges are asked about one criterion at a time with the same answer: of a long one, each call reads what may fit.
  const whole = hasMoreTokens(request.answer, promptTokens) ? null : fitWithAnswer(request);
  if (whole?.ok === true) return whole;
  const { attributes } = tokensOfSources(request.sources);
  const fixed = FIXED_TOKENS + blockTokens(request.question) + attributes + tokensBeside + TOKENS_PER_BLOCK;
  const shorter = withShorterAnswer(request, promptTokens - fixed);
  const fitted = shorter === null ? null : fitWithAnswer(shorter.request);
  return shorter !== null && fitted?.ok === true
    ? { ...fitted, answer_cut: shorter.answer_cut }
    : (whole ?? fitWithAnswer(request));
}

/**
 * Cuts the sources of a request until its prompt fits, and then the ends of its two answers: the longer one to what the
 * shorter one leaves of the room, but none below half of the room. Both orders of a pair are cut alike.
 * `answer_cut` counts both answers together.
 * @param tokensBeside tokens of everything beside question, sources and answers.
 */
export function fitPair<Request extends Evidence & { readonly first: string; readonly second: string }>(
  request: Request,
  tokensBeside: number,
  promptTokens: number,
  cited: ReadonlySet<number>,
): Fitted<Request> {
  const besideWith = ({ first, second }: Request): number => tokensBeside + blockTokens(first) + blockTokens(second);
  const whole = fitSources(request, besideWith(request), promptTokens, cited);
  if (whole.ok) return whole;
  const { attributes } = tokensOfSources(request.sources);
  const fixed = FIXED_TOKENS + blockTokens(request.question) + attributes + tokensBeside + 2 * TOKENS_PER_BLOCK;
  const room = promptTokens - fixed;
  if (room < 2 * MIN_ANSWER_TOKENS) return whole;
  const { first, second } = request;
  const half = Math.floor(room / 2);
  const shorten = (answer: string, beside: string): string =>
    answer.slice(0, unitsWithin(answer, Math.max(half, room - estimateTokens(beside))));
  const shorter = { ...request, first: shorten(first, second), second: shorten(second, first) };
  const fitted = fitSources(shorter, besideWith(shorter), promptTokens, cited);
  if (!fitted.ok) return whole;
  const kept_chars = shorter.first.length + shorter.second.length;
  return { ...fitted, answer_cut: { kept_chars, chars: first.length + second.length } };
}

/** The tokens that one claim or statement takes in the prompt and in the reply. */
export type EntryTokens = { readonly prompt: number; readonly reply: number };

/**
 * Cuts the sources of a request until its prompt fits. If that is not enough, also leaves out entries: keeps, in order,
 * those that fit beside up to half of the room for the sources.
 * @param entries the tokens of each entry; `promptTokens` is what their replies leave.
 * @param only the request with the entries at these positions alone.
 */
export function fitEntries<Request extends Evidence>(
  request: Request,
  entries: readonly EntryTokens[],
  only: (positions: readonly number[]) => Request,
  promptTokens: number,
  cited: ReadonlySet<number>,
): Fitted<Request> {
  const whole = fitSources(request, sum(entries.map(({ prompt }) => prompt)), promptTokens, cited);
  if (whole.ok) return whole;
  const free = promptTokens + sum(entries.map(({ reply }) => reply));
  const attributes = request.sources.map(({ id, title }) => blockTokens(id, title));
  const room = free - FIXED_TOKENS - blockTokens(request.question) - sum(attributes);
  if (room < 0) return whole;
  const forSources = Math.min(sum(request.sources.map(({ text }) => blockTokens(text))), Math.floor(room / 2));
  const beside = fittingEntries(entries, room - forSources);
  const judged = beside.length > 0 ? beside : fittingEntries(entries, room);
  const entries_cut = { judged, entries: entries.length };
  if (judged.length === 0) return { ...whole, entries_cut };
  const used = judged.map((position) => entries[position] ?? NO_TOKENS);
  const left = free - sum(used.map(({ reply }) => reply));
  const fitted = fitSources(only(judged), sum(used.map(({ prompt }) => prompt)), left, cited);
  return fitted.ok ? { ...fitted, entries_cut } : fitted;
}

const NO_TOKENS: EntryTokens = { prompt: 0, reply: 0 };

/** The positions of the entries that fit into `tokens` together, each taken in order if it still fits. */
function fittingEntries(entries: readonly EntryTokens[], tokens: number): number[] {
  let left = tokens;
  return entries.flatMap(({ prompt, reply }, position) => {
    if (prompt + reply > left) return [];
    left -= prompt + reply;
    return [position];
  });
}

/**
 * Fits a request without sources: cuts the end of its answer, or fails. @param texts of the other blocks of the prompt.
 */
export function fitWhole<Request extends { readonly answer: string }>(
  request: Request,
  texts: readonly string[],
  promptTokens: number,
): Fitted<Request> {
  const fixed = FIXED_TOKENS + sum(texts.map((text) => blockTokens(text))) + TOKENS_PER_BLOCK;
  const needed = fixed + estimateTokens(request.answer);
  if (needed <= promptTokens) return { ok: true, request, cuts: [] };
  const shorter = withShorterAnswer(request, promptTokens - fixed);
  return shorter === null ? tooLong(needed, promptTokens) : { ok: true, ...shorter, cuts: [] };
}

/** The request with the beginning of its answer that fits into `tokens`; `null` = it would be too short to judge. */
function withShorterAnswer<Request extends { readonly answer: string }>(
  request: Request,
  tokens: number,
): { readonly request: Request; readonly answer_cut: AnswerCut } | null {
  if (tokens < MIN_ANSWER_TOKENS) return null;
  const chars = request.answer.length;
  const kept_chars = unitsWithin(request.answer, tokens);
  return { request: { ...request, answer: request.answer.slice(0, kept_chars) }, answer_cut: { kept_chars, chars } };
}

/** Fits a request of which nothing may be cut, or fails. @param tokens of everything that the request says. */
export function fitUncut<Request>(request: Request, tokens: number, promptTokens: number): Fitted<Request> {
  const needed = FIXED_TOKENS + tokens;
  return needed <= promptTokens ? { ok: true, request, cuts: [] } : tooLong(needed, promptTokens);
}

type SourceTokens = {
  /** Tokens of all ids and titles. */
  readonly attributes: number;
  /** Tokens of the text of each source. */
  readonly sizes: readonly number[];
};

const tokensByList = new WeakMap<readonly JudgedSource[], SourceTokens>();

/** Counts the tokens of a list of sources, once: the requests of a group share the list, which does not change. */
function tokensOfSources(sources: readonly JudgedSource[]): SourceTokens {
  const known = tokensByList.get(sources);
  if (known !== undefined) return known;
  const tokens = {
    attributes: sum(sources.map(({ id, title }) => blockTokens(id, title))),
    sizes: sources.map(({ text }) => blockTokens(text)),
  };
  tokensByList.set(sources, tokens);
  return tokens;
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
