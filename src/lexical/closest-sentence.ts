/**
 * Compares a claim with the sentence of a source that has most of its terms. If that sentence has another number in the
 * place of the claim's, or if only one of the two negates, the source says something else, although each word of the
 * claim may be somewhere in it.
 */
import type { ClaimTerms } from './claim-terms.ts';
import type { EvidenceScan } from './evidence-scan.ts';
import { hasNegationSign, isFunctionWord, isSigned, negatesIn, softensNegation, turnsNegation } from './languages.ts';
import { anyQuarterAt, monthNumber, quarterAt } from './name-spellings.ts';
import { spelledNumber } from './number-words.ts';
import { hasUnitAfter, isFullHour } from './quantities.ts';
import type { SourceTokens } from './source-index.ts';
import type { Closest } from './support-model.ts';
import { stemOf } from './token-hash.ts';
import type { TokenList } from './token-list.ts';
import { isReversing, isStopStem, onlyLooksListed } from './word-lists.ts';

function sayingNothingElse(weight: number): Closest {
  return { weight, otherNumbers: null, negation: false };
}

/** No sentence. */
export const FAR = sayingNothingElse(0);

/** Share of a claim's weight that a sentence must have to be compared with its negations. */
const CLOSE = 0.6;
/** Share of the rest of a claim that a sentence must have to have another number. */
const CLOSE_WITHOUT_NUMBER = 0.75;
/** How much less of the rest of the claim the sentences with its number have. */
const ELSEWHERE = 0.3;
/** Most tokens between a negation and the word that it negates. */
const REACH = 3;
/** Tokens after a negation in which an "until" makes it none, or a "que" after "ne". */
const UNTIL_REACH = 8;
const [UNTIL, NE, QUE] = ['until', 'ne', 'que'].map(stemOf);
const CLAUSE_END = /[,;:()—–\n，、；،؛]/;

/** A range of tokens of a text, with the term of each; -1 = none. */
type Part = {
  readonly tokens: TokenList;
  readonly text: string;
  readonly first: number;
  readonly end: number;
  readonly termOf: (token: number) => number;
};

/**
 * Compares a claim with the sentences of one source that have most of its weight; of several, the one that says the
 * same counts. Call it after `scan.bestWindow` of the source. Takes time linear in the claim and the source.
 *
 * @param from `[from, to)` are the source's hits.
 */
