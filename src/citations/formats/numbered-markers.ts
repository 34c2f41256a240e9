/** Reads markers `[1]` that number a list of sources. */
import type { InputProblem } from '../../input-problem.ts';
import { parseResponse } from '../parse.ts';
import { sourcesFromList } from '../sources.ts';
import type { SourceSet } from '../types.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';

/** A list of sources that markers number, prepared once for all blocks. */
export type NumberedSources = { readonly pointers: readonly Pointer[]; readonly set: SourceSet };

export function numberedSources(pointers: readonly Pointer[]): NumberedSources {
  return { pointers, set: sourcesFromList(pointers.map((_, n) => ({ id: String(n + 1), text: '' }))) };
}

/**
 * Cites the sources that the markers of a block number, from 1. Returns false if the block has no such marker. A number
 * beyond the list cites a source that does not exist.
 */
export function readNumberedMarkers(
  { start, text }: Block,
  { pointers: sources, set }: NumberedSources,
  path: InputProblem['path'],
  draft: AnswerDraft,
): boolean {
  const { claims } = parseResponse(text, set, { grammar: 'bracket', answer: 'whole' });
  for (const { span, element, ids, text: claim } of claims) {
    const pointers = ids.map(({ id, source }): Pointer => {
      return (source === null ? undefined : sources[source]) ?? { path, id, isMissing: true };
    });
    const place = { start: start + span.start, end: start + span.end };
    draft.hide({ start: start + Math.max(span.end, element.start), end: start + element.end });
    draft.cite(place, pointers, path, claim);
  }
  return claims.length > 0;
}
