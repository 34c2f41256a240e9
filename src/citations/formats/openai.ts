/**
 * OpenAI: `annotations` of an `output_text` (Responses API) or of a message (Chat Completions). The offsets of a
 * `url_citation` delimit its marker in the answer; the claim is the text before it in its sentence. If they delimit
 * other text, that text is the claim. A `file_citation` is a place after its claim. File search results carry text.
 */
import type { InputProblem } from '../../input-problem.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, isObject, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';

type Path = InputProblem['path'];

export const openai: AnswerFormat = {
  name: 'openai',
  expected: 'a response of the Responses API, its output items, or a chat completion with annotations',
  detects(value) {
    if (isObject(value)) {
      if (value['object'] === 'response' || listIn(value['output']).some(isOutput)) return true;
      return isOutput(value) || value['type'] === 'response.completed' || choices(value).some(isAnnotated);
    }
    return objectsIn(value).some(([, item]) => isOutput(item) || item['type'] === 'response.completed');
  },
  read(value, draft) {
    if (Array.isArray(value)) {
      const done = value.findIndex((item) => isObject(item) && item['type'] === 'response.completed');
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
  return listIn(message['annotations']).length > 0;
}

function isOutput(item: unknown): boolean {
  if (!isObject(item)) return false;
  if (item['type'] === 'output_text' || item['type'] === 'file_search_call') return true;
  return item['type'] === 'message' && listIn(item['content']).some(isOutput);
}

function readObject(value: unknown, path: Path, draft: AnswerDraft): boolean {
  if (!isObject(value)) return false;
  const response = objectIn(value['response']);
  if (response !== null) return readObject(response, [...path, 'response'], draft);
  const [message] = choices(value);
  if (message !== undefined) {
    const text = textIn(message['content']);
    if (text === null) return false;
    readText(text, message['annotations'], [...path, 'choices', 0, 'message'], draft);
    return true;
  }
  if (value['output'] === undefined) return readItems([value], path, draft, true);
  return readItems(value['output'], [...path, 'output'], draft);
}

function readItems(items: unknown, path: Path, draft: AnswerDraft, isOnly = false): boolean {
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
    if (item['type'] === 'output_text') {
      found = true;
      readText(textIn(item['text']) ?? '', item['annotations'], at, draft);
    } else if (item['type'] === 'message') {
      found = readItems(item['content'], [...at, 'content'], draft) || found;
    }
  }
  return found;
}

function readText(text: string, annotations: unknown, path: Path, draft: AnswerDraft): void {
  const block = draft.addText(text);
  for (const [n, outer] of objectsIn(annotations)) {
    const at = [...path, 'annotations', n];
    readAnnotation(block, outer, objectIn(outer['url_citation']) ?? outer, at, draft);
  }
}

function readAnnotation(block: Block, outer: Json, annotation: Json, path: Path, draft: AnswerDraft): void {
  const url = textIn(annotation['url']);
  const file = textIn(annotation['file_id']);
  const title = textIn(annotation['title']) ?? textIn(annotation['filename']);
  const pointer: Pointer = { path, id: file, url, title };
  // A path to a file that the model wrote is no source.
  if (outer['type'] === 'file_path') return;
  const index = indexIn(annotation['index']);
  const start = indexIn(annotation['start_index']) ?? index;
  const end = indexIn(annotation['end_index']) ?? index;
  if ((url === null && file === null) || start === null || end === null) {
    draft.findings.add({ reason: 'citation_unread', path });
    return;
  }
  const isPlace = annotation['end_index'] === undefined;
  const fits = isPlace
    ? (_: string, span: { start: number; end: number }) => span.start === span.end
    : (slice: string) => isMarker(slice, url);
  const exact = draft.locate(block, { start, end, unit: 'codepoints', expected: null, fits, path });
  if (exact === null) return;
  const slice = block.text.slice(exact.start - block.start, exact.end - block.start);
  if (isPlace || isMarker(slice, url)) draft.citeBefore(exact, [pointer], path);
  else draft.cite(exact, [pointer], path);
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