export function closestSentence(
  terms: ClaimTerms,
  scan: EvidenceScan,
  source: SourceTokens,
  from: number,
  to: number,
): Closest {
  const { bestWeight, totalWeight } = scan;
  // No sentence weighs more than the best window, so its weight is the bound. A number and its unit weigh 4 at most.
  const least = Math.min(CLOSE * totalWeight, CLOSE_WITHOUT_NUMBER * (totalWeight - 4));
  if (bestWeight < least) return sayingNothingElse(bestWeight);
  const numbers = comparedNumbers(terms, scan);
  if (numbers.size === 0 && !terms.negated && !scan.windowNegates) return sayingNothingElse(bestWeight);
  const { tokens, endSentence, endToken, text } = source;
  const { sentenceTokens } = tokens;
  const endOf = (sentence: number): number =>
    sentence + 1 < endSentence ? (sentenceTokens[sentence + 1] ?? 0) : endToken;
  const seenIn = new Int32Array(terms.termCount).fill(-1);
  /** For each number of the claim, the greatest weight of a sentence that has it; infinite if one counts the same. */
  const elsewhere = new Float64Array(terms.termCount);
  let best = 0;
  let closest: { sentence: number; from: number; to: number }[] = [];
  for (let hit = from, sentence = 0; hit < to; ) {
    while (endOf(sentence) <= scan.tokenOfHit(hit)) sentence++;
    const end = endOf(sentence);
    const first = hit;
    let weight = 0;
    for (; hit < to && scan.tokenOfHit(hit) < end; hit++) {
      const term = scan.termOfHit(hit);
      if (term < 0 || seenIn[term] === sentence) continue;
      seenIn[term] = sentence;
      weight += scan.weights[term] ?? 0;
    }
    for (let k = first; k < hit; k++) {
      const number = numbers.get(scan.termOfHit(k));
      if (number === undefined) continue;
      const word = k + number.step;
      const countsSame =
        word < hit &&
        scan.tokenOfHit(word) === scan.tokenOfHit(k) + number.step &&
        scan.termOfHit(word) === number.word;
      elsewhere[number.term] = Math.max(elsewhere[number.term] ?? 0, countsSame ? Number.POSITIVE_INFINITY : weight);
    }
    if (weight < best) continue;
    if (weight > best) closest = [];
    best = weight;
    closest.push({ sentence, from: first, to: hit });
  }
  if (best < least) return sayingNothingElse(best);
  const isClose = best >= CLOSE * totalWeight;
  if (isClose && terms.negated) terms.denied ??= negatedTerms(terms, claimPart(terms));
  const denied = (isClose ? terms.denied : null) ?? [];
  let found = FAR;
  for (const { sentence, from: start, to: stop } of closest) {
    const hits = new Map<number, number>();
    for (let hit = start; hit < stop; hit++) hits.set(scan.tokenOfHit(hit), scan.termOfHit(hit));
    const termOf = (token: number): number => hits.get(token) ?? -1;
    const part = { tokens, text, first: sentenceTokens[sentence] ?? 0, end: endOf(sentence), termOf };
    const has = new Set(hits.values());
    const one = {
      weight: best,
      otherNumbers: changedNumbers(terms, numbers, scan, part, has, best, elsewhere),
      negation: isClose && negationDiffers(terms, denied, part, has),
    };
    if (isCloser(one, found)) found = one;
    if (!differs(found)) break;
  }
  return found;
}

/** Whether a sentence is closer to the claim than another; of two that are as close, the one that says the same. */
export function isCloser(one: Closest, other: Closest): boolean {
  return one.weight > other.weight || (one.weight === other.weight && differs(other) && !differs(one));
}

/** Whether the sentence says something else than the claim. */
export function differs({ otherNumbers, negation }: Closest): boolean {
  return otherNumbers !== null || negation;
}

/** A number of a claim that a sentence may have another one for. */
type ComparedNumber = {
  readonly term: number;
  /** Weight of the number and of the unit after it. */
  readonly weight: number;
  /** The term that it counts, `step` tokens after it: "45 floors", "45 km long"; -1 = none. */
  readonly word: number;
  readonly step: number;
  /** The kind of number that a sentence must have instead. */
  readonly kind: number;
};

// Kinds of numbers that a sentence may have besides those of the claim, as bits.
const ANY_NUMBER = 1;
/** Q3, third quarter. */
const QUARTER = 2;

/** Returns the numbers of a claim that are compared, by term. */
function comparedNumbers(terms: ClaimTerms, { weights }: EvidenceScan): Map<number, ComparedNumber> {
  const numbers = new Map<number, ComparedNumber>();
  for (let term = 0; term < terms.termCount; term++) {
    if (!isCompared(terms, term)) continue;
    const token = terms.firstToken[term] ?? 0;
    const number = terms.numbers.quantityOf(token);
    const unit = number !== null && hasUnitAfter(number) ? termAt(terms, token + 1) : -1;
    const step = unit < 0 ? 1 : 2;
    const weight = (weights[term] ?? 0) + (weights[unit] ?? 0);
    const kind = quarterAt(terms.tokens, token) > 0 ? QUARTER : ANY_NUMBER;
    numbers.set(term, { term, weight, word: termAt(terms, token + step), step, kind });
  }
  return numbers;
}

/** The term of a token of the claim; -1 = none. */
function termAt({ termOfToken, tokens }: ClaimTerms, token: number): number {
  return token < tokens.count ? (termOfToken[token] ?? -1) : -1;
}

/** Whether a term is a number or quarter, but no year or day, which a source may say once for several sentences. */
function isCompared({ firstToken, nameOfToken, tokens, text }: ClaimTerms, term: number): boolean {
  const token = firstToken[term] ?? 0;
  if (quarterAt(tokens, token) > 0) return true;
  return isCount(tokens, token, text) && nameOfToken[token] !== 1 && !isDay(tokens, token);
}

