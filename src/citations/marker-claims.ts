/**
 * Reads the claims of a marker grammar. A run of adjacent markers cites the text before it in its sentence, from the
 * start of the sentence or the end of the run before. Markers right after a full stop belong to the sentence that it
 * ends. A run without text before it makes an empty claim. Markers in code, and behind a backslash, are text (code.ts).
 */
import { hasContent, isLetterOrDigit, isSpace, LINE_FEED } from '../text/characters.ts';
import { splitSentences } from '../text/sentences.ts';
import { isBlank, type Span, trimSpan, withBlanks } from '../text/span.ts';
import { type IdsSpan, readIds } from './cited-ids.ts';
import { citedText } from './cited-text.ts';
import { withoutCode } from './code.ts';
import type { ReadClaims } from './element-claims.ts';
import type { FindingSink } from './findings.ts';
import type { MarkerGrammar } from './grammars.ts';
import { idRecogniser } from './id-forms.ts';
import { withoutReferences } from './references.ts';
import type { Stretch } from './statements.ts';
import { isIdSeparator } from './tags.ts';
import type { Claim, SourceSet } from './types.ts';
import { citedSource } from './url-ids.ts';
import {
  isDash,
  isInterval,
  isJoiningWord,
  isPlace,
  lettersOf,
  mayBeginJoiningWord,
  writtenIds,
} from './written-ids.ts';

/** Longest marker, ids and separators together, in UTF-16 code units. */
export const MAX_MARKER_CHARS = 1024;

/** `empty`: the markers without an id. */
type Run = { readonly span: Span; readonly ids: readonly IdsSpan[]; readonly empty: readonly Span[] };

/** Reads the claims of `text[content)` in linear time: no marker crosses another opening mark or a line break. */
export function readMarkerClaims(
  text: string,
  content: Span,
  grammar: MarkerGrammar,
  sources: SourceSet,
  findings: FindingSink,
): ReadClaims {
  const references = withoutReferences(withoutCode(text, content).text, content, (id) => sources.byId.has(id));
  const { text: plain } = references;
  const runs = readRuns(plain, content, grammar, sources);
  // "opened in 1937 [3]. It" and "opened in 1937.[3] It" split alike.
  const marked = runs.map(({ span }) => span);
  const sentences = splitSentences(withBlanks(plain, marked), content.start, content.end);
  const claims: Claim[] = [];
  const stretches: Stretch[] = [];
  let from = content.start;
  let sentence = 0;

  const addText = (to: number): void => {
    if (to > from) stretches.push({ start: from, end: to, claim: false });
  };

  for (const run of runs) {
    // A run marks the last sentence that begins before it.
    while (sentence + 1 < sentences.length && (sentences[sentence + 1]?.start ?? content.end) < run.span.start)
      sentence++;
    const marked = sentences[sentence];
    const start = Math.max(from, marked === undefined ? content.start : marked.start);
    const span = citedText(plain, start, run.span.start);
    const ids = readIds(text, run.ids, sources, claims.length, findings);
    for (const span of ids.length === 0 ? [run.span] : run.empty) {
      findings.add({ reason: 'citation_no_id', in: 'response', span });
    }
    if (ids.length > 0 && !hasContent(text, span.start, span.end)) {
      findings.add({ reason: 'citation_empty_claim', in: 'response', span: run.span, claim: claims.length });
      claims.push(claimOf(text, claims.length, { start: run.span.start, end: run.span.start }, run, ids));
    } else if (ids.length > 0) {
      addText(span.start);
      stretches.push({ ...span, claim: true });
      claims.push(claimOf(text, claims.length, span, run, ids));
      from = run.span.end;
      continue;
    }
    addText(run.span.start);
    from = run.span.end;
  }
  addText(content.end);
  return { claims, stretches, references: references.spans };
}

function claimOf(text: string, index: number, span: Span, run: Run, ids: Claim['ids']): Claim {
  return {
    index,
    text: text.slice(span.start, span.end),
    span,
    element: { start: span.start, end: run.span.end },
    ids,
    duplicate_of: null,
  };
}

