/**
 * Finds uncited statements: the text of a sentence outside claims, if it has at least four content tokens. A claim
 * inside a sentence leaves one statement of two pieces. A claim that ends a sentence ends the statement before it.
 */
import { countContentTokens } from '../lexical/index.ts';
import { isLetterOrDigit, isSpace, LINE_FEED } from '../text/characters.ts';
import { endsSentence, splitSentences } from '../text/sentences.ts';
import { type Span, trimSpan } from '../text/span.ts';
import type { UncitedStatement } from './types.ts';

/** A statement has at least this many content tokens. Shorter text only connects claims. */
const MIN_STATEMENT_CONTENT_TOKENS = 4;

/**
 * A part of the judged text: a claim, or the text between claims and tags. Stretches are in order and do not overlap.
 */
export type Stretch = Span & { readonly claim: boolean };

/** Leaves the text of some spans, in order, out of the text between claims. */
export function withoutSpans(stretches: readonly Stretch[], spans: readonly Span[]): readonly Stretch[] {
  if (spans.length === 0) return stretches;
  const kept: Stretch[] = [];
  let next = 0;
  for (const stretch of stretches) {
    let from = stretch.start;
    if (!stretch.claim) {
      while ((spans[next]?.end ?? stretch.end) < from) next++;
      for (let n = next, span = spans[n]; span !== undefined && span.start < stretch.end; span = spans[++n]) {
        if (span.start > from) kept.push({ start: from, end: span.start, claim: false });
        from = Math.max(from, span.end);
      }
    }
    if (stretch.end > from) kept.push({ start: from, end: stretch.end, claim: stretch.claim });
  }
  return kept;
}

/** Returns the uncited statements of one answer, in time linear in its length. */
export function uncitedStatements(text: string, stretches: readonly Stretch[]): UncitedStatement[] {
  const statements: UncitedStatement[] = [];
  let pieces: Span[] = [];
  const endSentence = (): void => {
    if (pieces.length === 0) return;
    let tokens = 0;
    for (const piece of pieces) tokens += countContentTokens(text, piece.start, piece.end);
    if (tokens >= MIN_STATEMENT_CONTENT_TOKENS) {
      statements.push({
        index: statements.length,
        text: pieces.map((piece) => text.slice(piece.start, piece.end)).join(' '),
        pieces,
      });
    }
    pieces = [];
  };

  for (const { start, end, claim } of stretches) {
    if (claim) {
      const open = pieces.length > 0;
      if (open && (endsSentence(text, start, end) || splitSentences(text, start, end).length > 1)) endSentence();
      continue;
    }
    if (!hasLetterOrDigit(text, start, end)) {
      if (pieces.length > 0 && breaksSentence(text, start, end)) endSentence();
      continue;
    }
    if (startsWithLineBreak(text, start, end)) endSentence();
    const sentences = splitSentences(text, start, end);
    for (let n = 0; n < sentences.length; n++) {
      if (n > 0) endSentence();
      const sentence = sentences[n];
      if (sentence === undefined) continue;
      const piece = withoutLeadingMarks(text, sentence);
      if (hasLetterOrDigit(text, piece.start, piece.end)) pieces.push(piece);
    }
    const last = sentences.at(-1);
    if (last !== undefined && (endsSentence(text, last.start, last.end) || hasLineBreak(text, last.end, end))) {
      endSentence();
    }
  }
  endSentence();
  return statements;
}

function hasLetterOrDigit(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isLetterOrDigit(text.charCodeAt(i))) return true;
  return false;
}

function hasLineBreak(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) === LINE_FEED) return true;
  return false;
}

function startsWithLineBreak(text: string, start: number, end: number): boolean {
  let i = start;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return hasLineBreak(text, start, i);
}

/**
 * Returns whether the punctuation between two claims ends the sentence: a stop or line break does, a comma does not.
 */
function breaksSentence(text: string, start: number, end: number): boolean {
  return hasLineBreak(text, start, end) || endsSentence(text, start, end);
}

/** Removes list marks, heading marks and the punctuation that follows the previous claim. */
function withoutLeadingMarks(text: string, sentence: Span): Span {
  let start = sentence.start;
  while (start < sentence.end) {
    const code = text.charCodeAt(start);
    const mark = code < 0x80 && !isLetterOrDigit(code) && code !== 0x28 && code !== 0x22 && code !== 0x24;
    if (!mark) break;
    start++;
  }
  return trimSpan(text, start, sentence.end);
}
