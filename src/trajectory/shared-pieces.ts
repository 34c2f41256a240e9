/** Finds the ranges of one text in another one that is copied from the same strings of a request. */
import { pathText } from '../input-problem.ts';
import type { Span } from '../text/span.ts';
import { firstEndingAfter } from './draft.ts';
import type { TextPiece, TracedText } from './trajectory.ts';

/**
 * Returns a function from a range of `from` to the ranges of `to` that hold the same characters of the request, in
 * order; parts that `to` lacks are left out. Pieces count as the same if they begin at the same place of a string.
 */
export function rangesIn(to: TracedText, from: TracedText): (span: Span) => readonly Span[] {
  const starts = new Map(to.pieces.map((piece) => [placeOf(piece), piece.start]));
  return ({ start, end }) => {
    const ranges: Span[] = [];
    for (let n = firstEndingAfter(from.pieces, start); n < from.pieces.length; n++) {
      const piece = from.pieces[n];
      if (piece === undefined || piece.start >= end) break;
      const at = starts.get(placeOf(piece));
      if (at === undefined) continue;
      const by = at - piece.start;
      ranges.push({ start: Math.max(start, piece.start) + by, end: Math.min(end, piece.end) + by });
    }
    return ranges;
  };
}

function placeOf({ path, from }: TextPiece): string {
  return `${pathText(path)}@${from}`;
}
