/**
 * The extractive refiner: answers a question by citing sentences of its sources word for word. No model and no GPU: a real
 * baseline with valid citations by construction, for demonstrations and for comparing trained refiners with. It finds what
 * shares words with the question; it does not understand either.
 *
 * Sentences are chosen greedily by maximal marginal relevance (Carbonell and Goldstein, 1998): close to the question, far
 * from what was chosen before.
 */

import type { SourceSet } from '../citations/types.ts';
import { STOP, TokenList } from '../lexical/token-list.ts';
import { appendTokens } from '../lexical/tokeniser.ts';
import { splitSentences } from '../text/sentences.ts';

/** Says what answered, wherever a model's name would stand. */
export const EXTRACTIVE_MODEL = 'citeward-extractive-1';

export type ExtractiveOptions = {
  /** Sentences of the answer at most. Default 4. */
  readonly sentences?: number;
  /** 0 = always the same answer; above, sentences of nearly equal worth change places. Default 0. */
  readonly temperature?: number;
  /** Decides how, at a temperature above 0. Default 0. */
  readonly seed?: number;
};

const DEFAULT_SENTENCES = 4;
/** What being close to the question is worth beside being new. */
const RELEVANCE_SHARE = 0.7;
/** A sentence worth less than this share of the best one says too little about the question. */
const MIN_SHARE_OF_BEST = 0.25;
/** Shorter sentences are headings and crumbs; longer ones are no sentences. */
const MIN_CONTENT_TERMS = 4;
const MAX_SENTENCE_CHARS = 600;
/** Okapi BM25 (Robertson and Walker, 1994): how soon a repeated term stops paying, and how much length counts. */
const TERM_SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Sentences that are compared with each other; the best by themselves. */
const MAX_CANDIDATES = 64;
/** How far a temperature of 1 moves a score. */
const NOISE_SPAN = 0.5;

type Sentence = {
  readonly source: number;
  readonly start: number;
  readonly text: string;
  /** Stems of its content words and how often each stands in it. */
  readonly terms: ReadonlyMap<number, number>;
};

type Candidate = { readonly sentence: Sentence; readonly score: number };

/**
 * The answer, in the refiners' format: `<answer><snippet id=ID>sentence</snippet> …</answer>`. Sentences stand in reading
 * order. Without a sentence about the question it says so, uncited.
 */
export function refineExtractively(question: string, sources: SourceSet, options: ExtractiveOptions = {}): string {
  const chosen = chooseSentences(question, sources, options).toSorted(
    (a, b) => a.source - b.source || a.start - b.start,
  );
  if (chosen.length === 0) return '<answer>The search results do not answer this question.</answer>';
  const cited = chosen.map(({ source, text }) => {
    const id = sources.list[source]?.id;
    if (id === undefined) throw new Error('refineExtractively: a sentence of no source');
    return `<snippet id=${id}>${text}</snippet>`;
  });
  return `<answer>${cited.join(' ')}</answer>`;
}

function chooseSentences(question: string, sources: SourceSet, options: ExtractiveOptions): Sentence[] {
  const { sentences = DEFAULT_SENTENCES, temperature = 0, seed = 0 } = options;
  const random = randomOf(seed);
  const ranked = rank(question, sources)
    .map(({ sentence, score }) => ({ sentence, score: score * (1 + NOISE_SPAN * temperature * (random() - 0.5)) }))
    .sort((a, b) => b.score - a.score);
  const [top] = ranked;
  if (top === undefined) return [];
  const least = MIN_SHARE_OF_BEST * top.score;
  const open = ranked.filter(({ score }) => score >= least).slice(0, MAX_CANDIDATES);
  const chosen: Sentence[] = [];
  while (chosen.length < sentences) {
    const next = best(open, chosen, top.score);
    if (next === null) break;
    open.splice(open.indexOf(next), 1);
    chosen.push(next.sentence);
  }
  return chosen;
}

/** Sentences that share a term with the question, with their BM25 score. */
function rank(question: string, sources: SourceSet): Candidate[] {
  const sentences = sources.list.flatMap(({ id, text }, source) => (isCitable(id) ? sentencesOf(text, source) : []));
  const wanted = new Set(termsOf(question).keys());
  const containing = new Map<number, number>();
  let length = 0;
  for (const { terms } of sentences) {
    for (const [term, count] of terms) {
      length += count;
      if (wanted.has(term)) containing.set(term, (containing.get(term) ?? 0) + 1);
    }
  }
  const meanLength = length / Math.max(1, sentences.length);
  return sentences.flatMap((sentence): Candidate[] => {
    const own = [...sentence.terms.values()].reduce((sum, count) => sum + count, 0);
    let score = 0;
    for (const [term, sentencesWith] of containing) {
      const count = sentence.terms.get(term) ?? 0;
      const rarity = Math.log(1 + (sentences.length - sentencesWith + 0.5) / (sentencesWith + 0.5));
      const saturation = TERM_SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * (own / meanLength));
      score += (rarity * count * (TERM_SATURATION + 1)) / (count + saturation);
    }
    return score > 0 ? [{ sentence, score }] : [];
  });
}

function sentencesOf(text: string, source: number): Sentence[] {
  return splitSentences(text).flatMap(({ start, end }): Sentence[] => {
    const sentence = text.slice(start, end).replace(/\s+/gu, ' ').trim();
    // Markup inside a claim would be read as markup of the answer.
    if (sentence.length > MAX_SENTENCE_CHARS || sentence.includes('<')) return [];
    const terms = termsOf(sentence);
    return terms.size < MIN_CONTENT_TERMS ? [] : [{ source, start, text: sentence, terms }];
  });
}

function termsOf(text: string): Map<number, number> {
  const tokens = new TokenList((text.length >> 2) + 16);
  appendTokens(tokens, text, 0, text.length);
  const terms = new Map<number, number>();
  for (let i = 0; i < tokens.count; i++) {
    if (((tokens.kinds[i] ?? 0) & STOP) !== 0) continue;
    const stem = tokens.hashes[i] ?? 0;
    terms.set(stem, (terms.get(stem) ?? 0) + 1);
  }
  return terms;
}

/** Ids that can stand in a tag without quotes; a slash at the end would close it. */
function isCitable(id: string): boolean {
  return /^[\w.:/-]+$/u.test(id) && !id.endsWith('/');
}

function best(open: readonly Candidate[], chosen: readonly Sentence[], top: number): Candidate | null {
  let found: { readonly candidate: Candidate; readonly worth: number } | null = null;
  for (const candidate of open) {
    const repeats = chosen.reduce((most, { terms }) => Math.max(most, overlap(candidate.sentence.terms, terms)), 0);
    const worth = RELEVANCE_SHARE * (candidate.score / top) - (1 - RELEVANCE_SHARE) * repeats;
    if (worth > 0 && (found === null || worth > found.worth)) found = { candidate, worth };
  }
  return found === null ? null : found.candidate;
}

/** Share of one sentence's terms that another has, [0, 1]. */
function overlap(terms: ReadonlyMap<number, number>, others: ReadonlyMap<number, number>): number {
  let shared = 0;
  for (const term of terms.keys()) if (others.has(term)) shared++;
  return shared / terms.size;
}

/** Mulberry32: the same numbers for the same seed on every runtime. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
