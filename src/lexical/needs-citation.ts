import { hashTable, lookUp, stemOf } from './token-hash.ts';
import { CAPITALISED, NUMBER, STOP, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';
import { isNegation, isPersonal } from './word-lists.ts';

const ABOUT_SOURCES = 1;
const DOUBT = 2;
const OPENING = 3;

/** Words that mark a statement about the answer or its sources instead of the world. */
const MARKERS = hashTable([
  ...mark(
    'source snippet document passage excerpt result evidence output information context search reference material ' +
      'text article',
    ABOUT_SOURCES,
  ),
  ...mark(
    'unclear insufficient conflict conflicting disagree differ limited incomplete missing unavailable uncertain ' +
      'inconclusive specify',
    DOUBT,
  ),
  ...mark(
    'overall summary summarise summarize conclusion below following answer section overview outline first second ' +
      'finally next lastly',
    OPENING,
  ),
]);

function mark(words: string, value: number): (readonly [number, number])[] {
  return words.split(' ').map((word) => [stemOf(word), value] as const);
}

/** A statement without a number or name needs this many content tokens; a shorter one is connective text. */
const MIN_PLAIN_CONTENT = 5;
/** A statement with a number or name needs this many content tokens. */
const MIN_FACT_CONTENT = 2;

const EXPECTED_TOKENS = 64;
/** The token list is reused by the next call unless it has grown beyond this size. */
const MAX_KEPT_TOKENS = 1 << 12;
let tokens = new TokenList(EXPECTED_TOKENS);

/**
 * Guesses whether `statement[start, end)` is a checkable fact that needs a citation: it has a number, a name or enough
 * content, and is no question, heading, lead-in or remark on the sources ("the sources do not say"). It often takes
 * general remarks for facts. Takes linear time.
 */
export function needsCitation(statement: string, start = 0, end = statement.length): boolean {
  const from = skipSpace(statement, start, end);
  let to = end;
  while (to > from && isClosing(statement.charCodeAt(to - 1))) to--;
  if (from >= to || statement.charCodeAt(from) === 0x23) return false;
  const last = statement.charCodeAt(to - 1);
  if (last === 0x3f || last === 0xff1f || last === 0x3a || last === 0xff1a) return false;
  if (tokens.hashes.length > MAX_KEPT_TOKENS) tokens = new TokenList(EXPECTED_TOKENS);
  tokens.clear();
  appendTokens(tokens, statement, from, to);
  let content = 0;
  let facts = 0;
  let aboutSources = false;
  let doubt = false;
  let personal = false;
  let opening = false;
  for (let i = 0; i < tokens.count; i++) {
    const kind = tokens.kinds[i] ?? 0;
    const hash = tokens.hashes[i] ?? 0;
    const marker = lookUp(MARKERS, hash);
    if (marker === ABOUT_SOURCES) aboutSources = true;
    if (marker === DOUBT || isNegation(hash)) doubt = true;
    if (marker === OPENING && i < 4) opening = true;
    if ((kind & STOP) !== 0) {
      if (isPersonal(hash)) personal = true;
      continue;
    }
    content++;
    if ((kind & NUMBER) !== 0 || (i > 0 && (kind & CAPITALISED) !== 0)) facts++;
  }
  if (doubt && (aboutSources || personal)) return false;
  if (facts > 0) return content >= MIN_FACT_CONTENT;
  return !opening && content >= MIN_PLAIN_CONTENT;
}

function skipSpace(text: string, start: number, end: number): number {
  let i = start;
  while (i < end && (text.charCodeAt(i) <= 0x20 || text.charCodeAt(i) === 0xa0)) i++;
  return i;
}

/** White space, closing quotes and brackets, and Markdown emphasis. */
function isClosing(c: number): boolean {
  return (
    c <= 0x20 ||
    c === 0xa0 ||
    c === 0x22 ||
    c === 0x27 ||
    c === 0x29 ||
    c === 0x5d ||
    c === 0x2a ||
    c === 0x5f ||
    c === 0x2019 ||
    c === 0x201d
  );
}
