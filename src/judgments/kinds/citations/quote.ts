/**
 * Checks a judge's quote: a cited source must contain it word for word, after folding what copying changes
 * (quote-fold.ts). A recipe may zero a claim whose quote is not found. Linear in the cited texts.
 *
 * A quote begins and ends at borders of words and numbers: "able to swim" is no quote of "unable to swim". It leaves out
 * no negation and no condition of its own sentence: "cured the patients" is no quote of "has not cured the patients". An
 * ellipsis splits a quote into parts that one source contains in this order; a part in a later sentence begins it.
 */
import { createRecentlyUsed } from '../../../recently-used.ts';
import { isAsciiDigit, isLetterOrDigit } from '../../../text/characters.ts';
import { characterEnd, type Folded, foldForQuote, isHyphen, visibleText } from '../../../text/quote-fold.ts';
import { splitSentences } from '../../../text/sentences.ts';
import type { Span } from '../../../text/span.ts';

/**
 * Where a source contains the judge's quote, in UTF-16 code units; `end` is exclusive. The place of a quote with
 * ellipses reaches from its first part to its last. The text itself is not stored.
 */
export type Quote = { readonly source: number; readonly start: number; readonly end: number };

/** Longest quote that a judge is asked for, in characters. A longer one is cut there, perhaps within a word. */
export const MAX_QUOTE_CHARS = 500;

/**
 * Least weight of a quote, and of each of its parts: a folded unit weighs 1, an ideograph or kana 3. A shorter one
 * proves nothing: every source contains "the".
 */
const MIN_QUOTE_WEIGHT = 8;
const IDEOGRAPH_WEIGHT = 3;

/** Places looked at for one part that begin or end within a word. The bound keeps time linear. */
const MAX_OCCURRENCES = 64;

/** The sources that were folded last, by their text: the replies to the samples of a group quote the same ones. */
const foldedLast = createRecentlyUsed<Folded>({ entries: 512, size: 512 * 1024 });

/** Finds quotes in the sources of one request. Folds each source at its first use. */
export class QuoteFinder {
  readonly #texts: readonly string[];
  readonly #sources = new Map<number, FoldedSource>();

  /** @param texts the texts of the request's sources; an index into this list identifies a source. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /**
   * Returns the quote's place in the first cited source that contains it, as a whole or else in parts; `unverified` if
   * none does, or `absent` if the quote is empty once folded.
   */
  locate(quote: string, cited: readonly number[]): Quote | 'unverified' | 'absent' {
    const wanted = trimmed(foldForQuote(quote).text);
    if (wanted.length === 0) return 'absent';
    const isCut = quote.length >= MAX_QUOTE_CHARS;
    const parts = wanted.split(ELLIPSES).map(trimmed);
    for (const wording of parts.length === 1 ? [[wanted]] : [[wanted], parts]) {
      for (const source of cited) {
        const found = this.#source(source).find(wording, isCut);
        if (found !== null) return { source, ...found };
      }
    }
    return 'unverified';
  }

  #source(source: number): FoldedSource {
    const known = this.#sources.get(source);
    if (known !== undefined) return known;
    const text = this.#texts[source];
    if (text === undefined) throw new RangeError(`QuoteFinder: no source ${source}`);
    let folded = foldedLast.get(text);
    if (folded === undefined) {
      folded = foldForQuote(text);
      foldedLast.add(text, folded, text.length);
    }
    const made = new FoldedSource(text, folded);
    this.#sources.set(source, made);
    return made;
  }
}

/** Three full stops or more; the fold writes `…` and `. . .` so, and drops square brackets around them. */
const ELLIPSES = /\(?\.{3,}\)?/;

/** Punctuation that a judge adds at the edges of a quote, or cuts off there. */
const EDGE_MARKS = '.,;:';

function trimmed(folded: string): string {
  let start = 0;
  let end = folded.length;
  while (start < end && EDGE_MARKS.includes(folded.charAt(start))) start++;
  while (end > start && EDGE_MARKS.includes(folded.charAt(end - 1))) end--;
  return folded.slice(start, end);
}

function isLongEnough(part: string): boolean {
  let weight = 0;
  for (let i = 0; i < part.length && weight < MIN_QUOTE_WEIGHT; i++) {
    weight += isIdeographOrKana(part.charCodeAt(i)) ? IDEOGRAPH_WEIGHT : 1;
  }
  return weight >= MIN_QUOTE_WEIGHT;
}

/** Whether the script of the unit is written without blanks between words. */
function isIdeographOrKana(code: number): boolean {
  return (code >= 0x3041 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) || (code >= 0xd840 && code <= 0xdbff);
}

class FoldedSource {
  readonly #text: string;
  readonly #folded: Folded;
  #sentences: readonly Span[] | null = null;

  constructor(text: string, folded: Folded) {
    this.#text = text;
    this.#folded = folded;
  }