/** Finds the markers and joins those with only white space, separators, one dash or a joining word between them. */
function readRuns(text: string, content: Span, grammar: MarkerGrammar, sources: SourceSet): Run[] {
  const runs: Run[] = [];
  const rule = idRuleOf(grammar, sources);
  let ids: IdsSpan[] = [];
  let empty: Span[] = [];
  let span: Span | null = null;
  let at = text.indexOf(grammar.open, content.start);
  while (at !== -1 && at < content.end) {
    const from = at + grammar.open.length;
    const close = markerEnd(text, from, from, content.end, true, grammar);
    const inside = close === NO_MARKER ? null : { start: from, end: close };
    if (inside === null || !isMarker(text, inside, rule)) {
      at = text.indexOf(grammar.open, at + 1);
      continue;
    }
    const after = inside.end + grammar.close.length;
    const end = linkEnd(text, text[at - 1] === '[' && at > content.start, after, content.end, true);
    const isRangeEnd = span !== null && at === span.end + 1 && isDash(text.charCodeAt(span.end));
    const continues = span !== null && nextMarker(text, span.end, content.end, grammar.open, true) === at;
    if (span !== null && (isRangeEnd || continues)) {
      span = { start: span.start, end };
      ids.push({ ...inside, isRangeEnd });
    } else {
      if (span !== null) runs.push({ span, ids, empty });
      span = { start: at, end };
      ids = [inside];
      empty = [];
    }
    if (isBlankSpan(text, inside)) empty.push({ start: at, end });
    at = text.indexOf(grammar.open, end);
  }
  if (span !== null) runs.push({ span, ids, empty });
  return runs;
}

/** Longest address behind a marker in a link, in UTF-16 code units. */
const MAX_LINK_CHARS = 1024;

/**
 * Where a marker ends with the address of a link around it, `[[1]](https://…)`, of which `after` is the `]`; else `after`.
 * `UNDECIDED`: more text must follow first. @param isInBracket whether a bracket is right before the marker.
 */
export function linkEnd(text: string, isInBracket: boolean, after: number, end: number, complete: boolean): number {
  if (!isInBracket) return after;
  const limit = Math.min(end, after + MAX_LINK_CHARS);
  let open = 0;
  for (let i = after; i < limit; i++) {
    const unit = text[i];
    if (i < after + 2 ? unit !== ']('[i - after] : isSpace(text.charCodeAt(i))) return after;
    if (unit === '(' && ++open > 2) return after;
    if (unit === ')' && --open === 0) return i + 1;
  }
  return complete || limit === after + MAX_LINK_CHARS ? after : UNDECIDED;
}

/** The separators of a run that are read: whether there are any, and whether one is a comma or its like. */
type Passed = { readonly isSpaced: boolean; readonly isParted: boolean };
const NOTHING_PASSED: Passed = { isSpaced: false, isParted: false };

/**
 * Where the opening mark of the marker is that continues a run: behind separators and at most one joining word.
 * `NO_MARKER`: the run ends; `UNDECIDED`: more text must follow first.
 *
 * @param at from here on. @param passed what is between the end of the run and this: only separators.
 */
export function nextMarker(
  text: string,
  at: number,
  end: number,
  open: string,
  complete: boolean,
  passed: Passed = NOTHING_PASSED,
): number {
  let next = at;
  let { isParted } = passed;
  for (; next < end && continuesRun(text.charCodeAt(next)); next++) isParted ||= isIdSeparator(text.charCodeAt(next));
  const found = openingAt(text, next, end, open, complete);
  if (found !== NO_MARKER) return found;
  let wordEnd = next;
  while (wordEnd < end && !continuesRun(text.charCodeAt(wordEnd)) && wordEnd - next <= MAX_WORD_CHARS) {
    if (text.charCodeAt(wordEnd) === LINE_FEED || text.startsWith(open, wordEnd)) break;
    wordEnd++;
  }
  const word = text.slice(next, wordEnd);
  if (wordEnd >= end && !complete) return mayBeginJoiningWord(word) ? UNDECIDED : NO_MARKER;
  if (!isJoiningWord(word, isParted)) return NO_MARKER;
  let opening = wordEnd;
  while (opening < end && isSpace(text.charCodeAt(opening)) && text.charCodeAt(opening) !== LINE_FEED) opening++;
  // Words of scripts with spaces have some on both sides.
  const isSpaced = word.charCodeAt(0) >= FIRST_UNSPACED || ((passed.isSpaced || next > at) && opening > wordEnd);
  if (!isSpaced && (opening < end || complete)) return NO_MARKER;
  return openingAt(text, opening, end, open, complete);
}

