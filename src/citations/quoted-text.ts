/**
 * Finds what an answer quotes: text between quotation marks of any language, and Markdown block quotes. Quotation marks
 * within a quotation belong to it. No quotation crosses a blank line. Apostrophes, inches (5'10") and attributes
 * (`title="…"`) are no quotation marks. Linear: at most MAX_OPEN marks are open at a time.
 */
import { isSpacedUnit } from '../lexical/index.ts';
import { isAsciiDigit, isLowercase, isSpace } from '../text/characters.ts';
import type { Span } from '../text/span.ts';

/** The marks that close what a mark opens. */
const CLOSING: Readonly<Record<string, string>> = {
  '"': '"”',
  '＂': '＂',
  '“': '”"',
  '”': '”',
  '„': '“”"',
  '‟': '”',
  '«': '»',
  '»': '«',
  '‹': '›',
  '›': '‹',
  '「': '」',
  '『': '』',
  '｢': '｣',
  '﹁': '﹂',
  '﹃': '﹄',
  '〝': '〞〟',
  '״': '״',
  "'": "'’",
  '‘': "’'",
  '‚': '‘’',
};
/** Marks that also close quotations or are other signs: they open only in front of a word and not within one. */
const AMBIGUOUS = '"＂”״\'»›';
/** Marks that close only behind a word and not within one. */
const WORD_END = '"״\'’';
const MAX_OPEN = 8;

/** A quotation mark, or a blank line. */
const MARKS = /["＂“”„‟«»‹›「」『』｢｣﹁﹂﹃﹄〝〞〟״'‘’‚]|\n[^\S\n]*(?=\n)/g;
const BLOCK_QUOTE = /^[ \t]{0,3}>.*(?:\n[ \t]{0,3}>.*)*/gm;
/** The last line of a block quote that names its author. */
const ATTRIBUTION = /^[ \t>]*[—–―-]/;
/** A callout (`> [!NOTE]`, `> **Note:** …`) quotes nothing. */
const CALLOUT = /^[ \t>]*(?:\[!|\*\*|__)/;

/** A mark that can open a quotation, or a block quote. Apostrophes within words cannot. */
const MAY_QUOTE = /["＂“”„‟«»‹›「『｢﹁﹃〝״‘‚]|(?<![A-Za-z0-9])'|'(?![A-Za-z0-9])|^[ \t]{0,3}>/mu;

/** Whether a text may have quotations. Most answers have none, and are not read further. */
export function mayQuote(text: string): boolean {
  return MAY_QUOTE.test(text);
}

/**
 * The quotations of a text in order, without their marks; they do not overlap. A block quote that mostly consists of
 * quotations in marks is no quotation itself.
 * @param text citation markup, and marks in code, are replaced by U+0000: neither a word nor white space.
 */
export function* quotedSpans(text: string): Generator<Span> {
  const marked = markedSpans(text);
  let next = 0;
  const before = (end: number): readonly Span[] => {
    const from = next;
    while ((marked[next]?.start ?? end) < end) next++;
    return marked.slice(from, next);
  };
  for (const { index: start, 0: block } of text.matchAll(BLOCK_QUOTE)) {
    yield* before(start);
    const lastLine = block.lastIndexOf('\n');
    const isAttributed = lastLine !== -1 && ATTRIBUTION.test(block.slice(lastLine + 1));
    const end = start + (isAttributed ? lastLine : block.length);
    const inside = before(end);
    const insideUnits = inside.reduce((sum, span) => sum + span.end - span.start, 0);
    if (2 * insideUnits >= end - start || CALLOUT.test(block)) yield* inside;
    else yield { start, end };
  }
  yield* before(text.length);
}

function markedSpans(text: string): Span[] {
  const found: Span[] = [];
  let open: { readonly at: number; readonly closing: string }[] = [];
  for (const { index: at, 0: mark } of text.matchAll(MARKS)) {
    if (mark.startsWith('\n')) {
      open = [];
      continue;
    }
    const depth = canClose(text, at, mark) ? open.findLastIndex(({ closing }) => closing.includes(mark)) : -1;
    const opened = open[depth];
    const closing = CLOSING[mark];
    if (opened !== undefined) {
      open.length = depth;
      while ((found.at(-1)?.start ?? -1) > opened.at) found.pop();
      found.push({ start: opened.at + 1, end: at });
    } else if (closing !== undefined && canOpen(text, at, mark)) {
      open.push({ at, closing });
      if (open.length > MAX_OPEN) open.shift();
    }
  }
  return found;
}

function canOpen(text: string, at: number, mark: string): boolean {
  if (!AMBIGUOUS.includes(mark)) return true;
  const next = text.charCodeAt(at + 1);
  if (at + 1 === text.length || isSpace(next)) return false;
  if (at > 0 && (isSpacedUnit(text.charCodeAt(at - 1)) || text.charAt(at - 1) === '=')) return false;
  return mark !== "'" || (!isAsciiDigit(next) && !ELISIONS.test(text.slice(at + 1, at + 7)));
}

/** Words whose beginning an apostrophe replaces: 'tis. */
const ELISIONS = /^(?:n|tis|twas|em|til|cause|s|t)(?![a-z])/i;

function canClose(text: string, at: number, mark: string): boolean {
  if (!WORD_END.includes(mark)) return true;
  const next = text.charCodeAt(at + 1);
  if (isSpacedUnit(next) || isSpace(text.charCodeAt(at - 1))) return false;
  // The students' house: a plural in front of its noun.
  const isPlural = "'’".includes(mark) && 'sS'.includes(text.charAt(at - 1));
  return !(isPlural && isSpace(next) && isLowercase(text.charCodeAt(at + 2)));
}
