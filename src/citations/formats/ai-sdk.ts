/**
 * Vercel AI SDK: `source` parts beside the text (model results), or `source-url` and `source-document` parts (messages of
 * the UI). They have no place in the text. If the text has markers `[1]`, these number the sources in order; otherwise
 * the whole text cites all sources, and a finding says so. `citations` of a text part can have a place and a quotation.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Span } from '../../text/span.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';
import { type NumberedSources, numberedSources, readNumberedMarkers } from './numbered-markers.ts';

type Path = InputProblem['path'];

export const aiSdk: AnswerFormat = {
  name: 'ai-sdk',
  expected: 'a result of generateText, a UI message, or its parts, with source parts',
  detects: (value) => partsOf(value).some(([, part]) => isSource(part)),
  read(value, draft) {
    const parts = partsOf(value);
    const sources = parts.flatMap(([path, part]) => (isSource(part) ? pointersOf(part, path) : []));
    for (const source of sources) draft.sources.offer(source);
    const whole = isJsonObject(value) && !parts.some(([, { type }]) => type === 'text') ? textIn(value['text']) : null;
    const texts =
      whole === null ? parts.filter(([, part]) => part['type'] === 'text') : [[['text'], { text: whole }] as const];
    const numbered = numberedSources(sources);
    for (const [path, part] of texts) readText(part, path, numbered, draft);
    return texts.length > 0;
  },
};

function readText(part: Json, path: Path, sources: NumberedSources, draft: AnswerDraft): void {
  const text = textIn(part['text']) ?? '';
  const block = draft.addText(text);
  const span = { start: block.start, end: block.start + text.length };
  const citations = objectsIn(part['citations']);
  for (const [n, citation] of citations) readCitation(block, span, citation, [...path, 'citations', n], draft);
  if (citations.length > 0 || sources.pointers.length === 0) return;
  if (!readNumberedMarkers(block, sources, path, draft)) {
    draft.findings.add({ reason: 'citation_without_place', path, span });
    draft.cite(span, sources.pointers, path);
  }
}

/** A citation of a text part: the source, and optionally the text that it supports and the text that it quotes. */
function readCitation(block: Block, whole: Span, citation: Json, path: Path, draft: AnswerDraft): void {
  const quoted = textIn(citation['citedText']);
  const quote = quoted === null ? null : { text: quoted };
  const pointers = pointersOf(objectIn(citation['source']) ?? citation, path).map((one) => ({ ...one, quote }));
  if (pointers.length === 0) draft.findings.add({ reason: 'citation_unread', path });
  const start = indexIn(citation['startIndex']);
  const end = indexIn(citation['endIndex']);
  const isPlaced = start !== null && end !== null;
  const span = isPlaced ? draft.locate(block, { start, end, unit: 'utf16', expected: null, path }) : whole;
  if (span !== null) draft.cite(span, pointers, path);
}

function isSource({ type, sourceType }: Json): boolean {
  return type === 'source-url' || type === 'source-document' || (type === 'source' && sourceType !== undefined);
}

function partsOf(value: unknown): (readonly [Path, Json])[] {
  const listed = (path: Path, list: unknown): (readonly [Path, Json])[] =>
    objectsIn(list).map(([n, part]) => [[...path, n], part]);
  if (!isJsonObject(value)) return listed([], value);
  const content = listIn(value['content']).length > 0 ? 'content' : 'parts';
  const parts = listed([content], value[content]);
  return parts.length > 0 ? parts : listed(['sources'], value['sources']);
}

function pointersOf(source: Json, path: Path): Pointer[] {
  const url = textIn(source['url']);
  const id = textIn(source['id']) ?? textIn(source['sourceId']);
  const title = textIn(source['title']) ?? textIn(source['filename']);
  return url === null && id === null ? [] : [{ path, id: url === null ? id : null, url: url ?? id, title }];
}
