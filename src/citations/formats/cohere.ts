/**
 * Cohere chat. In v2 each of the `citations` of the message names a stretch of one content block, repeats its text, and
 * holds its sources: documents or tool outputs, with their data. In v1 it has ids (`document_ids`) of `documents` beside
 * the `text`. Also reads the events of a stream.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, type Json, listIn, member, objectIn, objectsIn, textIn } from './json.ts';

type Path = InputProblem['path'];

export const cohere: AnswerFormat = {
  name: 'cohere',
  expected: 'a response of the chat API (v2 or v1), its message, or the events of its stream',
  detects(value) {
    if (isJsonObject(value)) return isMessage(objectIn(value['message']) ?? value);
    return objectsIn(value).some(([, { type, ...event }]) => {
      const name = member(event, 'eventType', 'event_type');
      return type === 'content-delta' || type === 'citation-start' || name === 'text-generation';
    });
  },
  read(value, draft) {
    if (Array.isArray(value)) return readEvents(value, draft);
    if (!isJsonObject(value)) return false;
    if (textIn(value['text']) !== null) return readFirst(value, draft);
    const inner = objectIn(value['message']);
    return readMessage(inner ?? value, inner === null ? [] : ['message'], draft);
  },
};

function isMessage(message: Json): boolean {
  return objectsIn(message['citations']).some(
    ([, one]) => (Array.isArray(one['sources']) || idsOf(one) !== null) && one['start'] !== null,
  );
}

function idsOf(citation: Json): readonly unknown[] | null {
  const ids = member(citation, 'documentIds', 'document_ids');
  return Array.isArray(ids) ? ids : null;
}

/** A response of v1: `text`, `citations` with the ids of `documents`, and the documents that the answer uses. */
function readFirst(response: Json, draft: AnswerDraft): boolean {
  const blocks = new Map([[0, draft.addText(textIn(response['text']) ?? '')]]);
  readCitations(response['citations'], blocks, ['citations'], draft, documentsOf(response['documents']));
  return true;
}

/** The documents of a response of v1 by id. */
function documentsOf(documents: unknown): ReadonlyMap<string, Json> {
  return new Map(
    objectsIn(documents).flatMap(([, one]) => {
      const id = textIn(one['id']);
      return id === null ? [] : [[id, one] as const];
    }),
  );
}

function readMessage(message: Json, path: Path, draft: AnswerDraft): boolean {
  const blocks = new Map<number, Block>();
  const { content } = message;
  if (typeof content === 'string') blocks.set(0, draft.addText(content));
  for (const [n, block] of objectsIn(content)) {
    const text = textIn(block['text']);
    if (text !== null) blocks.set(n, draft.addText(text));
  }
  readCitations(message['citations'], blocks, [...path, 'citations'], draft);
  return blocks.size > 0;
}

function readEvents(events: readonly unknown[], draft: AnswerDraft): boolean {
  const ended = objectsIn(events).find(([, event]) => textIn(objectIn(event['response'])?.['text']) !== null)?.[1];
  if (ended !== undefined) return readFirst(objectIn(ended['response']) ?? {}, draft);
  const texts = new Map<number, string[]>();
  const citations: Json[] = [];
  for (const [, event] of objectsIn(events)) {
    const message = objectIn(objectIn(event['delta'])?.['message']);
    const content = objectIn(message?.['content']);
    const text = textIn(content?.['text']);
    if (text !== null && (event['type'] === 'content-start' || event['type'] === 'content-delta')) {
      const index = indexIn(event['index']) ?? 0;
      const pieces = texts.get(index) ?? [];
      pieces.push(text);
      texts.set(index, pieces);
    }
    const citation = message?.['citations'];
    if (event['type'] === 'citation-start') {
      citations.push(...objectsIn(Array.isArray(citation) ? citation : [citation]).map(([, one]) => one));
    }
  }
  const blocks = new Map([...texts].map(([index, pieces]) => [index, draft.addText(pieces.join(''))]));
  readCitations(citations, blocks, ['citations'], draft);
  return blocks.size > 0;
}

function readCitations(
  citations: unknown,
  blocks: ReadonlyMap<number, Block>,
  path: Path,
  draft: AnswerDraft,
  documents: ReadonlyMap<string, Json> = new Map(),
): void {
  const [first] = blocks.keys();
  for (const [n, citation] of objectsIn(citations)) {
    const at = [...path, n];
    // Citations of the plan and of the thinking are none of the answer.
    if (citation['type'] === 'PLAN' || citation['type'] === 'THINKING_CONTENT') continue;
    const block = blocks.get(indexIn(member(citation, 'contentIndex', 'content_index')) ?? first ?? 0);
    if (block === undefined) {
      draft.findings.add({ reason: 'claim_not_found', path: at });
      continue;
    }
    const span = draft.locate(block, {
      start: indexIn(citation['start']) ?? 0,
      end: indexIn(citation['end']) ?? 0,
      unit: 'codepoints',
      expected: textIn(citation['text']),
      path: at,
    });
    const pointers = [
      ...objectsIn(citation['sources']).map(([s, source]) => pointerOf(source, [...at, 'sources', s])),
      ...listIn(idsOf(citation)).flatMap((id) => (typeof id === 'string' ? [documentPointer(id, documents, at)] : [])),
    ];
    if (span !== null) draft.cite(span, pointers, at);
  }
}

function documentPointer(id: string, documents: ReadonlyMap<string, Json>, path: Path): Pointer {
  const document = documents.get(id);
  return document === undefined ? { path, id, isMissing: true } : pointerOf({ id, document }, path);
}

function pointerOf(source: Json, path: Path): Pointer {
  const data = objectIn(source['document']) ?? objectIn(member(source, 'toolOutput', 'tool_output')) ?? {};
  const title = textIn(data['title']);
  const url = textIn(data['url']);
  return { path, id: textIn(source['id']) ?? textIn(data['id']), url, title, text: documentText(data) };
}

/** The text of a document: its text member, or all other members as the model saw them. */
function documentText(data: Json): string | null {
  const text = textIn(member(data, 'text', 'snippet', 'content', 'data'));
  if (text !== null) return text;
  const others = Object.entries(data).filter(([name]) => name !== 'id' && name !== 'title' && name !== 'url');
  const lines = others.flatMap(([name, value]) => {
    if (typeof value === 'string' || typeof value === 'number') return [`${name}: ${value}`];
    return listIn(value).some((item) => typeof item === 'string') ? [`${name}: ${listIn(value).join(', ')}`] : [];
  });
  return lines.length === 0 ? null : lines.join('\n');
}
