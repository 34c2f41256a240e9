/**
 * OpenAI: `annotations` of an `output_text` (Responses API) or of a message (Chat Completions). The offsets of a
 * `url_citation` delimit its marker in the answer; the claim is the text before it in its sentence. If they delimit
 * other text, that text is the claim. A `file_citation` is a place after its claim. File search results carry text. Azure
 * adds `context.citations`, which markers `[doc1]` number; Perplexity's Responses API adds an item `search_results`, which
 * markers `[1]` number. Markers that no annotation names lead nowhere.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Span } from '../../text/span.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';
import { readBareMarkers, withoutThinking } from './left-over.ts';
import { numberedSources, readNumberedMarkers } from './numbered-markers.ts';

type Path = InputProblem['path'];

export const openai: AnswerFormat = {
  name: 'openai',
  expected: 'a response of the Responses API, its output items, or a chat completion or message with annotations',
  detects(value) {
    if (isJsonObject(value)) {
      if (value['object'] === 'response' || listIn(value['output']).some(isOutput)) return true;
      if (isOutput(value) || value['type'] === 'response.completed') return true;
      return [...choices(value), value].some((message) => isAnnotated(message) && !isNumbered(value, message));
    }
    return objectsIn(value).some(([, item]) => isOutput(item) || item['type'] === 'response.completed');
  },
  read(value, draft) {
    if (Array.isArray(value)) {
      const done = value.findIndex((item) => isJsonObject(item) && item['type'] === 'response.completed');
      return done === -1 ? readItems(value, [], draft) : readObject(value[done], [done], draft);
    }
    return readObject(value, [], draft);
  },
};

function choices(value: Json): readonly Json[] {
  return objectsIn(value['choices']).flatMap(([, choice]): Json[] => {
    const message = objectIn(choice['message']);
    return message === null ? [] : [message];
  });
}

function isAnnotated(message: Json): boolean {
  if (textIn(message['content']) === null) return false;
  return listIn(message['annotations']).length > 0 || contextOf(message).length > 0;
}

/**
 * Whether the text has the numbers of a list beside the choices, as OpenRouter passes on Perplexity's answers: its
 * annotations have no place.
 */
function isNumbered(value: Json, message: Json): boolean {
  const lists = [...listIn(value['citations']), ...listIn(value['search_results'])];
  const annotations = objectsIn(message['annotations']);
  return lists.length > 0 && annotations.length > 0 && annotations.every(([, one]) => !isPlaced(one));
}

function isPlaced(annotation: Json): boolean {
  const { start_index, end_index } = { ...annotation, ...objectIn(annotation['url_citation']) };
  return typeof end_index === 'number' && (typeof start_index === 'number' ? end_index > start_index : true);
}

/** The documents of Azure OpenAI On Your Data. */
function contextOf(message: Json): readonly (readonly [number, Json])[] {
  return objectsIn(objectIn(message['context'])?.['citations']);
}

function isOutput(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  if (item['type'] === 'output_text' || item['type'] === 'file_search_call') return true;
  return item['type'] === 'message' && listIn(item['content']).some(isOutput);
}

function readObject(value: unknown, path: Path, draft: AnswerDraft): boolean {
  if (!isJsonObject(value)) return false;
  const response = objectIn(value['response']);
  if (response !== null) return readObject(response, [...path, 'response'], draft);
  const [chosen] = choices(value);
  if (chosen !== undefined) return readMessage(chosen, [...path, 'choices', 0, 'message'], draft);
  if (textIn(value['content']) !== null) return readMessage(value, path, draft);
  if (value['output'] === undefined) return readItems([value], path, draft, true);
  return readItems(value['output'], [...path, 'output'], draft);
}

function readMessage(message: Json, path: Path, draft: AnswerDraft): boolean {
  const content = textIn(message['content']);
  if (content === null) return false;
  const documents = contextOf(message).map(([n, one]): Pointer => {
    const url = textIn(one['url']);
    const id = url === null ? (textIn(one['filepath']) ?? textIn(one['title'])) : null;
    return {
      path: [...path, 'context', 'citations', n],
      id,
      url,
      title: textIn(one['title']),
      text: textIn(one['content']),
    };
  });
  if (documents.length === 0) {
    readText(content, message['annotations'], path, draft);
    return true;
  }
  for (const document of documents) draft.sources.offer(document);
  const text = withoutThinking(content).replace(AZURE_MARKER, '[$1]');
  readNumberedMarkers(draft.addText(text), numberedSources(documents), [...path, 'content'], draft);
  return true;
}

/** `[doc1]` numbers the first of the documents. */
const AZURE_MARKER = /\[doc(\d{1,4})\]/g;

