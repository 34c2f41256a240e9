/** The text of a source with what matters for one claim marked: the closest passage, and what was copied word for word. */

import type { LexicalEvidence } from '../../../src/citations/verify.ts';
import type { Span } from '../../../src/text/span.ts';

export type MarkedPiece = Span & { readonly mark: 'none' | 'closest' | 'copied' };

/** The pieces of the source's text, in order and without a gap. */
export function sourceMarks(length: number, source: number, evidence: LexicalEvidence | undefined): MarkedPiece[] {
  const marks: MarkedPiece[] = (evidence?.verbatim ?? [])
    .filter((span) => span.source === source)
    .map(({ start, end }) => ({ start, end, mark: 'copied' }));
  const window = evidence?.window ?? null;
  // Where something was copied, that is the passage.
  if (marks.length === 0 && window?.source === source) {
    marks.push({ start: window.start, end: window.end, mark: 'closest' });
  }
  marks.sort((a, b) => a.start - b.start);
  const pieces: MarkedPiece[] = [];
  let at = 0;
  for (const { start, end, mark } of marks) {
    if (end <= at) continue;
    if (start > at) pieces.push({ start: at, end: start, mark: 'none' });
    pieces.push({ start: Math.max(start, at), end, mark });
    at = end;
  }
  if (at < length) pieces.push({ start: at, end: length, mark: 'none' });
  return pieces;
}