  /**
   * Returns the place from the first part to the last, if the source contains all parts in order.
   * @param isCut whether the last part may end within a word.
   */
  find(parts: readonly string[], isCut: boolean): { readonly start: number; readonly end: number } | null {
    const { text } = this.#folded;
    if (!parts.every(isLongEnough) && !(parts.length === 1 && parts[0] === trimmed(text))) return null;
    let from = 0;
    let start = -1;
    for (const [n, part] of parts.entries()) {
      const at = this.#next(part, from, n > 0, isCut && n === parts.length - 1);
      if (at === -1) return null;
      if (n === 0) start = this.#offset(at);
      from = at + part.length;
    }
    return { start, end: characterEnd(this.#text, this.#offset(from - 1)) };
  }

  #next(part: string, from: number, isContinued: boolean, isCut: boolean): number {
    let at = this.#folded.text.indexOf(part, from);
    for (let tries = 0; at !== -1 && tries < MAX_OCCURRENCES; tries++) {
      const end = at + part.length;
      const isWhole = !this.#isJoined(at, 'start') && (isCut || !this.#isJoined(end, 'end'));
      const isStitched = isContinued && this.#isStitched(from, at);
      if (isWhole && !isStitched && !this.#changesMeaning(at, isCut ? this.#folded.text.length : end)) return at;
      at = this.#folded.text.indexOf(part, at + 1);
    }
    return -1;
  }

  /** Whether an ellipsis leads from within one sentence into the middle of another. */
  #isStitched(from: number, at: number): boolean {
    const start = this.#sentenceAt(this.#offset(at));
    const isOther = start !== this.#sentenceAt(this.#offset(from - 1));
    return isOther && LETTER_OR_DIGIT.test(this.#text.slice(start, this.#offset(at)));
  }

  /** Whether a negation or a condition right outside of the folded units `[at, end)` belongs to them. */
  #changesMeaning(at: number, end: number): boolean {
    const before = this.#words(Math.max(0, at - MAX_OUTSIDE_UNITS), at);
    const after = this.#words(end, Math.min(this.#folded.text.length, end + MAX_OUTSIDE_UNITS));
    const clause = (before.split(CLAUSE_END).at(-1) ?? '').split(' ').filter((word) => word !== '');
    const near = clause.slice(-NEGATED_WORDS);
    const negation = near.findLastIndex(isNegation);
    if (negation !== -1 && !near.slice(negation).some((word) => CONJUNCTIONS.has(word))) return true;
    if (CHANGED_BEHIND.test(after)) return true;
    const start = this.#offset(at);
    const sentence = this.#text.slice(this.#sentenceAt(start), start);
    return CONDITION_BEFORE.test(sentence.slice(0, MAX_OUTSIDE_UNITS));
  }

  /** The folded units `[from, to)` with a blank before each that has white space before it. */
  #words(from: number, to: number): string {
    let words = '';
    for (let at = from; at < to; at++) {
      const previous = at === 0 ? 0 : characterEnd(this.#text, this.#offset(at - 1));
      const gap = visibleText(this.#text, Math.max(previous, this.#offset(at) - MAX_GAP_UNITS), this.#offset(at));
      if (at > 0 && BREAK.test(gap)) words += ' . ';
      else if (/\s/.test(gap) && !isHyphenation(gap)) words += ' ';
      words += this.#folded.text.charAt(at);
    }
    return words;
  }

  #sentenceAt(offset: number): number {
    this.#sentences ??= splitSentences(this.#text);
    return this.#sentences.findLast(({ start }) => start <= offset)?.start ?? 0;
  }

  /** Whether the folded units before and at `at` are parts of one word or number, which a quote does not divide. */
  #isJoined(at: number, edge: 'start' | 'end'): boolean {
    const { text: folded, offsets } = this.#folded;
    if (at === 0 || at === folded.length) return false;
    const text = this.#text;
    const [before, next] = [folded.charCodeAt(at - 1), folded.charCodeAt(at)];
    const [beforeAt, nextAt] = [this.#offset(at - 1), this.#offset(at)];
    if (beforeAt === nextAt) return isLetterOrDigit(before) && isLetterOrDigit(next);
    const beforeEnd = characterEnd(text, beforeAt);
    const gap = nextAt - beforeEnd > MAX_GAP_UNITS ? ' ' : visibleText(text, beforeEnd, nextAt);
    if (!isLetterOrDigit(before)) {
      if (gap !== '' || !isAsciiDigit(next)) return false;
      const two = folded.charAt(at - 1);
      if (two === '-') return !isLetterOrDigit(text.charCodeAt(beforeAt - 1));
      return (
        (two === '.' || two === ',') && isAsciiDigit(folded.charCodeAt(at - 2)) && offsets[at - 2] === beforeAt - 1
      );
    }
    if (!isLetterOrDigit(next)) {
      const isSeparator = next === FULL_STOP || next === COMMA;
      return isSeparator && gap === '' && isAsciiDigit(before) && isAsciiDigit(text.charCodeAt(nextAt + 1));
    }
    if (isHyphen(gap) || isHyphenation(gap)) return true;
    if (APOSTROPHES.includes(gap) && gap !== '')
      return edge === 'end' && /^t(?!\p{L})/iu.test(text.slice(nextAt, nextAt + 3));
    if (isAsciiDigit(before) && isAsciiDigit(next)) return gap === '' || isGrouping(gap);
    if (gap !== '') return false;
    if (isIdeographOrKana(before) || isIdeographOrKana(next)) {
      if (edge === 'start') return IDEOGRAPHIC_NEGATIONS.includes(folded.charAt(at - 1));
      return isAsciiDigit(before) && MAGNITUDES.includes(folded.charAt(at));
    }
    if (isAsciiDigit(before)) return edge === 'end' && MAGNITUDE_LETTERS.test(text.slice(nextAt, nextAt + 4));
    if (isAsciiDigit(next)) return false;
    // "the riverThe Aare": a converter that lost a blank.
    return !(isLower(text.charAt(beforeEnd - 1)) && isUpper(text.charAt(nextAt)));
  }

  #offset(at: number): number {
    const offset = this.#folded.offsets[at];
    if (offset === undefined) throw new Error('QuoteFinder: a folded unit has no offset');
    return offset;
  }
}

