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
const INSTRUCTION_STEMS = hashTable(INSTRUCTIONS.split(' ').map((word) => [stemOf(word), 1] as const));

/** Share of a criterion's terms in the answer from which it counts as met, or as met in part. */
export const CRITERION_MET_MIN = 0.7;
export const CRITERION_PARTIAL_MIN = 0.4;

/**
 * How far an answer (its citation tags taken out by the caller) has what a criterion asks for, by words alone: 2 if most of its content terms and all of its
 * numbers and names are there, 1 if a fair part is, 0 otherwise or where the criterion has no content of its own. Blind to order, negation and meaning.
 */
export function scoreCriterion(
  criterion: { readonly title?: string; readonly description: string },
  answer: string,
): 0 | 1 | 2 {
  const terms = new ClaimTerms();
  terms.load(criterion.description);
  if (terms.tokens.count === 0 && criterion.title !== undefined) terms.load(criterion.title);
  const found = new Uint8Array(terms.termCount);
  const tokens = new TokenList((answer.length >> 2) + 16);
  appendTokens(tokens, answer, 0, answer.length);
  for (let i = 0; i < tokens.count; i++) {
    const value = terms.find(tokens.hashes[i] ?? 0);
    if (value > 0) found[value - 1] = 1;
  }
  let asked = 0;
  let met = 0;
  let factMissing = false;
  for (let t = 0; t < terms.termCount; t++) {
    const token = terms.firstToken[t] ?? 0;
    const kind = terms.tokens.kinds[token] ?? 0;
    const name = terms.nameOfToken[token] === 1;
    if (
      !name &&
      (kind & (NUMBER | CAPITALISED)) !== NUMBER &&
      lookUp(INSTRUCTION_STEMS, terms.tokens.hashes[token] ?? 0) !== 0
    )
      continue;
    asked++;
    if (found[t] === 1) met++;
    else if (name || (kind & NUMBER) !== 0) factMissing = true;
  }
  if (asked === 0) return 0;
  const share = met / asked;
  if (share >= CRITERION_MET_MIN && !factMissing) return 2;
  return share >= CRITERION_PARTIAL_MIN ? 1 : 0;
}
