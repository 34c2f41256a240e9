/** Finds the places of a claim's terms in its cited sources, and the window of each source that covers it best. */
import type { ClaimTerms } from './claim-terms.ts';
import { hasNegationSign, negatesIn } from './languages.ts';
import type { SourceTokens } from './source-index.ts';
import type { TermMarks } from './support-model.ts';
import { onlyLooksListed } from './word-lists.ts';

/** Length of a window, in sentences. */
const WINDOW_SENTENCES = 3;

/**
 * Finds where a claim's terms occur in the cited sources. Call `begin`, then `addSource` for each source, then `weigh`,
 * then `bestWindow` for each source. The arrays grow by doubling and are reused for the next claim.
 */
export class EvidenceScan {
  private hitTokens = new Int32Array(256);
  private hitTerms = new Int32Array(256);
  hitCount = 0;
  /** For each term, the number of sentences of the cited sources that contain it. */
  sentencesOfTerm = new Int32Array(64);
  private lastSentence = new Int32Array(64);
  /** 1 for each term that occurs in a title. */
  inTitle = new Uint8Array(64);
  weights = new Float64Array(64);
  private inWindow = new Int32Array(64);
  /** 1 for each term in the best window of a cited source, or in a title. */
  found = new Uint8Array(64);
  /** 1 for each term that has an opposite in a best window. */
  opposed = new Uint8Array(64);
  totalWeight = 0;
  private titleWeight = 0;
  sentences = 0;
  /** Best windows that contain a negation. */
  negations = 0;
  // The best window of the last source, as ranges of hits and of tokens; the end is exclusive.
  bestWeight = 0;
  windowFirstHit = 0;
  windowEndHit = 0;
  windowFirstToken = 0;
  windowEndToken = 0;
  /** Whether the best window of the last source has a negation. */
  windowNegates = false;

  /** Hits that fit the arrays. */
  get capacity(): number {
    return this.hitTokens.length;
  }

  tokenOfHit(hit: number): number {
    return this.hitTokens[hit] ?? 0;
  }

  /** The term of a hit; below 0 for an opposite of one. */
  termOfHit(hit: number): number {
    return (this.hitTerms[hit] ?? 0) - 1;
  }

  /** Resets the scan for a claim. */
  begin(terms: ClaimTerms): void {
    if (this.found.length < terms.termCount) {
      const size = Math.max(terms.termCount, this.found.length * 2);
      this.sentencesOfTerm = new Int32Array(size);
      this.lastSentence = new Int32Array(size);
      this.inTitle = new Uint8Array(size);
      this.weights = new Float64Array(size);
      this.inWindow = new Int32Array(size);
      this.found = new Uint8Array(size);
      this.opposed = new Uint8Array(size);
    }
    for (let t = 0; t < terms.termCount; t++) {
      this.sentencesOfTerm[t] = 0;
      this.lastSentence[t] = -1;
      this.inTitle[t] = 0;
      this.inWindow[t] = 0;
      this.found[t] = 0;
      this.opposed[t] = 0;
    }
    this.hitCount = 0;
    this.sentences = 0;
    this.negations = 0;
  }

