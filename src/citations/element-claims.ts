/**
 * Reads the claims of an element grammar: pairs the citation tags of one answer block.
 *
 * - A closing tag closes the innermost open citation. A citation inside another is `citation_nested`. Both are claims,
 *   and the outer claim's text is its content without the inner tags.
 * - A citation that is never closed is `citation_unclosed`. Its text is uncited.
 * - A citation without an id is `citation_no_id`. Its text is uncited.
 * - Citations whose two tags are in one piece of code are text (code.ts).
 * - An empty claim is `citation_empty_claim`. It remains a claim, which no source can support.
 */
import { MAX_CITATION_NESTING } from '../limits.ts';
import { hasContent } from '../text/characters.ts';
import { type Span, trimSpan } from '../text/span.ts';
import { CITATION } from './blocks.ts';
import { beginIds, readIdsIn } from './cited-ids.ts';
import { areText, withoutCode } from './code.ts';
import type { FindingSink } from './findings.ts';
import { withoutReferences } from './references.ts';
import type { Stretch } from './statements.ts';
import { attributeCount, isNamed, isQuoteUnclosed, nameSpan, type Tag, textWithoutTags, valueSpan } from './tags.ts';
import type { CitedId, Claim, SourceSet } from './types.ts';

/** The claims of an answer, and the stretches of text that statements come from. */
export type ReadClaims = {
  /** In the order of their opening tags. `duplicate_of` is not set yet. */
  readonly claims: readonly Claim[];
  readonly stretches: readonly Stretch[];
  /** The definitions of sources in the answer, which are no statements (references.ts). */
  readonly references: readonly Span[];
};

/** Reads the claims that the tags of `written` mark, unless they are in code. All must lie inside `content`. */
export function readElementClaims(
  text: string,
  content: Span,
  written: readonly Tag[],
  attributes: readonly string[],
  sources: SourceSet,
  findings: FindingSink,
): ReadClaims {
  const { text: plain, code } = withoutCode(text, content);
  const references = withoutReferences(plain, content, (id) => sources.byId.has(id)).spans;
  const tags = tagsOutside(code, written);
  const closers = pairTags(tags, findings);
  const claims: Claim[] = [];
  const stretches: Stretch[] = [];
  let textFrom = content.start;
  let outerEnd = content.start;
  const addText = (to: number): void => {
    if (to > textFrom) stretches.push({ start: textFrom, end: to, claim: false });
  };

  for (let position = 0; position < tags.length; position++) {
    const tag = tags[position];
    if (tag === undefined) continue;
    const closerPosition = closers[position] ?? NO_CLOSER;
    const closer = closerPosition === NO_CLOSER ? undefined : tags[closerPosition];
    const ids = closer === undefined ? [] : readCitedIds(text, tag, attributes, sources, claims.length, findings);
    if (ids.length > 0 && closer !== undefined) {
      const claim = claimBetween(text, tags, position, closerPosition, ids, claims.length, findings);
      claims.push(claim);
      if (tag.span.start >= outerEnd) {
        addText(tag.span.start);
        stretches.push({ start: claim.span.start, end: claim.span.end, claim: true });
        textFrom = closer.span.end;
        outerEnd = closer.span.end;
      }
    } else if (tag.span.start >= outerEnd) {
      // A tag without a claim is markup, not uncited text.
      addText(tag.span.start);
      textFrom = tag.span.end;
    }
  }
  addText(content.end);
  return { claims, stretches, references };
}

/** Leaves out the tags that are text because they are in code. */
function tagsOutside(code: readonly Span[], written: readonly Tag[]): readonly Tag[] {
  if (code.length === 0) return written;
  const tags: Tag[] = [];
  let next = 0;
  for (const { start, end } of code) {
    for (let tag = written[next]; tag !== undefined && tag.span.start < start; tag = written[++next]) tags.push(tag);
    const inside: Tag[] = [];
    for (let tag = written[next]; tag !== undefined && tag.span.start < end; tag = written[++next]) inside.push(tag);
    if (!areText(inside)) for (const tag of inside) tags.push(tag);
  }
  for (const tag of written.slice(next)) tags.push(tag);
  return tags;
}

const NO_CLOSER = -1;

/** Maps the index of each opening citation tag to the index of its closing tag, and every other index to NO_CLOSER. */
function pairTags(tags: readonly Tag[], findings: FindingSink): Int32Array {
  const closers = new Int32Array(tags.length).fill(NO_CLOSER);
  const open = new OpenCitations<number>();
  for (let position = 0; position < tags.length; position++) {
    const tag = tags[position];
    if (tag === undefined || tag.name !== CITATION) continue;
    if (!tag.closing) {
      if (open.list.length > 0) findings.add({ reason: 'citation_nested', in: 'response', span: tag.span });
      if (tag.selfClosing) closers[position] = position;
      else open.open(position);
    } else {
      const opener = open.close();
      if (opener === 'stray') findings.add({ reason: 'citation_stray_close', in: 'response', span: tag.span });
      else if (opener !== 'too_deep') closers[opener] = position;
    }
  }
  for (const opener of open.list) {
    const tag = tags[opener];
    if (tag !== undefined) findings.add({ reason: 'citation_unclosed', in: 'response', span: tag.span });
  }
  return closers;
}

