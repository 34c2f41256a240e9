/**
 * Decides whether a full stop belongs to an abbreviation, an initial or an ordinal, by fixed tables. Known error: an
 * abbreviation that is not in the tables ends a sentence if a capital letter follows.
 */
import { isAsciiDigit, isAsciiLetter, isLetterOrDigit, isLowercase } from './characters.ts';

const SMALL_V = 0x76;
const FULL_STOP = 0x2e;
const AMPERSAND = 0x26;
const SECTION_SIGN = 0xa7;

/**
 * Abbreviations whose full stop never ends a sentence: titles, reference words and the like. Lower case, without the
 * final stop.
 */
const NEVER_FINAL: ReadonlySet<string> = new Set(
  // English
  (
    'mr mrs ms dr prof rev hon st mt ft gen brig col capt lt cmdr sgt maj adm gov sen rep pres supt messrs ' +
    'e.g i.e cf vs viz equ approx ca c fig figs eq eqs sec ch vol vols ed eds pp p art para nr esp incl ' +
    // German
    'bzw z.b d.h u.a hl ggf vgl sog inkl exkl zzgl evtl bspw insb insbes geb gest hrsg ' +
    // Spanish, Portuguese, Italian
    'p.ej ej sr sra srta dra exmo exma ud uds núm pág págs avda ee sig sigg dott avv pag pagg séc ' +
    // French
    'm mm mme mlle mgr ex éd ' +
    // Dutch, Danish, Norwegian, Swedish, Finnish
    'dhr mevr bijv blz drs f.eks dvs jf esim ks vrt ' +
    // Polish, Czech, Hungarian, Turkish
    'pvz np tzn tzw inż hab ul św płk zob např tzv kb ún örn bkz ' +
    // Russian and Ukrainian
    'им ул просп проф акад обл св ср см рис табл стр гл ред напр вул'
  ).split(' '),
);

/**
 * Abbreviations whose full stop ends a sentence only if a sentence starter follows: "Yan et al. [2004]", "Inc. CEO",
 * "Fed. R. Civ. P.". Lower case.
 */
const RARELY_FINAL: ReadonlySet<string> = new Set(
  (
    'al inc ltd co corp jr bros dept univ assn ' +
    // Courts, reporters and codes of law
    'fed civ crim evid cal supp cir ct stat cong reg ry ' +
    // Magnitudes
    'mio mrd mln mld ' +
    'uu av gg гг dipl ing med'
  ).split(' '),
);

/** Abbreviations whose full stop ends no sentence if a number follows: "No. 5", "Jan. 12", "S. 7". */
const NOT_BEFORE_DIGIT: ReadonlySet<string> = new Set(
  (
    'no nos num art op ref phil jan feb mar apr jun jul aug sep sept oct nov dec ' +
    'abs ziff kap bd anm abb tab tel cap chap env aprox kl str st sp стр max min avg ur zm tzn okt dez ene abr ago dic gen mag'
  ).split(' '),
);

/** Nouns that follow a German ordinal: "27. Mai 1937", "im 19. Jahrhundert". Lower case. */
const NOUNS_AFTER_ORDINAL: ReadonlySet<string> = new Set(
  (
    'januar jänner februar märz april mai juni juli august september oktober november dezember ' +
    'jan feb mär apr jun jul aug sep sept okt nov dez ' +
    'jahrhundert jahrhunderts jahrhunderte jahrhunderten jh jahrtausend jahrtausends weltkrieg weltkriegs weltkrieges ' +
    'geburtstag jahrestag todestag auflage stock etage bezirk klasse lebensjahr kapitel platz'
  ).split(' '),
);

/** German articles, which make an ordinal of the number behind them: "die 2. Liga". Lower case. */
const ARTICLES_BEFORE_ORDINAL: ReadonlySet<string> = new Set('der die das den dem des im vom zum zur beim'.split(' '));

/**
 * Words that begin a new sentence when they follow an initial or acronym: "…in the U.S. The treaty…". Lower case.
 */
