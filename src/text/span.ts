/** Ranges of a text. Offsets count UTF-16 code units, as JavaScript strings do. */
import { isSpace } from './characters.ts';

/** Half-open range `[start, end)` of UTF-16 code units; `0 <= start <= end`. */
export type Span = { readonly start: number; readonly end: number };

/** Removes the white space at both edges of `[start, end)`. A blank range becomes the empty range at `end`. */
export function trimSpan(text: string, start: number, end: number): Span {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return { start: from, end: to };
}

/** Returns whether the text holds nothing but white space. */
export function isBlank(text: string): boolean {
  const span = trimSpan(text, 0, text.length);
  return span.start === span.end;
}

/** Replaces ranges of a text, in order and without overlap, by spaces. */
export function withBlanks(text: string, spans: readonly Span[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    pieces.push(text.slice(from, start), ' '.repeat(end - start));
    from = end;
  }
  return pieces.join('') + text.slice(from);
}