  /** Records every hit of the claim's terms in one source, in one pass over its token hashes. */
  addSource(terms: ClaimTerms, source: SourceTokens): void {
    const { hashes, sentenceTokens } = source.tokens;
    const { keys, values, mask } = terms;
    let sentence = 0;
    let nextSentence = sentence + 1 < source.endSentence ? (sentenceTokens[sentence + 1] ?? 0) : source.endToken;
    const end = source.endToken;
    for (let i = 0; ; i++) {
      let hash = 0;
      let slot = 0;
      let value = 0;
      // Most tokens of a source are no term and most of their slots are free. This is an inner loop because V8 hoists
      // invariants out of innermost loops only.
      for (; i < end; i++) {
        hash = hashes[i] ?? 0;
        slot = (hash ^ (hash >>> 15)) & mask;
        value = values[slot] ?? 0;
        if (value !== 0) break;
      }
      if (i >= end) break;
      if (keys[slot] !== hash) {
        value = terms.find(hash);
        if (value === 0) continue;
      }
      if (value > 0 && terms.mayDiffer[value - 1] === 1 && !terms.acceptsNumber(value - 1, i, source)) continue;
      while (i >= nextSentence) {
        sentence++;
        nextSentence = sentence + 1 < source.endSentence ? (sentenceTokens[sentence + 1] ?? 0) : source.endToken;
      }
      // The sentences of each source begin at 0; those of the sources before it are no sentences of this one.
      if (value > 0 && this.lastSentence[value - 1] !== this.sentences + sentence) {
        this.lastSentence[value - 1] = this.sentences + sentence;
        this.sentencesOfTerm[value - 1] = (this.sentencesOfTerm[value - 1] ?? 0) + 1;
      }
      if (this.hitCount === this.hitTokens.length) this.growHits();
      this.hitTokens[this.hitCount] = i;
      this.hitTerms[this.hitCount++] = value;
    }
    for (let i = source.endToken; i < source.endTitleToken; i++) {
      const value = terms.find(hashes[i] ?? 0);
      if (value > 0) this.inTitle[value - 1] = 1;
    }
    this.sentences += source.endSentence;
  }

  /**
   * Weighs each term by its rarity among the sentences of the cited sources: 2 for a term that none contains, falling
   * towards 1. It approximates the logarithm of idf with arithmetic that gives the same bits on every runtime.
   */
  weigh(terms: ClaimTerms): void {
    let total = 0;
    let title = 0;
    for (let t = 0; t < terms.termCount; t++) {
      const n = this.sentencesOfTerm[t] ?? 0;
      const weight = 1 + (this.sentences - n) / (this.sentences + 8 * n + 1);
      this.weights[t] = weight;
      total += weight;
      if (this.inTitle[t] === 1) {
        this.found[t] = 1;
        title += weight;
      }
    }
    this.titleWeight = title;
    this.totalWeight = total;
  }

  /**
   * Finds the window of one source with the greatest weight and marks its terms. The source's hits are `[from, to)`.
   * @param negations the languages whose negations count.
   */
  bestWindow(source: SourceTokens, from: number, to: number, negations: number): void {
    const { hitTokens, hitTerms, inWindow, weights } = this;
    const { sentenceTokens } = source.tokens;
    this.windowFirstHit = from;
    this.windowEndHit = from;
    this.windowFirstToken = 0;
    this.windowEndToken = 0;
    this.windowNegates = false;
    let sum = this.titleWeight;
    this.bestWeight = sum;
    let left = from;
    let sentence = 0;
    for (let right = from; right < to; right++) {
      const token = hitTokens[right] ?? 0;
      while (sentence + 1 < source.endSentence && (sentenceTokens[sentence + 1] ?? 0) <= token) sentence++;
      const floor = sentenceTokens[Math.max(0, sentence - WINDOW_SENTENCES + 1)] ?? 0;
      while ((hitTokens[left] ?? 0) < floor) {
        const gone = (hitTerms[left++] ?? 0) - 1;
        if (gone < 0 || this.inTitle[gone] === 1) continue;
        const remaining = (inWindow[gone] ?? 0) - 1;
        inWindow[gone] = remaining;
        if (remaining === 0) sum -= weights[gone] ?? 0;
      }
      const term = (hitTerms[right] ?? 0) - 1;
      if (term < 0 || this.inTitle[term] === 1) continue;
      const seen = inWindow[term] ?? 0;
      inWindow[term] = seen + 1;
      if (seen === 0) {
        sum += weights[term] ?? 0;
        if (sum > this.bestWeight + 1e-9) {
          this.bestWeight = sum;
          this.windowFirstHit = left;
          this.windowEndHit = right + 1;
        }
      }
    }
    for (let hit = left; hit < to; hit++) {
      const term = (hitTerms[hit] ?? 0) - 1;
      if (term >= 0) inWindow[term] = 0;
    }
    if (this.windowEndHit > from) this.markWindow(source, negations);
  }