/** Whether a number is beside the name of a month. */
function isDay({ hashes }: TokenList, token: number): boolean {
  return monthNumber(hashes[token - 1] ?? 0) > 0 || monthNumber(hashes[token + 1] ?? 0) > 0;
}

const isYear = (value: number): boolean => Number.isInteger(value) && value >= 1000 && value <= 2200;

/** The kinds of numbers of a sentence that the claim does not have. */
function otherNumbersIn({ tokens, text, first, end, termOf }: Part): number {
  let kinds = 0;
  for (let i = first; i < end; i++) {
    if (termOf(i) >= 0) continue;
    if (anyQuarterAt(tokens, i) > 0) kinds |= QUARTER;
    if (isCount(tokens, i, text)) kinds |= ANY_NUMBER;
  }
  return kinds;
}

/** Whether a token is a number in digits or in words, but no year, rough one, nor the 00 of 17:00. */
function isCount(tokens: TokenList, token: number, text: string): boolean {
  const number = tokens.numberOf(token);
  const spelled = number < 0 ? spelledNumber(tokens, token, text) : null;
  const value = number < 0 ? (spelled?.value ?? Number.NaN) : (tokens.numberValues[number] ?? Number.NaN);
  if (!(value >= 0) || isYear(value) || spelled?.isRough === true) return false;
  return !isFullHour({ text, start: tokens.starts[token] ?? 0, end: tokens.ends[token] ?? 0 });
}

/** Marks the numbers of a claim that a sentence with most of the rest of it lacks, and that are not said elsewhere. */
function changedNumbers(
  terms: ClaimTerms,
  numbers: ReadonlyMap<number, ComparedNumber>,
  { totalWeight }: EvidenceScan,
  sentence: Part,
  has: ReadonlySet<number>,
  weight: number,
  elsewhere: Float64Array,
): Uint8Array | null {
  let changed: Uint8Array | null = null;
  const kinds = numbers.size === 0 ? 0 : otherNumbersIn(sentence);
  if (kinds === 0) return null;
  for (const { term, weight: own, kind } of numbers.values()) {
    if (has.has(term) || (kinds & kind) === 0) continue;
    const rest = totalWeight - own;
    if (weight < CLOSE_WITHOUT_NUMBER * rest || Math.max(0, (elsewhere[term] ?? 0) - own) > weight - ELSEWHERE * rest)
      continue;
    if (hasRounded(terms, term, sentence)) continue;
    changed ??= new Uint8Array(terms.termCount);
    changed[term] = 1;
  }
  return changed;
}

/** Whether a sentence has a number that rounds to a number of the claim. */
function hasRounded(terms: ClaimTerms, term: number, { tokens, text, first, end }: Part): boolean {
  const roundsTo = terms.numbers.roundingTo(terms.firstToken[term] ?? 0);
  if (roundsTo === null) return false;
  for (let i = first; i < end; i++) {
    const number = tokens.numberOf(i);
    if (number >= 0 && roundsTo(number, { text, tokens })) return true;
  }
  return false;
}

function claimPart({ tokens, text, termOfToken }: ClaimTerms): Part {
  return { tokens, text, first: 0, end: tokens.count, termOf: (token) => termOfToken[token] ?? -1 };
}

/**
 * Whether only one of claim and sentence negates a word that both have.
 * @param denied the terms that the claim negates.
 * @param has the terms that the sentence has.
 */
function negationDiffers(
  terms: ClaimTerms,
  denied: readonly number[],
  sentence: Part,
  has: ReadonlySet<number>,
): boolean {
  if (isSigned(terms.language)) return hasNegationSign(terms.negations, clausesWithTerms(sentence)) !== terms.negated;
  const others = negatedTerms(terms, sentence);
  if (terms.negated) return others.length === 0 && denied.some((term) => has.has(term)) && !reverses(terms, sentence);
  if (others.length === 0) return false;
  // A reversing word of the claim may say what the negation says.
  for (let t = 0; t < terms.termCount; t++) if (terms.reversing[t] === 1 && !has.has(t)) return false;
  return true;
}

