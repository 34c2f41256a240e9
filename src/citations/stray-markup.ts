/**
 * Finds citation markup that makes no citation and that no reader of a grammar reports: opening marks without their
 * closing mark, lone or empty citation tags of another grammar, and a tag in which the answer ends.
 */
import type { Span } from '../text/span.ts';
import { withoutCode } from './code.ts';
import { GRAMMARS, type Grammar } from './grammars.ts';
import { MAX_ID_CHARS } from './id-forms.ts';
import { MAX_MARKER_CHARS } from './marker-claims.ts';
import { readTag, type Tag } from './tags.ts';
import type { FindingReason, SourceSet } from './types.ts';

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
export function strayMarkup(text: string, answer: Span, grammar: Grammar, sources: SourceSet): StrayMarkup[] {
  const plain = withoutCode(text, answer).text;
  return [
    ...strayMarks(plain, answer, grammar, sources),
    ...strayTags(plain, answer, grammar),
    ...unfinishedTag(plain, answer),
  ];
}

/** Marks of a grammar that make no marker. Those of `cite-tag` are tags. */
function strayMarks(text: string, answer: Span, grammar: Grammar, sources: SourceSet): StrayMarkup[] {
  if (grammar.form === 'element' || (grammar.form === 'marker' && grammar.open === '<cite>')) return [];
  if (grammar.form === 'marker' && grammar.when !== 'like_sources') return loneMarks(text, answer, grammar, sources);
  // Behind a word, `()` is a call.
  const empty = grammar.form === 'link' ? /(?<=\])\(\)/g : /(?<=\s|\d\))\(\)/g;
  return Array.from(text.slice(answer.start, answer.end).matchAll(empty), ({ index }) => {
    const start = answer.start + index;
    return { reason: 'citation_no_id', span: { start, end: start + 2 } };
  });
}

/** A type with a parameter that has one, before its `>>`. */
const TYPE = /\w<[^<>\n]*\w<[^<>\n]*$/;
const MAX_TYPE_CHARS = 64;

/**
 * Opening marks before an id without a closing mark on their line, and the other way round. `[` has other uses: a source
 * must have the id. A single `]` has others, too, and so have `a >> b` and `vector<vector<int>>`. A marker that is too
 * long is not closed.
 */
function loneMarks(
  text: string,
  { start, end }: Span,
  { open, close, when }: Extract<Grammar, { form: 'marker' }>,
  { byId }: SourceSet,
): StrayMarkup[] {
  const found: StrayMarkup[] = [];
  const marks = [open, close].map((mark) => mark.replace(/[[\]^]/g, '\\$&'));
  let opened = 0;
  for (const { 0: mark, index } of text.slice(start, end).matchAll(new RegExp(`${marks.join('|')}|\n|$`, 'g'))) {
    const at = start + index;
    const after = at + mark.length;
    if (mark === close && (opened === 0 || at - opened < MAX_MARKER_CHARS)) {
      const isBetween = text[at - 1] === ' ' && text[after] === ' ';
      const isType = close === '>>' && TYPE.test(text.slice(Math.max(start, at - MAX_TYPE_CHARS), at));
      if (opened === 0 && close !== ']' && !isBetween && !isType)
        found.push({ reason: 'citation_stray_close', span: { start: at, end: after } });
    } else if (opened > 0) {
      const word = text.slice(opened, Math.min(at, opened + MAX_ID_CHARS)).split(/[.;:!?]?(?:\s|$)/, 1)[0] ?? '';
      if (word !== '' && (when === 'always' ? word !== open[0] : byId.has(word)))
        found.push({ reason: 'citation_unclosed', span: { start: opened - open.length, end: opened } });
    }
    opened = mark === open ? after : 0;
  }
  return found;
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
  const [, slash, name = '', rest] = (at < start ? null : /^<(\/?)([a-z]*)([^>]*)$/i.exec(text.slice(at, end))) ?? [];
  const isTag = TAG_NAMES.some((one) =>
    rest === '' ? one.startsWith(name.toLowerCase()) : one === name.toLowerCase(),
  );
  return rest !== undefined && isTag && `${slash}${name}` !== ''
    ? [{ reason: 'citation_unclosed', span: { start: at, end } }]
    : [];
}
