/**
 * Vercel AI SDK: `source` parts beside the text (model results), or `source-url` and `source-document` parts (messages of
 * the UI). They have no place in the text. If the text has markers `[1]`, these number the sources in order; otherwise
 * the whole text cites all sources, and a finding says so.
 */
import type { InputProblem } from '../../input-problem.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { isObject, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';
import { readNumberedMarkers } from './numbered-markers.ts';

type Path = InputProblem['path'];

export const aiSdk: AnswerFormat = {
  name: 'ai-sdk',
  expected: 'a result of generateText, a UI message, or its parts, with source parts',
  detects: (value) => partsOf(value).some(([, part]) => isSource(part)),
  read(value, draft) {
    const parts = partsOf(value);
    const sources = parts.flatMap(([path, part]) => (isSource(part) ? pointersOf(part, path) : []));
    for (const source of sources) draft.sources.offer(source);
    const whole = isObject(value) && !parts.some(([, { type }]) => type === 'text') ? textIn(value['text']) : null;
    const texts =
      whole === null ? parts.filter(([, part]) => part['type'] === 'text') : [[['text'], { text: whole }] as const];
    for (const [path, part] of texts) readText(part, path, sources, draft);
    return texts.length > 0;
  },
};

function readText(part: Json, path: Path, sources: readonly Pointer[], draft: AnswerDraft): void {
  const text = textIn(part['text']) ?? '';
  const block = draft.addText(text);
  const citations = objectsIn(part['citations']).flatMap(([n, one]) =>
    pointersOf(objectIn(one['source']) ?? one, [...path, 'citations', n]),
  );
  const span = { start: block.start, end: block.start + text.length };
  if (citations.length > 0) draft.cite(span, citations, path);
  else if (sources.length > 0 && !readNumberedMarkers(block, sources, path, draft)) {
    draft.findings.add({ reason: 'citation_without_place', path, span });
    draft.cite(span, sources, path);
  }
}

function isSource({ type, sourceType }: Json): boolean {
  return type === 'source-url' || type === 'source-document' || (type === 'source' && sourceType !== undefined);
}

function partsOf(value: unknown): (readonly [Path, Json])[] {
  const listed = (path: Path, list: unknown): (readonly [Path, Json])[] =>
    objectsIn(list).map(([n, part]) => [[...path, n], part]);
  if (!isObject(value)) return listed([], value);
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
