import type { ClaimTerms } from './claim-terms.ts';
import type { SourceTokens } from './source-index.ts';
import { isNegation } from './opposites.ts';
import type { TokenList } from './tokens.ts';

/** Sentences in a window. */
const WINDOW_SENTENCES = 3;
/** How many places of a repeated word are compared with its neighbours: keeps a claim of one word, repeated, linear. */
const MAX_OCCURRENCES = 4;
/** A negation counts against a claim if a term of the claim follows within this many tokens. */
const NEGATION_REACH = 3;

/** Where a claim's terms occur in the cited sources. Rooms grow by doubling and are reused. */
export class EvidenceScan {
  private hitTokens = new Int32Array(256);
  private hitTerms = new Int32Array(256);
  hitCount = 0;
  /** Per term: sentences (of all cited sources) it occurs in. */
  sentencesOfTerm = new Int32Array(64);
  private lastSentence = new Int32Array(64);
  /** Per term: 1 if it occurs in a title. */
  inTitle = new Uint8Array(64);
  weights = new Float64Array(64);
  private inWindow = new Int32Array(64);
  /** Per term: 1 if it is in the best window of a cited source, or in a title. */
  found = new Uint8Array(64);
  opposed = new Uint8Array(64);
  /** Per claim token: 1 if it and the token before it stand side by side in a best window. */
  pairFound = new Uint8Array(64);
  totalWeight = 0;
  private titleWeight = 0;
  sentences = 0;
  /** A negation close before a term of the claim in a best window. */
  negationNear = false;
  negationInWindow = false;
  // The best window of the source looked at last, as hits and tokens; end excluded.
  bestWeight = 0;
  windowFirstHit = 0;
  windowEndHit = 0;
  windowFirstToken = 0;
  windowEndToken = 0;

  begin(terms: ClaimTerms): void {
    const room = Math.max(terms.termCount, terms.tokens.count);
    if (this.found.length < room) {
      const size = Math.max(room, this.found.length * 2);
      this.sentencesOfTerm = new Int32Array(size);
      this.lastSentence = new Int32Array(size);
      this.inTitle = new Uint8Array(size);
      this.weights = new Float64Array(size);
      this.inWindow = new Int32Array(size);
      this.found = new Uint8Array(size);
      this.opposed = new Uint8Array(size);
      this.pairFound = new Uint8Array(size);
    }
    for (let t = 0; t < terms.termCount; t++) {
      this.sentencesOfTerm[t] = 0;
      this.lastSentence[t] = -1;
      this.inTitle[t] = 0;
      this.inWindow[t] = 0;
      this.found[t] = 0;
      this.opposed[t] = 0;
    }
    this.pairFound.fill(0, 0, terms.tokens.count);
    this.hitCount = 0;
    this.sentences = 0;
    this.negationNear = false;
    this.negationInWindow = false;
  }

  /** Notes every place of the claim's terms in one source; one pass over its token hashes. */
  addSource(terms: ClaimTerms, tokens: TokenList, source: SourceTokens): void {
    const { hashes, sentenceTokens } = tokens;
    let sentence = source.firstSentence;
    let nextSentence = sentence + 1 < source.endSentence ? (sentenceTokens[sentence + 1] ?? 0) : source.endToken;
    for (let i = source.firstToken; i < source.endToken; i++) {
      const value = terms.find(hashes[i] ?? 0);
      if (value === 0) continue;
      while (i >= nextSentence) {
        sentence++;
        nextSentence = sentence + 1 < source.endSentence ? (sentenceTokens[sentence + 1] ?? 0) : source.endToken;
      }
      if (value > 0 && this.lastSentence[value - 1] !== sentence) {
        this.lastSentence[value - 1] = sentence;
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
    this.sentences += source.endSentence - source.firstSentence;
  }

  /**
   * Weighs the terms by how rare they are among the sentences of the cited sources: 1 / (1 + share of sentences * 4)… a stand-in for the
   * logarithm of idf that needs only arithmetic every runtime does alike.
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

  /** Finds the window of WINDOW_SENTENCES sentences of one source (its hits are [from, to)) with the most weight, and marks what is in it. */
  bestWindow(terms: ClaimTerms, tokens: TokenList, source: SourceTokens, from: number, to: number): void {
    const { hitTokens, hitTerms, inWindow, weights } = this;
    const { sentenceTokens } = tokens;
    this.windowFirstHit = from;
    this.windowEndHit = from;
    let sum = this.titleWeight;
    this.bestWeight = sum;
    let left = from;
    let sentence = source.firstSentence;
    for (let right = from; right < to; right++) {
      const token = hitTokens[right] ?? 0;
      while (sentence + 1 < source.endSentence && (sentenceTokens[sentence + 1] ?? 0) <= token) sentence++;
      const floor = sentenceTokens[Math.max(source.firstSentence, sentence - WINDOW_SENTENCES + 1)] ?? 0;
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
    if (this.windowEndHit > from) this.markWindow(terms, tokens, source);
  }

  /** Widens the window to whole sentences and marks the terms, pairs, opposites and negations in it. */
  private markWindow(terms: ClaimTerms, tokens: TokenList, source: SourceTokens): void {
    const { hitTokens, hitTerms } = this;
    const { hashes, sentenceTokens } = tokens;
    let s = sentenceAt(sentenceTokens, source.firstSentence, source.endSentence, hitTokens[this.windowFirstHit] ?? 0);
    this.windowFirstToken = sentenceTokens[s] ?? 0;
    s = sentenceAt(sentenceTokens, s, source.endSentence, hitTokens[this.windowEndHit - 1] ?? 0);
    this.windowEndToken = s + 1 < source.endSentence ? (sentenceTokens[s + 1] ?? 0) : source.endToken;
    const claim = terms.tokens.hashes;
    let negation = -1 - NEGATION_REACH;
    let token = this.windowFirstToken;
    for (let hit = this.windowFirstHit; hit < this.windowEndHit; hit++) {
      const at = hitTokens[hit] ?? 0;
      const term = (hitTerms[hit] ?? 0) - 1;
      for (; token < at; token++) if (isNegation(hashes[token] ?? 0)) negation = token;
      if (term < 0) {
        this.opposed[-2 - term] = 1;
        continue;
      }
      this.found[term] = 1;
      if (negation >= this.windowFirstToken) {
        this.negationInWindow = true;
        if (at - negation <= NEGATION_REACH) this.negationNear = true;
      }
      let place = terms.firstToken[term] ?? -1;
      for (let k = 0; place >= 0 && k < MAX_OCCURRENCES; k++) {
        if (place > 0 && at > source.firstToken && hashes[at - 1] === claim[place - 1]) this.pairFound[place] = 1;
        if (place + 1 < terms.tokens.count && at + 1 < source.endToken && hashes[at + 1] === claim[place + 1]) this.pairFound[place + 1] = 1;
        place = terms.nextOfToken[place] ?? -1;
      }
    }
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

/** The sentence in [from, to) that holds a token; bisection. */
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