/** A stack of the open citations, outermost first. Its depth is limited to MAX_CITATION_NESTING. */
export class OpenCitations<T> {
  readonly list: T[] = [];
  #tooDeep = 0;

  /** Opens a citation. Returns false if it is nested too deeply: then it and its closing tag are text. */
  open(citation: T): boolean {
    if (this.list.length >= MAX_CITATION_NESTING) {
      this.#tooDeep++;
      return false;
    }
    this.list.push(citation);
    return true;
  }

  /** Returns the citation that a closing tag closes. */
  close(): T | 'too_deep' | 'stray' {
    if (this.#tooDeep > 0) {
      this.#tooDeep--;
      return 'too_deep';
    }
    return this.list.pop() ?? 'stray';
  }
}

/**
 * Reads the ids of an opening tag. Reports `citation_no_id` if there are none. `offset` is the place of `text` in the
 * response; it is added to every reported place.
 */
export function readCitedIds(
  text: string,
  tag: Tag,
  attributes: readonly string[],
  sources: SourceSet,
  claim: number,
  findings: FindingSink,
  offset = 0,
): CitedId[] {
  const reading = beginIds();
  for (const span of idSpansOf(text, tag, attributes, findings, claim, offset)) {
    readIdsIn(reading, text, span, sources, claim, findings, offset);
  }
  if (reading.ids.length === 0) {
    const span = { start: tag.span.start + offset, end: tag.span.end + offset };
    findings.add({ reason: 'citation_no_id', in: 'response', span });
  }
  return reading.ids;
}

/**
 * Builds the claim between two of `tags`. The places of the tags and the claim are relative to `offset` units before
 * `text`.
 */
export function claimBetween(
  text: string,
  tags: readonly Tag[],
  opener: number,
  closer: number,
  ids: readonly CitedId[],
  index: number,
  findings: FindingSink,
  offset = 0,
): Claim {
  const open = tags[opener];
  const close = tags[closer];
  if (open === undefined || close === undefined) throw new RangeError('claimBetween: opener or closer is outside tags');
  const span = opener === closer ? afterTag(open) : trimBetween(text, open, close, offset);
  const claimText =
    closer <= opener + 1
      ? text.slice(span.start - offset, span.end - offset)
      : textWithoutTags(text, span, tags, opener, closer, offset);
  if (claimText.length === 0)
    findings.add({ reason: 'citation_empty_claim', in: 'response', span: open.span, claim: index });
  else if (!hasContent(claimText, 0, claimText.length)) {
    findings.add({ reason: 'markup_only', in: 'response', span, claim: index });
  }
  return {
    index,
    text: claimText,
    span,
    element: { start: open.span.start, end: close.span.end },
    ids,
    duplicate_of: null,
  };
}

/** Returns the empty range after a self-closing tag. */
function afterTag({ span }: Tag): Span {
  return { start: span.end, end: span.end };
}

function trimBetween(text: string, open: Tag, close: Tag, offset: number): Span {
  const { start, end } = trimSpan(text, open.span.end - offset, close.span.start - offset);
  return { start: start + offset, end: end + offset };
}

/** Finds the ids: the values of id attributes, and bare words right after them (`id=S1 S2`), which are malformed. */
function idSpansOf(
  text: string,
  { attributes }: Tag,
  names: readonly string[],
  findings: FindingSink,
  claim: number,
  offset: number,
): Span[] {
  const spans: Span[] = [];
  let bareWordsAreIds = false;
  const reportMalformed = ({ start, end }: Span): void => {
    const span = { start: start + offset, end: end + offset };
    findings.add({ reason: 'citation_id_malformed', in: 'response', span, claim });
  };
  for (let n = 0; n < attributeCount(attributes); n++) {
    const value = valueSpan(attributes, n);
    if (value === null) {
      if (!bareWordsAreIds) continue;
      const word = nameSpan(attributes, n);
      spans.push(word);
      reportMalformed(word);
      continue;
    }
    bareWordsAreIds = names.some((name) => isNamed(text, attributes, n, name));
    if (!bareWordsAreIds) continue;
    spans.push(value);
    if (isQuoteUnclosed(text, value)) reportMalformed(value);
  }
  return spans;
}
