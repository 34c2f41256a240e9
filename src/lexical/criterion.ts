import { ClaimTerms } from './claim-terms.ts';
import { hashTable, lookUp } from './hash-table.ts';
import { stemOf } from './number-words.ts';
import { CAPITALISED, NUMBER, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

/** Words of a criterion that tell the judge what to do and are no part of what the answer has to say. */
const INSTRUCTIONS =
  'state states stated mention mentions mentioned say says said claim claims note notes noted explain explains explained describe describes described ' +
  'include includes including identify identifies identified provide provides provided give gives given specify specifies discuss discusses discussed ' +
  'indicate indicates acknowledge acknowledges cite cites list lists name names report reports contain contains cover covers address addresses ' +
  'point points make makes use uses clearly correctly explicitly accurately must answer answers response responses reply text user question ' +
  'credit score award awarded fully briefly specifically least';
/** First words of a criterion that describes a fault: half a fault is none, so such a criterion is met whole or not at all. */
const FAULTS =
  'confuses confuse confusing mixes mix attributes credits blames denies omits fails ignores overlooks invents fabricates pads spends wanders calls ' +
  'misstates misattributes contradicts exaggerates offers counts dates conflates merges swaps misnames';
const FAULT_STEMS = hashTable(FAULTS.split(' ').map((word) => [stemOf(word), 1] as const));
const INSTRUCTION_STEMS = hashTable(INSTRUCTIONS.split(' ').map((word) => [stemOf(word), 1] as const));

/** Share of a criterion's terms in the answer from which it counts as met, or as met in part. */
export const CRITERION_MET_MIN = 0.7;
export const CRITERION_PARTIAL_MIN = 0.4;
/** The same for a criterion of which a name or number is missing: what is left is often only the topic. */
export const CRITERION_PARTIAL_WITHOUT_FACT_MIN = 0.6;

/**
 * How far an answer (its citation tags taken out by the caller) has what a criterion asks for, by words alone: 2 if most of its content terms and
 * all of its numbers and names are there, 1 if a fair part is, 0 otherwise or where the criterion has no content of its own. Terms that the
 * question has already are the topic and prove nothing; they count only where the criterion has no others. Blind to order, negation and meaning.
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

/** Per term of the criterion: 1 if the text has it. */
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

/** How many terms are asked for and met, leaving out instructions and (unless `null`) what the question has. */
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
