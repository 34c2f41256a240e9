/**
 * Finds the words in which two texts differ, in the order of reading. Words that occur once in both texts and in the
 * same order are anchors (patience diff); equal neighbours of anchors match too. O(n log n) time, O(n) memory.
 */
import type { Span } from './span.ts';

/** A tag, a word, or one other character. */
const TOKEN = /<[^<>]{0,200}>|[\p{L}\p{N}]+|[^\s]/gu;

type Token = Span & { readonly text: string };

export type WordDifference = {
  /** What one text has and the other lacks, in UTF-16 code units, in order. */
  readonly one: readonly Span[];
  readonly other: readonly Span[];
};

/** @example wordDifference('opened in 1914', 'opened in 1920') // { one: [{ start: 10, end: 14 }], other: [the same] } */
export function wordDifference(one: string, other: string): WordDifference {
  const left = tokensOf(one);
  const right = tokensOf(other);
  /** For each token of `left`, the index of its equal in `right`. */
  const equals: (number | null)[] = left.map(() => null);
  const taken = new Set<number>();
  const match = (from: number, to: number, by: 1 | -1): void => {
    for (let l = from, r = to; ; l += by, r += by) {
      const token = left[l];
      if (token === undefined || token.text !== right[r]?.text || equals[l] !== null || taken.has(r)) return;
      equals[l] = r;
      taken.add(r);
    }
  };
  match(0, 0, 1);
  match(left.length - 1, right.length - 1, -1);
  for (const { l, r } of anchorsOf(left, right)) {
    match(l, r, 1);
    match(l - 1, r - 1, -1);
  }
  return {
    one: spansOf(left.filter((_, l) => equals[l] === null)),
    other: spansOf(right.filter((_, r) => !taken.has(r))),
  };
}

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
    text: found[0],
  }));
}

type Anchor = { readonly l: number; readonly r: number };

/** The longest series of pairs of tokens that occur once in both texts, in the order of both. */
function anchorsOf(left: readonly Token[], right: readonly Token[]): readonly Anchor[] {
  const places = onceIn(right);
  const pairs = [...onceIn(left)].flatMap(([text, l]): Anchor[] => {
    const r = places.get(text);
    return r === undefined ? [] : [{ l, r }];
  });
  // The smallest last pair of an increasing series of each length (patience sorting), with the pair before it.
  const ends: { readonly pair: Anchor; readonly before: number }[] = [];
  const tops: number[] = [];
  for (const pair of pairs) {
    let low = 0;
    for (let high = tops.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[tops[middle] ?? -1]?.pair.r ?? 0) < pair.r) low = middle + 1;
      else high = middle;
    }
    tops[low] = ends.push({ pair, before: tops[low - 1] ?? -1 }) - 1;
  }
  const series: Anchor[] = [];
  for (let end = ends[tops.at(-1) ?? -1]; end !== undefined; end = ends[end.before]) series.push(end.pair);
  return series.reverse();
}

/** The index of each text that occurs once, in order. */
function onceIn(tokens: readonly Token[]): ReadonlyMap<string, number> {
  const places = new Map<string, number | null>();
  for (const [n, { text }] of tokens.entries()) places.set(text, places.has(text) ? null : n);
  return new Map([...places].flatMap(([text, n]): [string, number][] => (n === null ? [] : [[text, n]])));
}

/** Neighbours that differ are one span. */
function spansOf(tokens: readonly Token[]): readonly Span[] {
  const spans: { start: number; end: number }[] = [];
  for (const { start, end } of tokens) {
    const last = spans.at(-1);
    if (last !== undefined && start - last.end <= 1) last.end = end;
    else spans.push({ start, end });
  }
  return spans;
}
