/**
 * The extractive refiner: answers a question with sentences copied from its sources, each cited. It needs no model and
 * no GPU, and its citations are valid by construction. It serves as a baseline for trained refiners and in
 * demonstrations. It matches words of the question and understands neither question nor sources.
 *
 * Selection is greedy maximal marginal relevance (Carbonell and Goldstein, 1998): close to the question, far from the
 * sentences already chosen.
 */
import type { SourceSet } from '../citations/types.ts';
import { STOP, TokenList } from '../lexical/token-list.ts';
import { appendTokens } from '../lexical/tokeniser.ts';
import { splitSentences } from '../text/sentences.ts';

/** Model name that replies of the extractive refiner report. */
export const EXTRACTIVE_MODEL = 'citeward-extractive-1';

type ExtractiveOptions = {
  /** Maximum number of sentences in the answer. Default 4. */
  readonly sentences?: number;
  /** 0 = deterministic. Above 0, noise reorders sentences of similar score. Default 0. */
  readonly temperature?: number;
  /** Seed of the noise. Default 0. */
  readonly seed?: number;
};

const DEFAULT_SENTENCES = 4;
/** Share of relevance to the question in a sentence's score; the rest of the score is novelty. */
const RELEVANCE_SHARE = 0.7;
/** Sentences that score below this share of the best score are dropped. */
const MIN_SHARE_OF_BEST = 0.25;
/** Shorter sentences are headings and fragments; longer ones are unsplit text. */
const MIN_CONTENT_TERMS = 4;
const MAX_SENTENCE_CHARS = 600;
/**
 * Okapi BM25 (Robertson and Walker, 1994): k1, the saturation of repeated terms, and b, the share of length
 * normalisation.
 */
const TERM_SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Number of top-scored sentences that are compared with each other. */
const MAX_CANDIDATES = 64;
/** Width of the noise, relative to the score, at temperature 1. */
const NOISE_SPAN = 0.5;

type Sentence = {
  readonly source: number;
  readonly start: number;
  readonly text: string;
  /** Count of each content-word stem. */
  readonly terms: ReadonlyMap<number, number>;
};

type Candidate = { readonly sentence: Sentence; readonly score: number };

/**
 * Answers in the refiners' format: `<answer><snippet id=ID>sentence</snippet> …</answer>`, sentences in reading order.
 * If no sentence shares a content word with the question, the answer is one uncited sentence that says so.
 */
export function refineExtractively(question: string, sources: SourceSet, options: ExtractiveOptions = {}): string {
  const chosen = chooseSentences(question, sources, options).toSorted(
    (a, b) => a.source - b.source || a.start - b.start,
  );
  if (chosen.length === 0) return '<answer>The search results do not answer this question.</answer>';
  const cited = chosen.map(({ source, text }) => {
    const id = sources.list[source]?.id;
    if (id === undefined) throw new Error('refineExtractively: a sentence without a source');
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

/** Scores sentences by BM25 against the question; sentences that share no term with it are left out. */
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
    // The parser would read markup inside a claim as markup of the answer.
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

/** Whether an id is valid in an unquoted attribute. A trailing slash would close the tag. */
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

/** Share of one sentence's terms that the other contains, [0, 1]. */
function overlap(terms: ReadonlyMap<number, number>, others: ReadonlyMap<number, number>): number {
  let shared = 0;
  for (const term of terms.keys()) if (others.has(term)) shared++;
  return shared / terms.size;
}

/** Mulberry32, a seeded generator: equal seeds give equal numbers in every runtime. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
