/**
 * Claims of an element grammar: pairs the citation tags of one answer block.
 *
 * Policies:
 * - A closing tag closes the innermost open citation. A citation inside another is `citation_nested`; both are claims,
 *   and the outer one's text is its content without the inner tags.
 * - A citation that is never closed is `citation_unclosed`, and its text is uncited text.
 * - A citation without any id cites nothing: `citation_no_id`, and its text is uncited text too.
 * - An empty claim is `citation_empty_claim`; it stays a claim, which nothing can support.
 */
import { MAX_CITATION_NESTING } from '../limits.ts';
import { CITATION } from './blocks.ts';
import { hasContent, trimSpan } from './characters.ts';
import type { FindingList } from './findings.ts';
import { readIds } from './ids.ts';
import type { Stretch } from './statements.ts';
import { attributeCount, isNamed, isQuoteUnclosed, nameSpan, type Tag, textWithoutTags, valueSpan } from './tags.ts';
import type { Claim, SourceSet, Span } from './types.ts';

export type ReadClaims = {
  /** In the order of their opening tags; `duplicate_of` is still open. */
  readonly claims: readonly Claim[];
  readonly stretches: readonly Stretch[];
};

type OpenCitation = { readonly tag: Tag; readonly position: number };

/** Reads the claims between `tags`, all of them inside `content`. */
export function readElementClaims(
  text: string,
  content: Span,
  tags: readonly Tag[],
  attributes: readonly string[],
  sources: SourceSet,
  findings: FindingList,
): ReadClaims {
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
    const claim =
      closer === undefined
        ? null
        : readClaim(text, tags, position, closerPosition, attributes, sources, claims.length, findings);
    if (claim !== null && closer !== undefined) {
      claims.push(claim);
      if (tag.span.start >= outerEnd) {
        addText(tag.span.start);
        stretches.push({ start: claim.span.start, end: claim.span.end, claim: true });
        textFrom = closer.span.end;
        outerEnd = closer.span.end;
      }
    } else if (tag.span.start >= outerEnd) {
      // A tag that makes no claim is not text either.
      addText(tag.span.start);
      textFrom = tag.span.end;
    }
  }
  addText(content.end);
  return { claims, stretches };
}

const NO_CLOSER = -1;

/** For each tag the position of the one that closes it; NO_CLOSER for closing tags and for those never closed. */
function pairTags(tags: readonly Tag[], findings: FindingList): Int32Array {
  const closers = new Int32Array(tags.length).fill(NO_CLOSER);
  const open: OpenCitation[] = [];
  let tooDeep = 0;
  for (let position = 0; position < tags.length; position++) {
    const tag = tags[position];
    if (tag === undefined || tag.name !== CITATION) continue;
    if (!tag.closing) {
      if (open.length > 0) findings.add({ reason: 'citation_nested', in: 'response', span: tag.span });
      if (tag.selfClosing) closers[position] = position;
      else if (open.length >= MAX_CITATION_NESTING) tooDeep++;
      else open.push({ tag, position });
    } else if (tooDeep > 0) tooDeep--;
    else {
      const opened = open.pop();
      if (opened === undefined) findings.add({ reason: 'citation_stray_close', in: 'response', span: tag.span });
      else closers[opened.position] = position;
    }
  }
  for (const { tag } of open) findings.add({ reason: 'citation_unclosed', in: 'response', span: tag.span });
  return closers;
}

function readClaim(
  text: string,
  tags: readonly Tag[],
  opener: number,
  closer: number,
  attributes: readonly string[],
  sources: SourceSet,
  index: number,
  findings: FindingList,
): Claim | null {
  const open = tags[opener];
  const close = tags[closer];
  if (open === undefined || close === undefined) return null;
  const idSpans = idSpansOf(text, open, attributes, findings, index);
  const ids = readIds(text, idSpans, sources, index, findings);
  if (ids.length === 0) {
    findings.add({ reason: 'citation_no_id', in: 'response', span: open.span });
    return null;
  }
  const selfClosing = opener === closer;
  const span = selfClosing
    ? { start: open.span.end, end: open.span.end }
    : trimSpan(text, open.span.end, close.span.start);
  const claimText =
    closer <= opener + 1 ? text.slice(span.start, span.end) : textWithoutTags(text, span, tags, opener, closer);
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

/** Where the ids stand: the id attributes, and bare words right behind them (`id=S1 S2`), which are malformed. */
function idSpansOf(
  text: string,
  { attributes }: Tag,
  names: readonly string[],
  findings: FindingList,
  claim: number,
): Span[] {
  const spans: Span[] = [];
  let bareWordsAreIds = false;
  for (let n = 0; n < attributeCount(attributes); n++) {
    const value = valueSpan(attributes, n);
    if (value === null) {
      if (!bareWordsAreIds) continue;
      const word = nameSpan(attributes, n);
      spans.push(word);
      findings.add({ reason: 'citation_id_malformed', in: 'response', span: word, claim });
      continue;
    }
    bareWordsAreIds = names.some((name) => isNamed(text, attributes, n, name));
    if (!bareWordsAreIds) continue;
    spans.push(value);
    if (isQuoteUnclosed(text, value)) {
      findings.add({ reason: 'citation_id_malformed', in: 'response', span: value, claim });
    }
  }
  return spans;
}