const SENTENCE_STARTERS: ReadonlySet<string> = new Set(
  (
    'the a an it its this that these those he she they we you i his her their our my your ' +
    'there here in on at by for from to ' +
    'with as after before during since while when where although though because however but and or so if then thus ' +
    'also both each every some many most all no not one two three several such what who why how according more ' +
    'until once unless despite unlike instead moreover furthermore nevertheless therefore today later ' +
    'der die das es ein eine im in am nach er sie wir sein seine ihr ihre el la los las un una en le les des ' +
    'il elle ils elles он она оно они это этот эта в на по'
  ).split(' '),
);

/** Longest abbreviation, in UTF-16 code units: the splitter looks back this far from a full stop. */
export const MAX_ABBREVIATION_CHARS = 12;

/**
 * Returns whether the full stop at `stop` belongs to an abbreviation, an initial or an ordinal.
 *
 * @param lineStart Start of the line, before which the function does not look.
 * @param nextCode First unit of the next word, after opening quotes and brackets.
 * @param nextWord That word in lower case, or the empty string.
 */
export function isAbbreviation(
  text: string,
  lineStart: number,
  stop: number,
  nextCode: number,
  nextWord: string,
): boolean {
  let start = stop;
  let dots = 0;
  const limit = Math.max(lineStart, stop - MAX_ABBREVIATION_CHARS);
  while (start > limit) {
    const code = text.charCodeAt(start - 1);
    if (code === FULL_STOP) dots++;
    else if (!isLetterOrDigit(code)) break;
    start--;
  }
  const length = stop - start;
  if (length === 0) return false;
  if (start === limit && limit > lineStart && isLetterOrDigit(text.charCodeAt(start - 1))) return false;
  const first = text.charCodeAt(start);
  if (isAsciiDigit(first)) {
    if (length > 3 || !isAsciiDigit(text.charCodeAt(stop - 1))) return false;
    // "1. First item" at the start of a line, or "27. Mai 1937".
    if ((start === lineStart && length < 3) || NOUNS_AFTER_ORDINAL.has(nextWord)) return true;
    return nextWord !== '' && !SENTENCE_STARTERS.has(nextWord) && followsArticle(text, limit, start);
  }
  // "Com. & Adm.": a sentence never begins with an ampersand.
  if (nextCode === AMPERSAND) return true;
  const isSmall = isLowercase(first);
  // "Smith v. The State": a small v alone is always versus.
  if (length === 1 && first === SMALL_V) return true;
  const word = text.slice(start, stop).toLowerCase();
  const starts = SENTENCE_STARTERS.has(nextWord);
  if (NEVER_FINAL.has(word)) return !(length === 1 && starts);
  // "Bahnhofstr. 5"
  if (isAsciiDigit(nextCode) && (NOT_BEFORE_DIGIT.has(word) || word.endsWith('str'))) return true;
  // The sentence continues after an initial ("J. Snow"), a single letter ("z. B.", "v. Chr.") or a dotted acronym
  // ("U.S. Army", "42 U.S.C. § 1983"), unless a sentence starter follows.
  const single = length === 1 && (isSmall || isCapital(first));
  const acronym = dots > 0 && length <= 2 * (dots + 1);
  if (!(single || acronym || RARELY_FINAL.has(word)) || starts) return false;
  return nextWord !== '' || nextCode === SECTION_SIGN;
}

/** Whether a German article and a space stand before `at`. */
function followsArticle(text: string, limit: number, at: number): boolean {
  let from = at - 1;
  while (from > limit && isAsciiLetter(text.charCodeAt(from - 1))) from--;
  return at - 1 > from && text[at - 1] === ' ' && ARTICLES_BEFORE_ORDINAL.has(text.slice(from, at - 1).toLowerCase());
}

/** A capital letter of Latin, Greek, Cyrillic or Armenian. */
function isCapital(code: number): boolean {
  if (code < 128) return isAsciiLetter(code) && !isLowercase(code);
  if (isLowercase(code) || code === 0xd7) return false;
  if (code >= 0xc0 && code <= 0x17f) return true;
  return (code >= 0x386 && code <= 0x3ab) || (code >= 0x400 && code <= 0x42f) || (code >= 0x531 && code <= 0x556);
}