/** Whether exactly one joining word, and what may separate markers, is between two of them. */
export function joinsMarkers(text: string, start: number, end: number): boolean {
  if (end - start > MAX_JOINT_CHARS) return false;
  const between = text.slice(start, end);
  const opening = '[';
  return nextMarker(between + opening, 0, between.length + 1, opening, true) === between.length;
}

/** Longest text between two marks with a joining word, in UTF-16 code units. */
const MAX_JOINT_CHARS = 16;
/** Longest text that may be a joining word, in UTF-16 code units. */
const MAX_WORD_CHARS = 8;
/** From here on, scripts of joining words write no spaces. */
const FIRST_UNSPACED = 0x3040;

/** `at` if an opening mark is there; `UNDECIDED` if more text may make one. */
function openingAt(text: string, at: number, end: number, open: string, complete: boolean): number {
  // The inner one of `[[2]](https://…)`.
  if (at < end && text[at] === '[' && open.startsWith('[')) {
    if (at + 1 < end && text.startsWith(open, at + 1)) return at + 1;
    if (!complete && mayBegin(text, at + 1, open)) return UNDECIDED;
  }
  if (at < end && text.startsWith(open, at)) return at;
  return !complete && (at >= end || mayBegin(text, at, open)) ? UNDECIDED : NO_MARKER;
}

/** Returns whether a unit may separate two markers of one run. A line break ends the run. */
export function continuesRun(code: number): boolean {
  return code !== LINE_FEED && (isSpace(code) || isIdSeparator(code));
}

/** Returns whether a marker holds nothing but white space. */
export function isBlankSpan(text: string, { start, end }: Span): boolean {
  return isBlank(text.slice(start, end));
}

// Results of `markerEnd` that are no offset.
export const NO_MARKER = -1;
/** `markerEnd` cannot decide until more text has arrived. */
export const UNDECIDED = -2;

/**
 * Finds the closing mark of the marker whose opening mark ends at `from`, searching from `at` on. Returns its place,
 * `NO_MARKER`, or, if more text may follow `end` (`complete` is false), `UNDECIDED`.
 */
export function markerEnd(
  text: string,
  from: number,
  at: number,
  end: number,
  complete: boolean,
  { open, close }: MarkerGrammar,
): number {
  const limit = Math.min(end, from + MAX_MARKER_CHARS);
  for (let i = at; i < limit; i++) {
    const code = text.charCodeAt(i);
    if (code === close.charCodeAt(0)) {
      if (text.startsWith(close, i)) return i;
      if (!complete && mayBegin(text, i, close)) return UNDECIDED;
    }
    if (code === LINE_FEED) return NO_MARKER;
    if (code === open.charCodeAt(0)) {
      if (text.startsWith(open, i)) return NO_MARKER;
      if (!complete && mayBegin(text, i, open)) return UNDECIDED;
    }
  }
  return complete || limit === from + MAX_MARKER_CHARS ? NO_MARKER : UNDECIDED;
}

/** Returns whether the text from `at` to its end is an incomplete `mark`. */
function mayBegin(text: string, at: number, mark: string): boolean {
  return text.length - at < mark.length && mark.startsWith(text.slice(at));
}

/** Whether marks of other uses are a marker here: no link follows, and each id is what the grammar asks for. */
export function isMarker(text: string, inside: Span, rule: IdRule): boolean {
  if (rule === null) return true;
  const isLink = text[inside.end] !== ')' && text[inside.end + 1] === '(';
  if (isLink || (!rule.hasZero && isInterval(text, inside))) return false;
  let ids = 0;
  let numbers = 0;
  let start = inside.start;
  for (let i = inside.start; i <= inside.end; i++) {
    if (i < inside.end && !isIdSeparator(text.charCodeAt(i))) continue;
    const id = trimSpan(text, start, i);
    start = i + 1;
    if (id.end === id.start) continue;
    if (ids > 0 && rule.isPlace(text, id)) continue;
    ids++;
    if (!rule.isId(text, id)) return false;
    if (rule.isNumber(text, id)) numbers++;
  }
  return ids > numbers || (ids === 0 && rule.mayBeEmpty);
}

