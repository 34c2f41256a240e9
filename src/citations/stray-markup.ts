/**
 * Finds citation markup that makes no citation and that no reader of a grammar reports: opening marks without their
 * closing mark, lone or empty citation tags of another grammar, and a tag in which the answer ends.
 */
import { isAsciiLetter, isSpace, SLASH } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import { withoutCode } from './code.ts';
import { GRAMMARS, type Grammar } from './grammars.ts';
import { MAX_ID_CHARS } from './id-forms.ts';
import { markerEnd, NO_MARKER } from './marker-claims.ts';
import { readTag, type Tag } from './tags.ts';
import type { Claim, FindingReason, SourceSet } from './types.ts';

/** A piece of markup, and what is wrong with it. */
export type StrayMarkup = {
  readonly reason: Extract<FindingReason, 'citation_unclosed' | 'citation_stray_close' | 'citation_no_id'>;
  readonly span: Span;
};

const CLOSE_BRACKET = 0x5d;

/** The elements of all grammars, in lower case. */
const ELEMENTS = [
  ...new Set(Object.values<Grammar>(GRAMMARS).flatMap((one) => (one.form === 'element' ? [one.element] : []))),
];
/** The tags in which an answer may end. */
const TAG_NAMES = [...ELEMENTS, 'answer', 'think'];

/** Finds the stray markup of an answer, in order of its kinds. Linear. */
export function strayMarkup(
  text: string,
  answer: Span,
  claims: readonly Claim[],
  grammar: Grammar,
  sources: SourceSet,
): StrayMarkup[] {
  const plain = withoutCode(text, answer).text;
  return [
    ...(grammar.form === 'marker' ? strayMarks(plain, answer, grammar, claims, sources) : []),
    ...(grammar.form === 'link' ? emptyMarks(plain, answer, (before) => before === CLOSE_BRACKET) : []),
    ...strayTags(plain, answer, grammar),
    ...unfinishedTag(plain, answer),
  ];
}

type MarkerGrammar = Extract<Grammar, { form: 'marker' }>;

/** Marks of a grammar that make no marker. Those of `cite-tag` are tags. */
function strayMarks(
  text: string,
  answer: Span,
  grammar: MarkerGrammar,
  claims: readonly Claim[],
  sources: SourceSet,
): StrayMarkup[] {
  if (grammar.when === 'like_sources') return emptyMarks(text, answer, isSpace);
  if (grammar.open === '<cite>') return [];
  const unclosed = openMarks(text, answer, grammar, claims, sources);
  return '>】'.includes(grammar.close.charAt(0)) ? [...unclosed, ...closingMarks(text, answer, grammar)] : unclosed;
}

/** `()` behind a space, or behind the text of a link: behind a word it is a call. */
function emptyMarks(text: string, { start, end }: Span, follows: (before: number) => boolean): StrayMarkup[] {
  const found: StrayMarkup[] = [];
  for (let at = text.indexOf('()', start); at !== -1 && at < end; at = text.indexOf('()', at + 2)) {
    if (follows(text.charCodeAt(at - 1))) found.push({ reason: 'citation_no_id', span: { start: at, end: at + 2 } });
  }
  return found;
}

/** Closing marks without an opening mark on their line. `a >> b` is none: a space and a word follow. */
function closingMarks(text: string, { start, end }: Span, { open, close }: MarkerGrammar): StrayMarkup[] {
  const found: StrayMarkup[] = [];
  let from = start;
  for (let at = text.indexOf(close, start); at !== -1 && at < end; at = text.indexOf(close, from)) {
    const before = text.slice(from, at);
    from = at + close.length;
    const isBetween = isSpace(text.charCodeAt(at - 1)) && text.charAt(from) === ' ';
    if (before.lastIndexOf(open) <= before.lastIndexOf('\n') && !isBetween)
      found.push({ reason: 'citation_stray_close', span: { start: at, end: from } });
  }
  return found;
}

/** Opening marks before an id, without a closing mark on their line. `[` has other uses: a source must have the id. */
function openMarks(
  text: string,
  { start, end }: Span,
  grammar: MarkerGrammar,
  claims: readonly Claim[],
  { byId }: SourceSet,
): StrayMarkup[] {
  const { open } = grammar;
  const found: StrayMarkup[] = [];
  let claim = 0;
  for (let at = text.indexOf(open, start); at !== -1 && at < end; at = text.indexOf(open, at + open.length)) {
    while ((claims[claim]?.element.end ?? end) <= at) claim++;
    const from = at + open.length;
    const isId = from < end && !isSpace(text.charCodeAt(from)) && !text.startsWith(open.charAt(0), from);
    const marked = claims[claim];
    if (!isId || (marked !== undefined && at >= marked.span.end && at >= marked.element.start)) continue;
    if (markerEnd(text, from, from, end, true, grammar) !== NO_MARKER) continue;
    if (grammar.when === 'always' || byId.has(wordAt(text, from, end)))
      found.push({ reason: 'citation_unclosed', span: { start: at, end: from } });
  }
  return found;
}

/** The word at `from`, without the stop behind it. The start of a list or an interval, `[1, 2)`, is none. */
function wordAt(text: string, from: number, end: number): string {
  let to = from;
  while (to < end && to - from <= MAX_ID_CHARS && !isSpace(text.charCodeAt(to))) to++;
  if ('.;:!?'.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Citation tags of other grammars (or of the marks of this one) that are alone, or have nothing between them. */
function strayTags(text: string, { start, end }: Span, grammar: Grammar): StrayMarkup[] {
  const names = ELEMENTS.filter((name) => grammar.form !== 'element' || grammar.element !== name);
  /** The tag of this grammar's marks, whose reader reports empty ones. */
  const mark: string = grammar.form === 'marker' ? grammar.open.slice(1, -1) : '';
  const found: StrayMarkup[] = [];
  const open: Tag[] = [];
  for (let at = text.indexOf('<', start); at !== -1 && at < end; ) {
    const tag = readTag(text, at, end, names);
    at = text.indexOf('<', tag === null ? at + 1 : tag.span.end);
    if (tag === null || tag.selfClosing) continue;
    if (!tag.closing) {
      open.push(tag);
      continue;
    }
    const opening = open.at(-1);
    if (opening === undefined || opening.name !== tag.name)
      found.push({ reason: 'citation_stray_close', span: tag.span });
    else {
      open.pop();
      const isEmpty = opening.span.end === tag.span.start;
      if (isEmpty && names[opening.name] !== mark)
        found.push({ reason: 'citation_no_id', span: { start: opening.span.start, end: tag.span.end } });
    }
  }
  for (const { span } of open) found.push({ reason: 'citation_unclosed', span });
  return found;
}

/** The tag in which the answer ends. */
function unfinishedTag(text: string, { start, end }: Span): StrayMarkup[] {
  const at = text.lastIndexOf('<', end - 1);
  if (at < start || text.slice(at, end).includes('>')) return [];
  const nameAt = text.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1;
  let nameEnd = nameAt;
  while (nameEnd < end && isAsciiLetter(text.charCodeAt(nameEnd))) nameEnd++;
  const name = text.slice(nameAt, nameEnd).toLowerCase();
  const isTag = nameEnd === end ? TAG_NAMES.some((one) => one.startsWith(name)) : TAG_NAMES.includes(name);
  const isMarked = name !== '' || nameAt === at + 2;
  return isTag && isMarked ? [{ reason: 'citation_unclosed', span: { start: at, end } }] : [];
}
