/**
 * Gemini: `groundingMetadata` of a candidate. A support names a segment of one part in bytes of UTF-8, repeats its text,
 * and points to chunks by index. Chunks of a search are addresses; chunks of retrieved contexts carry their text.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, type Json, listIn, member, objectIn, objectsIn, textIn } from './json.ts';

type Path = InputProblem['path'];

export const gemini: AnswerFormat = {
  name: 'gemini',
  expected: 'a response of generateContent, one candidate of it, or the chunks of its stream',
  detects(value) {
    const isCandidate = (one: Json): boolean =>
      member(one, 'groundingMetadata', 'grounding_metadata', 'citationMetadata') !== undefined ||
      listIn(objectIn(one['content'])?.['parts']).length > 0;
    const isResponse = (one: Json): boolean =>
      objectsIn(one['candidates']).some(([, candidate]) => isCandidate(candidate));
    if (isJsonObject(value)) return isResponse(value) || isCandidate(value);
    return objectsIn(value).some(([, chunk]) => isResponse(chunk));
  },
  read(value, draft) {
    const responses: readonly (readonly [Path, Json])[] = isJsonObject(value)
      ? [[[], value]]
      : objectsIn(value).map(([n, chunk]) => [[n], chunk]);
    const candidates = responses.map(([path, response]): readonly [Path, Json] => {
      const candidate = objectIn(listIn(response['candidates'])[0]);
      return candidate === null ? [path, response] : [[...path, 'candidates', 0], candidate];
    });
    const blocks = readParts(candidates, draft);
    for (const [path, candidate] of candidates) {
      const metadata = objectIn(member(candidate, 'groundingMetadata', 'grounding_metadata'));
      if (metadata !== null) readSupports(metadata, blocks, [...path, 'groundingMetadata'], draft);
      readRecitations(candidate, blocks, path, draft);
    }
    return blocks.size > 0;
  },
};

/** The text parts by index. The chunks of a stream continue one part. */
function readParts(candidates: readonly (readonly [Path, Json])[], draft: AnswerDraft): ReadonlyMap<number, Block> {
  const texts = new Map<number, string[]>();
  for (const [, candidate] of candidates) {
    for (const [n, part] of objectsIn(objectIn(candidate['content'])?.['parts'])) {
      const text = textIn(part['text']);
      if (text === null || part['thought'] === true) continue;
      const index = candidates.length > 1 ? 0 : n;
      const pieces = texts.get(index) ?? [];
      pieces.push(text);
      texts.set(index, pieces);
    }
  }
  return new Map([...texts].map(([index, pieces]) => [index, draft.addText(pieces.join(''))]));
}

function readSupports(metadata: Json, blocks: ReadonlyMap<number, Block>, path: Path, draft: AnswerDraft): void {
  const chunks = listIn(member(metadata, 'groundingChunks', 'grounding_chunks'));
  const [first] = blocks.keys();
  const supports = objectsIn(member(metadata, 'groundingSupports', 'grounding_supports'));
  if (supports.length === 0 && chunks.length > 0)
    draft.findings.add({ reason: 'citation_without_place', path: [...path, 'groundingChunks'] });
  for (const [n, support] of supports) {
    const at = [...path, 'groundingSupports', n];
    const segment = objectIn(support['segment']) ?? {};
    // Numbers of value 0 are absent from the wire. The first text part can follow a thought.
    const part = indexIn(member(segment, 'partIndex', 'part_index')) ?? first ?? 0;
    const block = blocks.get(part);
    if (block === undefined) {
      draft.findings.add({ reason: 'claim_not_found', path: at });
      continue;
    }
    const span = draft.locate(block, {
      start: indexIn(member(segment, 'startIndex', 'start_index')) ?? 0,
      end: indexIn(member(segment, 'endIndex', 'end_index')) ?? 0,
      unit: 'utf8',
      expected: textIn(segment['text']),
      path: at,
    });
    if (span === null) continue;
    const indices = listIn(member(support, 'groundingChunkIndices', 'grounding_chunk_indices'));
    const pointers = indices.flatMap((value): Pointer[] => {
      const index = indexIn(value);
      const chunk = index === null ? null : objectIn(chunks[index]);
      if (index === null) draft.findings.add({ reason: 'citation_unread', path: at });
      if (index === null) return [];
      const place = [...path, 'groundingChunks', index];
      return [chunk === null ? { path: place, id: `chunk-${index}`, isMissing: true } : pointerOf(chunk, index, place)];
    });
    draft.cite(span, pointers, at);
  }
}

/** `citationMetadata`: stretches that the model took from a web page, without the page's text. */
function readRecitations(candidate: Json, blocks: ReadonlyMap<number, Block>, path: Path, draft: AnswerDraft): void {
  const metadata = objectIn(member(candidate, 'citationMetadata', 'citation_metadata')) ?? {};
  const [block] = blocks.values();
  for (const [n, one] of objectsIn(member(metadata, 'citationSources', 'citation_sources', 'citations'))) {
    const at = [...path, 'citationMetadata', 'citationSources', n];
    const url = textIn(one['uri']);
    if (url === null || block === undefined) {
      draft.findings.add({ reason: 'citation_unread', path: at });
      continue;
    }
    const start = indexIn(member(one, 'startIndex', 'start_index')) ?? 0;
    const end = indexIn(member(one, 'endIndex', 'end_index')) ?? 0;
    const span = draft.locate(block, { start, end, unit: 'utf8', expected: null, path: at });
    if (span !== null) draft.cite(span, [{ path: at, url, title: textIn(one['title']) }], at);
  }
}

function pointerOf(chunk: Json, position: number, path: Path): Pointer {
  const context = objectIn(member(chunk, 'retrievedContext', 'retrieved_context'));
  const place = context ?? objectIn(chunk['web']) ?? objectIn(chunk['maps']) ?? objectIn(chunk['image']) ?? {};
  const ragChunk = objectIn(member(place, 'ragChunk', 'rag_chunk'));
  const text = textIn(place['text']) ?? textIn(ragChunk?.['text']);
  const url = textIn(member(place, 'uri', 'sourceUri', 'source_uri'));
  const name = textIn(member(place, 'documentName', 'document_name'));
  // Two chunks of one retrieved document are two texts, and each support names its own.
  return { path, id: url === null ? name : null, url, title: textIn(place['title']), position, text };
}