/** What a grammar asks of the words between its marks; `null` = the marks alone make a marker. */
export type IdRule = {
  /** Whether marks without a word are a marker, which then lacks an id. */
  readonly mayBeEmpty: boolean;
  /** Whether a source has the id 0. */
  readonly hasZero: boolean;
  readonly isId: (text: string, id: Span) => boolean;
  /** Whether a word after an id is a place in its source. */
  readonly isPlace: (text: string, word: Span) => boolean;
  /** Whether an id is rather a year or another number: marks around such words alone make no marker. */
  readonly isNumber: (text: string, id: Span) => boolean;
} | null;

/** The rule of a grammar, made once for an answer. */
export function idRuleOf({ when }: MarkerGrammar, sources: SourceSet): IdRule {
  if (when === 'always') return null;
  const isLikeSources = idRecogniser(sources);
  const mayBeAnyWord = when === 'known_or_digit';
  let forms: Set<number | string> | null = null;
  const isIdAt = (text: string, id: Span): boolean => {
    if (mayBeAnyWord && isWordWithDigit(text, id)) return true;
    const word = text.slice(id.start, id.end);
    return isLikeSources(word) || citedSource(sources, word) !== null;
  };
  return {
    mayBeEmpty: mayBeAnyWord,
    hasZero: sources.byId.has('0'),
    isId(text, id) {
      if (isIdAt(text, id)) return true;
      const written = writtenIds(text, id, sources);
      const [first, ...others] = written;
      if (others.length === 0) return first !== undefined && isIdAt(text, first.span);
      return mayBeAnyWord || written.some(({ id }) => citedSource(sources, id) !== null);
    },
    isPlace: (text, word) => isPlace(text, word, sources),
    isNumber(text, id) {
      const form = formOfNumber(text, id);
      const word = text.slice(id.start, id.end);
      if (form === -1 && !isNoId(word, sources)) return false;
      if (forms === null) {
        forms = new Set();
        for (const key of sources.byId.keys()) {
          const number = formOfNumber(key, { start: 0, end: key.length });
          forms.add(number === -1 && key.length <= MAX_NUMBER_CHARS ? lettersOf(key) : number);
        }
      }
      // `sec.9` is an id beside `sec.1`, and `1/2` joins two ids of sources.
      return (
        !forms.has(form === -1 ? lettersOf(word) : form) &&
        !writtenIds(text, id, sources).some(({ id }) => citedSource(sources, id) !== null)
      );
    },
  };
}

/**
 * Numbers that are rather no id: years from 1000 to 2099, also as `2004a`, or two with a dash between them, dates and
 * times, decimals, and shares, each also as a range: `[1.4–3.2]`, fractions and ordinals.
 */
const NUMBERS = [
  /^(?:1\d|20)\d\d(?:[a-z]|[-–](?:\d\d){1,2})?$|^\d{4}-\d\d-\d\d$/,
  /^\d{1,2}(?::\d\d){1,2}$/,
  /^\d+\.\d+(?:[-–—]\d+\.\d+)?$/,
  /^\d+(?:\.\d+)?(?:[-–—]\d+(?:\.\d+)?)?[%‰°€$£]$/,
  /^\d+\/\d+$/,
  /^\d+(?:st|nd|rd|th)$/,
];
/** A class of characters, an equation (of a short name: `source=1` is an id), an ion, and `Fig.1`. */
const NO_ID =
  /^(?:a-z|0-9|_)+$|^(?!id)[a-z]\w?[=<>≤≥≈]|^[A-Z][A-Za-z\d]*[+−⁺⁻]$|^(?:figs?|table|eqs?|sec|ch|pp?)\.\d+$/i;
const MAX_NUMBER_CHARS = 16;

function isNoId(word: string, sources: SourceSet): boolean {
  return word.length <= MAX_NUMBER_CHARS && NO_ID.test(word) && citedSource(sources, word) === null;
}

/** The form of a number that is rather no id, as the place in `NUMBERS`; -1 for any other word. */
function formOfNumber(text: string, { start, end }: Span): number {
  if (end - start > MAX_NUMBER_CHARS) return -1;
  const word = text.slice(start, end);
  return NUMBERS.findIndex((form) => form.test(word));
}

function isWordWithDigit(text: string, { start, end }: Span): boolean {
  const word = text.slice(start, end);
  return !/\s/.test(word) && /\d/.test(word) && isLetterOrDigit(word.charCodeAt(0));
}

/** Whether only spaces and separators of ids are between two marks of one line. */
export function onlySeparators(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (!continuesRun(text.charCodeAt(i))) return false;
  }
  return true;
}