const FULL_STOP = 0x2e;
const COMMA = 0x2c;
/** A longer gap between two units has a blank. */
const MAX_GAP_UNITS = 64;
const APOSTROPHES = "'’‘´`ʼ";
/** Blanks that group digits and do not separate numbers. */
const isGrouping = (gap: string): boolean => gap === '\u00a0' || gap === '\u202f' || gap === '\u2009';
const MAGNITUDES = '十百千万萬亿億兆만억천조';
const MAGNITUDE_LETTERS = /^(?:k|m|b|t|bn|mn|tn|mln|mio)(?!\p{L})/iu;
const IDEOGRAPHIC_NEGATIONS = '不没沒无無非未勿';
/** Folded units outside of a part that are looked at for a negation or a condition. */
const MAX_OUTSIDE_UNITS = 48;
/** A negation denies a part if at most three words, and no conjunction, are between them: "never been shown that". */
const NEGATED_WORDS = 4;
const CONJUNCTIONS: ReadonlySet<string> = new Set(
  'and or but und oder aber sondern et ou mais y o pero e и или но'.split(' '),
);
const CLAUSE_END = /[.,;:!?()，、。；：！？]/;
/** A blank line, a line of a list, or the dash of a sentence. The fold drops all three. */
const BREAK = /\n\s*\n|\n\s*[-*•]|[—―]|\s[-–]\s/;
/** Folded words. */
const NEGATIONS: ReadonlySet<string> = new Set(
  (
    'not no never cannot nor neither without nicht kein keine keinen keiner nie ohne ne pas jamais sans nunca sin non mai ' +
    'senza nem não не нет ни никогда без 不 不是 没 没有 沒有 无 非 未'
  )
    .normalize('NFKD')
    .split(' '),
);
const NEGATED_AUXILIARY = /^(?:do|did|does|is|are|was|were|has|have|had|ca|could|wo|would|should|must|need)nt$/;
const isNegation = (word: string): boolean => NEGATIONS.has(word) || NEGATED_AUXILIARY.test(word);

/** What follows a part and changes it: "wurde 1937 nicht eröffnet", "closes if …", "… is a myth", 行われなかった. */
const CHANGED_BEHIND = new RegExp(
  (
    '^ (?:not|never|nicht|niemals|nie|pas|jamais) |^ ?(?:なかった|なく|ない|ません|않|못하)|^(?:なら|れば|的话)|' +
    '^,? (?:but )?(?:only )?(?:if|unless|provided that|as long as|on condition that|wenn|falls|sofern|si|если) |' +
    '^,? (?:is|was|are|were) (?:a |an )?(?:false|untrue|incorrect|wrong|myth|lie|misconception)(?![a-z])'
  ).normalize('NFKD'),
);
/** The beginning of a sentence whose condition or doubt limits the rest. */
const CONDITION_BEFORE =
  /^\P{L}*(?:(?:only )?(?:if|unless|provided(?: that)?|assuming(?: that)?|wenn|falls|sofern|si|если|it is (?:false|untrue|not true) that)\s|如果|若|除非|假如|もし|만약)/iu;

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Whether the gap is a hyphen at the end of a line. */
function isHyphenation(gap: string): boolean {
  return isHyphen(gap.charAt(0)) && gap.slice(1).trim() === '' && /[\n\r]/.test(gap);
}

const isLower = (unit: string): boolean => unit !== unit.toUpperCase();
const isUpper = (unit: string): boolean => unit !== unit.toLowerCase();