  /** Extends the window to whole sentences and marks its terms, opposites and negations. */
  private markWindow(source: SourceTokens, negations: number): void {
    const { hitTokens, hitTerms } = this;
    const { text, tokens } = source;
    const { hashes, starts, ends, sentenceTokens } = tokens;
    const onlyLooks = (token: number): boolean =>
      onlyLooksListed(hashes[token] ?? 0, text, starts[token] ?? 0, ends[token] ?? 0);
    let s = sentenceAt(sentenceTokens, 0, source.endSentence, hitTokens[this.windowFirstHit] ?? 0);
    this.windowFirstToken = sentenceTokens[s] ?? 0;
    s = sentenceAt(sentenceTokens, s, source.endSentence, hitTokens[this.windowEndHit - 1] ?? 0);
    this.windowEndToken = s + 1 < source.endSentence ? (sentenceTokens[s + 1] ?? 0) : source.endToken;
    this.windowNegates = this.hasNegation(source, negations);
    if (this.windowNegates) this.negations++;
    for (let hit = this.windowFirstHit; hit < this.windowEndHit; hit++) {
      const term = (hitTerms[hit] ?? 0) - 1;
      if (term < 0) {
        if (!onlyLooks(hitTokens[hit] ?? 0)) this.opposed[-2 - term] = 1;
        continue;
      }
      this.found[term] = 1;
    }
  }

  private hasNegation({ text, tokens }: SourceTokens, negations: number): boolean {
    const { hashes, starts, ends } = tokens;
    for (let i = this.windowFirstToken; i < this.windowEndToken; i++) {
      if (negatesIn(negations, hashes[i] ?? 0, text, starts[i] ?? 0, ends[i] ?? 0)) return true;
    }
    return hasNegationSign(negations, text, starts[this.windowFirstToken] ?? 0, ends[this.windowEndToken - 1] ?? 0);
  }

  /**
   * Returns the marks of the source whose window was found last and clears them, so that the next source begins without
   * marks. The source's hits are `[from, to)`.
   */
  takeMarks(terms: ClaimTerms, source: SourceTokens, from: number, to: number): Omit<TermMarks, 'closest'> {
    const { termCount } = terms;
    const anywhere = new Uint8Array(termCount);
    for (let hit = from; hit < to; hit++) {
      const term = (this.hitTerms[hit] ?? 0) - 1;
      if (term >= 0) anywhere[term] = 1;
    }
    // The marks of a window include the terms of all titles.
    const found = new Uint8Array(termCount);
    for (let hit = this.windowFirstHit; hit < this.windowEndHit; hit++) {
      const term = (this.hitTerms[hit] ?? 0) - 1;
      if (term >= 0) found[term] = 1;
    }
    for (let i = source.endToken; i < source.endTitleToken; i++) {
      const term = terms.find(source.tokens.hashes[i] ?? 0) - 1;
      if (term >= 0) found[term] = 1;
    }
    const opposed = this.opposed.slice(0, termCount);
    const { negations } = this;
    this.opposed.fill(0, 0, termCount);
    this.negations = 0;
    return { found, anywhere, opposed, negations };
  }

  private growHits(): void {
    const tokens = new Int32Array(this.hitTokens.length * 2);
    tokens.set(this.hitTokens);
    this.hitTokens = tokens;
    const terms = new Int32Array(tokens.length);
    terms.set(this.hitTerms);
    this.hitTerms = terms;
  }
}

/** Finds the sentence in `[from, to)` that contains a token, by bisection. */
function sentenceAt(sentenceTokens: Int32Array, from: number, to: number, token: number): number {
  let low = from;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sentenceTokens[middle] ?? 0) <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}
