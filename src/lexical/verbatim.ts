/** Finds claims that are copied from a source. */
import { splitSentences } from '../text/sentences.ts';
import type { Span } from '../text/span.ts';
import type { SourceTokens } from './source-index.ts';
import type { TokenList } from './token-list.ts';

/**
 * Candidates compared unit by unit in one source. The bound keeps time linear for sources that nearly match many times.
 */
const MAX_COMPARISONS = 8;

/**
 * Finds a place where a source contains the claim as one or more whole consecutive sentences; `null` if there is none.
 *
 * The Knuth-Morris-Pratt search over token hashes finds candidates in linear time. A candidate must begin and end at
 * sentence borders and equal the claim after folding, except for a final full stop.
 */
export function findVerbatim(claim: string, own: TokenList, source: SourceTokens): Span | null {
  const length = own.count;
  if (length === 0 || source.endToken < length) return null;
  const pattern = own.hashes;
  const { hashes } = source.tokens;
  const fallback = fallbacks(pattern, length);
  let sentences: readonly Span[] | null = null;
  let wanted = '';
  let comparisons = 0;
  let matched = 0;
  for (let i = 0; i < source.endToken; i++) {
    while (matched > 0 && hashes[i] !== pattern[matched]) matched = fallback[matched - 1] ?? 0;
    if (hashes[i] === pattern[matched]) matched++;
    if (matched < length) continue;
    matched = fallback[matched - 1] ?? 0;
    if (sentences === null) {
      sentences = splitSentences(source.text);
      wanted = withoutFullStop(foldText(claim));
    }
    const span = wholeSentences(sentences, source, i - length + 1, i);
    if (span === null) continue;
    if (withoutFullStop(foldText(source.text.slice(span.start, span.end))) === wanted) return span;
    if (++comparisons >= MAX_COMPARISONS) return null;
  }
  return null;
}

function fallbacks(pattern: Int32Array, length: number): Int32Array {
  const table = new Int32Array(length);
  let k = 0;
  for (let i = 1; i < length; i++) {
    while (k > 0 && pattern[i] !== pattern[k]) k = table[k - 1] ?? 0;
    if (pattern[i] === pattern[k]) k++;
    table[i] = k;
  }
  return table;
}

/** Returns the range of sentences from token `first` to token `last`, or `null` if either lies inside a sentence. */
function wholeSentences(sentences: readonly Span[], source: SourceTokens, first: number, last: number): Span | null {
  const startOf = (token: number): number => source.tokens.starts[token] ?? 0;
  const opening = sentenceOf(sentences, startOf(first));
  const closing = sentenceOf(sentences, startOf(last));
  if (opening === undefined || closing === undefined) return null;
  if (first > 0 && startOf(first - 1) >= opening.start) return null;
  if (last + 1 < source.endToken && startOf(last + 1) < closing.end) return null;
  return { start: opening.start, end: closing.end };
}

function sentenceOf(sentences: readonly Span[], offset: number): Span | undefined {
  let low = 0;
  let high = sentences.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sentences[middle]?.start ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return sentences[low];
}

/** Folds compatibility forms, case, runs of white space and quotation marks, and trims the edges. */
function foldText(text: string): string {
  const normal = text.normalize('NFKC').toLowerCase();
  let out = '';
  let from = 0;
  let space = false;
  for (let i = 0; i < normal.length; i++) {
    const c = normal.charCodeAt(i);
    const blank = c === 0x20 || (c >= 0x09 && c <= 0x0d) || c === 0x2028 || c === 0x2029;
    const quote = quoteFold(c);
    if (!blank && quote === '') {
      space = false;
      continue;
    }
    out += normal.slice(from, i);
    from = i + 1;
    if (blank) {
      if (!space) out += ' ';
      space = true;
    } else {
      out += quote;
      space = false;
    }
  }
  return (out + normal.slice(from)).trim();
}

function quoteFold(c: number): string {
  if (c === 0x2018 || c === 0x2019 || c === 0x201a || c === 0x201b || c === 0x2032 || c === 0x60 || c === 0xb4)
    return "'";
  if (c === 0x201c || c === 0x201d || c === 0x201e || c === 0x201f || c === 0x2033 || c === 0xab || c === 0xbb)
    return '"';
  return '';
}

/** Removes a final full stop, which claims often omit. Any other final mark is part of the claim. */
function withoutFullStop(folded: string): string {
  return folded.endsWith('.') || folded.endsWith('。') ? folded.slice(0, -1).trimEnd() : folded;
}
