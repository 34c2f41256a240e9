/**
 * Finds citation markup that makes no citation and that no reader of a grammar reports: opening marks without their
 * closing mark, lone or empty citation tags of another grammar, and a tag in which the answer ends.
 */
import { isAsciiLetter, isSpace, SLASH } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import { withoutCode } from './code.ts';
import { GRAMMARS, type Grammar } from './grammars.ts';
import { markerEnd, NO_MARKER } from './marker-claims.ts';
import { readTag, type Tag } from './tags.ts';
import type { Claim, FindingReason } from './types.ts';

/** A piece of markup, and what is wrong with it. */
export type StrayMarkup = {
  readonly reason: Extract<FindingReason, 'citation_unclosed' | 'citation_stray_close' | 'citation_no_id'>;
  readonly span: Span;
};

/** The elements of all grammars, in lower case. */
const ELEMENTS = [
  ...new Set(Object.values<Grammar>(GRAMMARS).flatMap((one) => (one.form === 'element' ? [one.element] : []))),
];
/** The tags in which an answer may end. */
const TAG_NAMES = [...ELEMENTS, 'answer', 'think'];

/** Finds the stray markup of an answer, in order of its kinds. Linear. */
export function strayMarkup(text: string, answer: Span, claims: readonly Claim[], grammar: Grammar): StrayMarkup[] {
  const plain = withoutCode(text, answer).text;
  return [
    ...(grammar.form === 'marker' && grammar.when === 'always' ? openMarks(plain, answer, grammar, claims) : []),
    ...strayTags(plain, answer, grammar),
    ...unfinishedTag(plain, answer),
  ];
}

/** Opening marks before an id, without a closing mark on their line. */
function openMarks(
  text: string,
  { start, end }: Span,
  grammar: Extract<Grammar, { form: 'marker' }>,
  claims: readonly Claim[],
): StrayMarkup[] {
  const { open } = grammar;
  if (open.startsWith('<') && isAsciiLetter(open.charCodeAt(1))) return [];
  const found: StrayMarkup[] = [];
  let claim = 0;
  for (let at = text.indexOf(open, start); at !== -1 && at < end; at = text.indexOf(open, at + open.length)) {
    while ((claims[claim]?.element.end ?? end) <= at) claim++;
    const from = at + open.length;
    const isId = from < end && !isSpace(text.charCodeAt(from)) && !text.startsWith(open.charAt(0), from);
    const marked = claims[claim];
    if (!isId || (marked !== undefined && at >= marked.span.end && at >= marked.element.start)) continue;
    if (markerEnd(text, from, from, end, true, grammar) === NO_MARKER) {
      found.push({ reason: 'citation_unclosed', span: { start: at, end: from } });
    }
  }
  return found;
}

/** Citation tags of other grammars (or of the marks of this one) that are alone, or have nothing between them. */
function strayTags(text: string, { start, end }: Span, grammar: Grammar): StrayMarkup[] {
  const names = ELEMENTS.filter((name) => grammar.form !== 'element' || grammar.element !== name);
  const isMark = grammar.form === 'marker' && grammar.open.startsWith('<') && grammar.when === 'always';
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
      if (isEmpty && !isMark)
        found.push({ reason: 'citation_no_id', span: { start: opening.span.start, end: tag.span.end } });
    }
  }
  for (const { span } of open) found.push({ reason: 'citation_unclosed', span });
  return found;
}

/** The tag in which the answer ends. */
function unfinishedTag(text: string, { start, end }: Span): StrayMarkup[] {
  const at = text.lastIndexOf('<', end - 1);
  if (at < start || text.indexOf('>', at) !== -1) return [];
  const nameAt = text.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1;
  let nameEnd = nameAt;
  while (nameEnd < end && isAsciiLetter(text.charCodeAt(nameEnd))) nameEnd++;
  const name = text.slice(nameAt, nameEnd).toLowerCase();
  const isTag = nameEnd === end ? TAG_NAMES.some((one) => one.startsWith(name)) : TAG_NAMES.includes(name);
  const isMarked = name !== '' || nameAt === at + 2;
  return isTag && isMarked ? [{ reason: 'citation_unclosed', span: { start: at, end } }] : [];
}