/** The clauses of a sentence that have a term of the claim. */
function clausesWithTerms({ tokens, text, first, end, termOf }: Part): string {
  const startOf = (token: number): number => tokens.starts[token] ?? 0;
  let at = startOf(first);
  let token = first;
  let said = '';
  for (const clause of text.slice(at, tokens.ends[end - 1] ?? 0).split(CLAUSE_END)) {
    at += clause.length + 1;
    let hasTerm = false;
    for (; token < end && startOf(token) < at; token++) if (termOf(token) >= 0) hasTerm = true;
    if (hasTerm) said += `${clause} `;
  }
  return said;
}

/**
 * The terms that negations of a text are about: the next content word of the clause, or else the last one. Words of
 * languages other than English are not stemmed, so there each term near the negation counts.
 */
function negatedTerms({ language, negations }: ClaimTerms, { tokens, text, first, end, termOf }: Part): number[] {
  const { hashes, starts, ends } = tokens;
  const isEnglish = language === null || language === 'en';
  const negated = new Map<number, number>();
  const endsClause = (i: number): boolean => CLAUSE_END.test(text.slice(ends[i - 1] ?? 0, starts[i] ?? 0));
  let contents = 0;
  const negate = (i: number): void => {
    const hash = hashes[i] ?? 0;
    if (isStopStem(hash) || isFunctionWord(language, hash)) return;
    if (isEnglish) contents++;
    if (termOf(i) >= 0) negated.set(i, termOf(i));
  };
  for (let i = startOfLastTurn(negations, hashes, first, end, termOf); i < end; i++) {
    const isNegation = negatesIn(negations, hashes[i] ?? 0, text, starts[i] ?? 0, ends[i] ?? 0);
    if (!isNegation || softensNegation(negations, hashes[i + 1] ?? 0)) continue;
    const undoing = hashes[i] === NE ? QUE : UNTIL;
    let isUndone = false;
    for (let j = i + 2; j < Math.min(end, i + UNTIL_REACH) && !isUndone && !endsClause(j); j++)
      isUndone = hashes[j] === undoing;
    if (isUndone) continue;
    contents = 0;
    for (let j = i + 1; j < end && j <= i + REACH + 1 && contents === 0 && !endsClause(j); j++) negate(j);
    for (let j = i - 1; j >= first && j >= i - REACH && contents === 0 && !endsClause(j + 1); j--) negate(j);
  }
  // A term that the text also has elsewhere may be stated there: "not late, but the bus was late".
  const stated = new Set<number>();
  for (let i = first; i < end; i++) if (termOf(i) >= 0 && !negated.has(i)) stated.add(termOf(i));
  return [...negated.values()].filter((term) => !stated.has(term));
}

/** The last "but" with a term of its own after it, or the start: a negation before it denies nothing after it. */
function startOfLastTurn(
  negations: number,
  hashes: Int32Array,
  first: number,
  end: number,
  termOf: (token: number) => number,
): number {
  const seen = new Set<number>();
  let turn = first;
  let start = first;
  for (let i = first; i < end; i++) {
    const term = termOf(i);
    if (turnsNegation(negations, hashes[i] ?? 0)) turn = i;
    if (term < 0 || seen.has(term)) continue;
    seen.add(term);
    start = turn;
  }
  return start;
}

/** Whether a sentence has an English word that the claim lacks and that reverses a statement: refused, excluded. */
function reverses({ language }: ClaimTerms, { tokens, text, first, end, termOf }: Part): boolean {
  if (language !== null && language !== 'en') return false;
  const { hashes, starts, ends } = tokens;
  for (let i = first; i < end; i++) {
    const hash = hashes[i] ?? 0;
    if (!isReversing(hash) || termOf(i) >= 0) continue;
    if (!onlyLooksListed(hash, text, starts[i] ?? 0, ends[i] ?? 0)) return true;
  }
  return false;
}
