/** Scores how far an answer meets a criterion, by words. */
import { ClaimTerms } from './claim-terms.ts';
import { BESIDE_NEGATION, DENIED, denials, STATED } from './denial.ts';
import { hashesOf, languageOf } from './languages.ts';
import { hashTable, lookUp, tableOfWords } from './token-hash.ts';
import { CAPITALISED, NUMBER, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

/** Words of a criterion that instruct the judge. The answer need not contain them. */
const INSTRUCTIONS =
  'state states stated mention mentions mentioned say says said claim claims note notes noted explain explains ' +
  'explained describe describes described include includes including identify identifies identified provide ' +
  'provides provided give gives given specify specifies discuss discusses discussed indicate indicates acknowledge ' +
  'acknowledges cite cites list lists name names report reports contain contains cover covers address addresses ' +
  'point points make makes use uses clearly correctly explicitly accurately must answer answers response responses ' +
  'reply text user question credit score award awarded fully briefly specifically least ' +
  'sagt erwahnt erklart nennt beschreibt gibt dit mentionne explique indique nomme dice menciona explica indica nombra ' +
  'говорит называет упоминает объясняет указывает';
/** First words of a criterion that describes a fault. Such a criterion is met fully or not at all. */
const FAULTS =
  'confuses confuse confusing mixes mix attributes credits blames denies invents ' +
  'fabricates pads spends wanders calls misstates misattributes contradicts exaggerates offers counts dates ' +
  'conflates merges swaps misnames';
/**
 * First words of a criterion that says what an answer leaves out. Such a criterion is met, fully, if the answer does not
 * contain the rest.
 */
const OMISSION =
  /^\s*(?:the (?:answer|response) )?(?:(?:omits?|leaves? out|ignores?|overlooks?|neglects?|lacks?|avoids?)\b(?: (?:to )?(?:mention|stat|say|nam|giv|cit|explain|describ|includ|not)\w*)?|(?:fails? to|does not|doesn['’]t|did not|never|must not|should not) (?:\w+ly )?(?:mention|state|say|name|give|cite|explain|describe|include|provide|specify|discuss|acknowledge|list|report|note|address|cover|answer)s?\b)/i;
const FAULT_STEMS = tableOfWords(FAULTS);
const INSTRUCTION_STEMS = hashTable(hashesOf(INSTRUCTIONS).map((hash) => [hash, 1] as const));

/** How a negation must occur in the answer: it decides how other terms must, and is not asked for itself. */
const NEGATION = 0;

/** A criterion is met if the answer has at least this share of its terms. */
const CRITERION_MET_MIN = 0.7;
/** A criterion is partly met if the answer has at least this share of its terms. */
const CRITERION_PARTIAL_MIN = 0.4;
/**
 * The same threshold if the answer lacks a name or number of the criterion: its other terms are often only the topic.
 */
const CRITERION_PARTIAL_WITHOUT_FACT_MIN = 0.6;

/** A text has the word. Beside the bits of `denials`. */
const OCCURS = 8;

/** The words of a text by their stem hash, each with how the text has it: the bits of all its places together. */
export type WordMarks = ReadonlyMap<number, number>;

const NO_WORDS: WordMarks = new Map();

/** Reads a text that criteria are compared with: an answer without its citation tags, or a question. Linear. */
export function markWords(text: string): WordMarks {
  const tokens = new TokenList((text.length >> 2) + 16);
  appendTokens(tokens, text, 0, text.length);
  const places = denials(tokens, text, languageOf(tokens, 0, tokens.count, text));
  const words = new Map<number, number>();
  for (let i = 0; i < tokens.count; i++) {
    const hash = tokens.hashes[i] ?? 0;
    words.set(hash, (words.get(hash) ?? OCCURS) | (places[i] ?? 0));
  }
  return words;
}

/**
 * Scores how far an answer meets a criterion, by words alone. It ignores word order and meaning. A term counts only if
 * the answer states it where the criterion states it, and denies it where the criterion does.
 *
 * Terms that occur in the question are the topic and prove nothing, so they count only if the criterion has no other
 * terms.
 *
 * Takes linear time in the criterion, however long the answer is.
 *
 * @returns 2 if the answer has most terms and all numbers and names of the criterion, 1 if it has a fair part of the
 *   terms, 0 otherwise or if the criterion has no terms.
 */
export function scoreCriterion(
  criterion: { readonly title?: string; readonly description: string },
  answer: WordMarks,
  question: WordMarks = NO_WORDS,
): 0 | 1 | 2 {
  const omission = OMISSION.exec(criterion.description)?.[0];
  if (omission !== undefined) {
    const rest = criterion.description.slice(omission.length);
    return scoreCriterion({ description: rest }, answer, question) === 0 ? 2 : 0;
  }
  const terms = new ClaimTerms();
  terms.load(criterion.description);
  let text = criterion.description;
  if (terms.tokens.count === 0 && criterion.title !== undefined) {
    text = criterion.title;
    terms.load(text);
  }
  const isFault = lookUp(FAULT_STEMS, terms.tokens.hashes[0] ?? 0) !== 0;
  const inCriterion = denials(terms.tokens, text, terms.language);
  const wanted = Uint8Array.from({ length: terms.termCount }, (_, t) => {
    const token = terms.firstToken[t] ?? 0;
    const mark = inCriterion[token] ?? 0;
    if (terms.isNegation(text, token)) return NEGATION;
    if ((mark & DENIED) !== 0) return BESIDE_NEGATION;
    // "The sources do not say" and "none of the sources says" deny the same, with another word stated.
    return (mark & BESIDE_NEGATION) === 0 ? STATED : STATED | DENIED;
  });
  denySomething(terms, wanted);
  const inAnswer = termsFound(terms, answer, wanted);
  const anywhere = new Uint8Array(terms.termCount).fill(OCCURS);
  const own = share(terms, wanted, inAnswer, termsFound(terms, question, anywhere));
  const { asked, met, factMissing } = own.asked > 0 ? own : share(terms, wanted, inAnswer, null);
  if (asked === 0 || statesDenied(wanted, inAnswer, termsFound(terms, answer, anywhere))) return 0;
  if (met >= CRITERION_MET_MIN * asked && !factMissing) return 2;
  if (isFault) return 0;
  const partialFrom = factMissing ? CRITERION_PARTIAL_WITHOUT_FACT_MIN : CRITERION_PARTIAL_MIN;
  return met >= partialFrom * asked ? 1 : 0;
}

/**
 * Returns whether the answer states every term of a text that denies nothing: each stands at least once outside what a
 * negation denies. `true` for a text with a negation, which this does not decide.
 */
export function statesTerms(text: string, answer: string): boolean {
  const terms = new ClaimTerms();
  terms.load(text);
  if (terms.negated) return true;
  const stated = new Uint8Array(terms.termCount).fill(STATED);
  return termsFound(terms, markWords(answer), stated).every((found) => found === 1);
}

/**
 * Marks each term of the criterion that the text has with 1.
 * @param wanted how each term must occur: one of these bits.
 */
function termsFound(terms: ClaimTerms, text: WordMarks, wanted: Uint8Array): Uint8Array {
  const found = new Uint8Array(terms.termCount);
  for (let slot = 0; slot <= terms.mask; slot++) {
    const value = terms.values[slot] ?? 0;
    if (value > 0 && ((text.get(terms.keys[slot] ?? 0) ?? 0) & (wanted[value - 1] ?? 0)) !== 0) found[value - 1] = 1;
  }
  return found;
}

/**
 * If a criterion denies nothing but instructions ("States that the sources do not say this"), its other terms must stand
 * beside a negation: naming the sources alone does not meet it.
 */
function denySomething(terms: ClaimTerms, wanted: Uint8Array): void {
  if (wanted.some((mark, t) => mark === BESIDE_NEGATION && !isInstruction(terms, t))) return;
  for (const [t, mark] of wanted.entries()) if (mark === (STATED | DENIED)) wanted[t] = BESIDE_NEGATION;
}

/** Returns whether the term instructs the judge. */
function isInstruction(terms: ClaimTerms, term: number): boolean {
  const token = terms.firstToken[term] ?? 0;
  const kind = terms.tokens.kinds[token] ?? 0;
  const hash = terms.tokens.hashes[token] ?? 0;
  if (lookUp(INSTRUCTION_STEMS, hash) === 0 && (token !== 0 || lookUp(FAULT_STEMS, hash) === 0)) return false;
  return (terms.nameOfToken[token] !== 1 || token === 0) && (kind & (NUMBER | CAPITALISED)) !== NUMBER;
}

/** Returns whether the answer states, and nowhere denies, something that the criterion denies. */
function statesDenied(wanted: Uint8Array, inAnswer: Uint8Array, anyhow: Uint8Array): boolean {
  return wanted.some((mark, t) => mark === BESIDE_NEGATION && anyhow[t] === 1 && inAnswer[t] === 0);
}

/**
 * Counts the terms asked for and met, without instructions and without the terms of the question (`null`: keep them).
 */
function share(
  terms: ClaimTerms,
  wanted: Uint8Array,
  inAnswer: Uint8Array,
  inQuestion: Uint8Array | null,
): { readonly asked: number; readonly met: number; readonly factMissing: boolean } {
  let asked = 0;
  let met = 0;
  let factMissing = false;
  for (let t = 0; t < terms.termCount; t++) {
    if (wanted[t] === NEGATION || isInstruction(terms, t) || (inQuestion !== null && inQuestion[t] === 1)) continue;
    const token = terms.firstToken[t] ?? 0;
    const kind = terms.tokens.kinds[token] ?? 0;
    const name = terms.nameOfToken[token] === 1;
    asked++;
    if (inAnswer[t] === 1) met++;
    else if (name || (kind & NUMBER) !== 0) factMissing = true;
  }
  return { asked, met, factMissing };
}
