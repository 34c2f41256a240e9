/** Scores how far an answer meets a criterion, by words. */
import { ClaimTerms } from './claim-terms.ts';
import { hashTable, lookUp, stemOf } from './token-hash.ts';
import { CAPITALISED, NUMBER, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

/** Words of a criterion that instruct the judge. The answer need not contain them. */
const INSTRUCTIONS =
  'state states stated mention mentions mentioned say says said claim claims note notes noted explain explains ' +
  'explained describe describes described include includes including identify identifies identified provide ' +
  'provides provided give gives given specify specifies discuss discusses discussed indicate indicates acknowledge ' +
  'acknowledges cite cites list lists name names report reports contain contains cover covers address addresses ' +
  'point points make makes use uses clearly correctly explicitly accurately must answer answers response responses ' +
  'reply text user question credit score award awarded fully briefly specifically least';
/** First words of a criterion that describes a fault. Such a criterion is met fully or not at all. */
const FAULTS =
  'confuses confuse confusing mixes mix attributes credits blames denies omits fails ignores overlooks invents ' +
  'fabricates pads spends wanders calls misstates misattributes contradicts exaggerates offers counts dates ' +
  'conflates merges swaps misnames';
const FAULT_STEMS = hashTable(FAULTS.split(' ').map((word) => [stemOf(word), 1] as const));
const INSTRUCTION_STEMS = hashTable(INSTRUCTIONS.split(' ').map((word) => [stemOf(word), 1] as const));

/** A criterion is met if the answer has at least this share of its terms. */
const CRITERION_MET_MIN = 0.7;
/** A criterion is partly met if the answer has at least this share of its terms. */
const CRITERION_PARTIAL_MIN = 0.4;
/**
 * The same threshold if the answer lacks a name or number of the criterion: its other terms are often only the topic.
 */
const CRITERION_PARTIAL_WITHOUT_FACT_MIN = 0.6;

/**
 * Scores how far an answer meets a criterion, by words alone. It ignores word order, negation and meaning.
 *
 * Terms that occur in the question are the topic and prove nothing, so they count only if the criterion has no other
 * terms.
 *
 * @param answer The answer without its citation tags.
 * @returns 2 if the answer has most terms and all numbers and names of the criterion, 1 if it has a fair part of the
 *   terms, 0 otherwise or if the criterion has no terms.
 */
export function scoreCriterion(
  criterion: { readonly title?: string; readonly description: string },
  answer: string,
  question = '',
): 0 | 1 | 2 {
  const terms = new ClaimTerms();
  terms.load(criterion.description);
  if (terms.tokens.count === 0 && criterion.title !== undefined) terms.load(criterion.title);
  const isFault = lookUp(FAULT_STEMS, terms.tokens.hashes[0] ?? 0) !== 0;
  const inAnswer = termsFound(terms, answer);
  const own = share(terms, inAnswer, termsFound(terms, question));
  const { asked, met, factMissing } = own.asked > 0 ? own : share(terms, inAnswer, null);
  if (asked === 0) return 0;
  if (met >= CRITERION_MET_MIN * asked && !factMissing) return 2;
  if (isFault) return 0;
  const partialFrom = factMissing ? CRITERION_PARTIAL_WITHOUT_FACT_MIN : CRITERION_PARTIAL_MIN;
  return met >= partialFrom * asked ? 1 : 0;
}

/** Marks each term of the criterion that the text has with 1. */
function termsFound(terms: ClaimTerms, text: string): Uint8Array {
  const found = new Uint8Array(terms.termCount);
  const tokens = new TokenList((text.length >> 2) + 16);
  appendTokens(tokens, text, 0, text.length);
  for (let i = 0; i < tokens.count; i++) {
    const value = terms.find(tokens.hashes[i] ?? 0);
    if (value > 0) found[value - 1] = 1;
  }
  return found;
}

/**
 * Counts the terms asked for and met, without instructions and without the terms of the question (`null`: keep them).
 */
function share(
  terms: ClaimTerms,
  inAnswer: Uint8Array,
  inQuestion: Uint8Array | null,
): { readonly asked: number; readonly met: number; readonly factMissing: boolean } {
  let asked = 0;
  let met = 0;
  let factMissing = false;
  for (let t = 0; t < terms.termCount; t++) {
    if (inQuestion !== null && inQuestion[t] === 1) continue;
    const token = terms.firstToken[t] ?? 0;
    const kind = terms.tokens.kinds[token] ?? 0;
    const name = terms.nameOfToken[token] === 1;
    const hash = terms.tokens.hashes[token] ?? 0;
    const instruction = lookUp(INSTRUCTION_STEMS, hash) !== 0 || (token === 0 && lookUp(FAULT_STEMS, hash) !== 0);
    if (!name && (kind & (NUMBER | CAPITALISED)) !== NUMBER && instruction) continue;
    asked++;
    if (inAnswer[t] === 1) met++;
    else if (name || (kind & NUMBER) !== 0) factMissing = true;
  }
  return { asked, met, factMissing };
}
