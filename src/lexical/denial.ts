/**
 * Finds the words of a text that it denies: what follows a negation in its clause ("did not open in 1937"), and whole
 * sentences that call a statement false ("It is not true that …", "That is a myth"). It reads no grammar: a subject
 * before its negation counts as stated.
 */
import {
  hasNegationSign,
  type Language,
  languageBits,
  negatesIn,
  softensNegation,
  turnsNegation,
} from './languages.ts';
import { lookUp, stemOf, tableOfWords } from './token-hash.ts';
import type { TokenList } from './token-list.ts';

/** Bits of what a text does with a token. */
export const STATED = 1;
export const DENIED = 2;
/** The token's sentence has a negation somewhere. */
export const BESIDE_NEGATION = 4;

/** Verbs that deny what follows them, as a negation does. */
const DENYING = tableOfWords('deny dispute refute disprove debunk');
const UNTIL = stemOf('until');

const NOT_TRUE =
  /(?:\bnot|n['’]t|\bnever|\bhardly)\s+(?:\w+\s+){0,2}(?:true|correct|accurate|the case|right that|proven|supported by|established|confirmed)/i;
/** The same in other languages. No `\b`, which knows ASCII letters only. */
const NOT_TRUE_ELSEWHERE =
  /(?<![^\s"«(,;:])(?:nicht (?:wahr|richtig)|falsch|unwahr|pas (?:vrai|exact)|faux|no es (?:cierto|verdad)|falso|не ?верно|не ?правда|ложь)(?:\s*[.!;]|\s*$|,?\s+(?:dass|que|что))/i;
const CALLED_FALSE =
  /\b(?:is|was|are|were|be|been)\s+(?:(?:simply|clearly|quite|plainly|completely|entirely|just|a|an|the|common|widespread)\s+){0,3}(?:false|untrue|incorrect|inaccurate|wrong|mistaken|unfounded|fabricated|refuted|disproved|debunked|myth|misconception|error|mistake|lie)(?:\s*[.!;,]|\s*$|\s+(?:that|to\s+(?:say|state|claim)))/i;
const FALSE_THAT =
  /\b(?:false|untrue|incorrect|wrong|mistaken|myth|misconception|falsely|wrongly|mistakenly|incorrectly|no evidence|no truth|no basis|no proof)\s+(?:that\b|for\b|to\s+(?:say|state|claim)|(?:claim|state|said|say|believe|report|assume)\w*)/i;
/** Sentences that call what they say false. */
const CALLS_FALSE = [NOT_TRUE, NOT_TRUE_ELSEWHERE, CALLED_FALSE, FALSE_THAT];
/** A sentence that denies the one before it. */
const DENIES_THE_LAST =
  /^\W*(?:that|this|it|which|the (?:claim|statement|opposite))(?:\s+(?:claim|statement|sentence))?\s+(?:is|was)\s+(?:(?:simply|clearly|quite|plainly|completely|entirely)\s+)?(?:not\s+(?:true|correct|so|the case)|false|untrue|incorrect|wrong|true instead|a (?:myth|lie|mistake))/i;

const CLAUSE_END = /[,;:()—–\n]/;

/**
 * Returns for each token of `tokens`, which are those of `text` alone, whether the text states or denies it. Linear in
 * the text.
 */
export function denials(tokens: TokenList, text: string, language: Language | null): Uint8Array {
  const { starts, count, sentenceTokens, sentenceCount } = tokens;
  const bits = languageBits(language, null);
  const marks = new Uint8Array(count);
  let previous = 0;
  for (let sentence = 0; sentence < Math.max(1, sentenceCount); sentence++) {
    const first = sentence === 0 ? 0 : (sentenceTokens[sentence] ?? 0);
    const last = sentence + 1 < sentenceCount ? (sentenceTokens[sentence + 1] ?? count) : count;
    if (first >= last) continue;
    const end = last < count ? (starts[last] ?? text.length) : text.length;
    const words = text.slice(starts[first] ?? 0, end);
    if (DENIES_THE_LAST.test(words)) for (let i = previous; i < first; i++) marks[i] = DENIED | BESIDE_NEGATION;
    const whole = hasNegationSign(bits, words) || CALLS_FALSE.some((pattern) => pattern.test(words));
    if (whole) marks.fill(DENIED | BESIDE_NEGATION, first, last);
    else markClauses(tokens, text, bits, marks, first, last);
    previous = first;
  }
  return marks;
}

/** Marks the tokens `[from, to)` of one sentence. */
function markClauses(
  { hashes, starts, ends }: TokenList,
  text: string,
  languages: number,
  marks: Uint8Array,
  from: number,
  to: number,
): void {
  let denied = false;
  let negated = false;
  for (let i = from; i < to; i++) {
    const hash = hashes[i] ?? 0;
    const start = starts[i] ?? 0;
    if (i > from && CLAUSE_END.test(text.slice(ends[i - 1] ?? 0, start))) denied = false;
    if (hash === UNTIL || turnsNegation(languages, hash)) denied = false;
    marks[i] = denied ? DENIED : STATED;
    const negates = lookUp(DENYING, hash) !== 0 || negatesIn(languages, hash, text, start, ends[i] ?? 0);
    if (negates && !softensNegation(languages, hashes[i + 1] ?? 0)) {
      denied = true;
      negated = true;
    }
  }
  if (negated) for (let i = from; i < to; i++) marks[i] = (marks[i] ?? 0) | BESIDE_NEGATION;
}
