/** Reads markers `[1]` that number a list of sources. */
import type { InputProblem } from '../../input-problem.ts';
import { parseResponse } from '../parse.ts';
import { sourcesFromList } from '../sources.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';

/**
 * Cites the sources that the markers of a block number, from 1. Returns false if the block has no such marker. A number
 * beyond the list cites a source that does not exist.
 */
export function readNumberedMarkers(
  { start, text }: Block,
  sources: readonly Pointer[],
  path: InputProblem['path'],
  draft: AnswerDraft,
): boolean {
  const listed = sourcesFromList(sources.map((_, n) => ({ id: String(n + 1), text: '' })));
  const { claims } = parseResponse(text, listed, { grammar: 'bracket', answer: 'whole' });
  for (const { span, element, ids, text: claim } of claims) {
    const pointers = ids.map(
      ({ id, source }): Pointer => (source === null ? { path, id } : (sources[source] ?? { path, id })),
    );
    const place = { start: start + span.start, end: start + span.end };
    draft.hide({ start: start + Math.max(span.end, element.start), end: start + element.end });
    draft.cite(place, pointers, path, claim);
  }
  return claims.length > 0;
}