function readItems(items: unknown, path: Path, draft: AnswerDraft, isOnly = false, pages: Pointer[] = []): boolean {
  let found = false;
  for (const [n, item] of objectsIn(items)) {
    const at = isOnly ? path : [...path, n];
    for (const [r, result] of item['type'] === 'file_search_call' ? objectsIn(item['results']) : []) {
      const pointer = {
        id: textIn(result['file_id']),
        title: textIn(result['filename']),
        text: textIn(result['text']),
      };
      draft.sources.offer({ ...pointer, path: [...at, 'results', r] });
    }
    for (const [r, page] of item['type'] === 'search_results' ? objectsIn(item['results']) : []) {
      const pointer = { url: textIn(page['url']), title: textIn(page['title']), text: textIn(page['snippet']) };
      pages.push({ ...pointer, path: [...at, 'results', r] });
    }
    if (item['type'] === 'output_text') {
      found = true;
      readText(textIn(item['text']) ?? '', item['annotations'], at, draft, pages);
    } else if (item['type'] === 'message') {
      found = readItems(item['content'], [...at, 'content'], draft, false, pages) || found;
    }
  }
  return found;
}

function readText(
  text: string,
  annotations: unknown,
  path: Path,
  draft: AnswerDraft,
  pages: readonly Pointer[] = [],
): void {
  const isAnnotated = listIn(annotations).length > 0;
  const block = draft.addText(isAnnotated ? text : withoutThinking(text));
  const known: Span[] = [];
  for (const [n, outer] of objectsIn(annotations)) {
    const at = [...path, 'annotations', n];
    const span = readAnnotation(
      block,
      outer,
      { ...outer, ...objectIn(outer['url_citation']), ...objectIn(outer['file_citation']) },
      at,
      draft,
    );
    if (span !== null) known.push({ start: span.start - block.start, end: span.end - block.start });
  }
  if (!isAnnotated && pages.length > 0) {
    for (const page of pages) draft.sources.offer(page);
    readNumberedMarkers(block, numberedSources(pages), path, draft);
  }
  readBareMarkers(block, known, path, draft);
}

/** Reads an annotation and returns its place, or `null` if it has none. */
function readAnnotation(block: Block, outer: Json, annotation: Json, path: Path, draft: AnswerDraft): Span | null {
  const url = textIn(annotation['url']);
  const file = textIn(annotation['file_id']);
  const title = textIn(annotation['title']) ?? textIn(annotation['filename']);
  const pointer: Pointer = { path, id: file, url, title };
  // A path to a file that the model wrote is no source.
  if (outer['type'] === 'file_path') return null;
  const index = indexIn(annotation['index']);
  const start = indexIn(annotation['start_index']) ?? index;
  const end = indexIn(annotation['end_index']) ?? index;
  if ((url === null && file === null) || start === null || end === null) {
    draft.findings.add({ reason: 'citation_unread', path });
    return null;
  }
  const isPlace = annotation['end_index'] === undefined;
  const fits = isPlace
    ? (_: string, span: { start: number; end: number }) => span.start === span.end
    : (slice: string) => isMarker(slice, url);
  const exact = draft.locate(block, { start, end, unit: 'codepoints', expected: null, fits, path });
  if (exact === null) return null;
  const slice = block.text.slice(exact.start - block.start, exact.end - block.start);
  if (isPlace || isMarker(slice, url)) draft.citeBefore(exact, [pointer], path);
  else draft.cite(exact, [pointer], path);
  return exact;
}

/** Longest marker: a title and an address. Longer slices are claims, and reading many of them would take long. */
const MAX_MARKER_CHARS = 8_192;
const OPENING = '([【（<';
const CLOSING = ')]】）>';

/** A whole marker: in brackets, with the address, a number or a dagger in it; or the address alone. */
function isMarker(text: string, url: string | null): boolean {
  if (text.length > MAX_MARKER_CHARS) return false;
  if (text === url) return true;
  // A slice that lacks a bracket at its end, or has one too many, was read in the wrong unit.
  if (countOf(text, '(') !== countOf(text, ')') || countOf(text, '[') !== countOf(text, ']')) return false;
  const open = OPENING.indexOf(text.charAt(0));
  if (text.length < 3 || open === -1 || !CLOSING.includes(text.charAt(text.length - 1))) return false;
  if (url !== null && text.includes(withoutQuery(url))) return true;
  return text.length <= 64 && (/^.[\d,;†: \-–source]+.$/i.test(text) || text.startsWith('【'));
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (text.charAt(i) === character) count++;
  return count;
}

/** The service adds `utm_source` to one of both addresses. */
function withoutQuery(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? url : url.slice(0, at);
}
