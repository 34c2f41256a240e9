/**
 * Anthropic Messages: text blocks with `citations`. A block is a claim. Locations point into the sources: characters,
 * pages and blocks of documents by `document_index`, blocks of search results by `search_result_index`, web pages by
 * address. Also reads the events of a stream (`citations_delta`), and `<cite index="0-1">` that leaked into a text.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft, Block } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';
import { citingMembers } from './left-over.ts';

type Path = InputProblem['path'];

export const anthropic: AnswerFormat = {
  name: 'anthropic',
  expected: 'a message of the Messages API, its content blocks, or the events of its stream',
  detects(value) {
    if (isJsonObject(value)) {
      if (objectsIn(value['content']).some(([, block]) => isCited(block))) return true;
      return value['type'] === 'message' && listIn(value['content']).some(isBlock);
    }
    const items = objectsIn(value);
    if (items.some(([, item]) => isEvent(item) || (item['type'] === 'text' && isCited(item)))) return true;
    return items.some(([, { type }]) => type === 'text') && items.every(([, item]) => isUncited(item));
  },
  read(value, draft) {
    const events = objectsIn(value);
    if (events.some(([, item]) => isEvent(item))) return readEvents(events, draft);
    const [blocks, path]: [unknown, Path] = isJsonObject(value) ? [value['content'], ['content']] : [value, []];
    let found = false;
    for (const [n, block] of objectsIn(blocks)) {
      if (block['type'] !== 'text') continue;
      found = true;
      for (const member of citingMembers(block, ['citations']))
        draft.findings.add({ reason: 'citation_unread', path: [...path, n, member] });
      readText(textIn(block['text']) ?? '', listIn(block['citations']), [...path, n], draft);
    }
    return found;
  },
};

/** Types of content blocks. */
const BLOCK = /^(?:text|(?:redacted_)?thinking|\w{0,40}tool_use|\w{0,40}tool_result)$/;

function isBlock(block: unknown): boolean {
  return isJsonObject(block) && typeof block['type'] === 'string' && BLOCK.test(block['type']);
}

/** A block of an answer that cites nothing. */
function isUncited(block: Json): boolean {
  return isBlock(block) && citingMembers(block).length === 0;
}

function isCited({ citations }: Json): boolean {
  return listIn(citations).some((one) => isJsonObject(one) && String(one['type']).endsWith('_location'));
}

function isEvent({ type }: Json): boolean {
  return type === 'content_block_start' || type === 'content_block_delta';
}

function readEvents(events: readonly (readonly [number, Json])[], draft: AnswerDraft): boolean {
  const blocks = new Map<number, { readonly texts: string[]; readonly citations: unknown[]; readonly at: number }>();
  for (const [n, event] of events) {
    const index = indexIn(event['index']);
    if (index === null) continue;
    const started = objectIn(event['content_block']);
    if (event['type'] === 'content_block_start' && started?.['type'] === 'text') {
      blocks.set(index, {
        texts: [textIn(started['text']) ?? ''],
        citations: [...listIn(started['citations'])],
        at: n,
      });
    }
    const delta = objectIn(event['delta']);
    const block = blocks.get(index);
    if (event['type'] !== 'content_block_delta' || delta === null || block === undefined) continue;
    if (delta['type'] === 'text_delta') block.texts.push(textIn(delta['text']) ?? '');
    if (delta['type'] === 'citations_delta') block.citations.push(delta['citation']);
  }
  for (const { texts, citations, at } of blocks.values()) readText(texts.join(''), citations, [at], draft);
  return blocks.size > 0;
}

function readText(text: string, citations: readonly unknown[], path: Path, draft: AnswerDraft): void {
  const block = draft.addText(text);
  const { start } = block;
  if (citations.length === 0) {
    readLeakedTags(block, path, draft);
    return;
  }
  const pointers = citations.flatMap((citation, n) => {
    const place = [...path, 'citations', n];
    const pointer = isJsonObject(citation) ? pointerOf(citation, place) : null;
    if (pointer === null) draft.findings.add({ reason: 'citation_unread', path: place });
    return pointer ?? [];
  });
  draft.cite({ start, end: start + text.length }, pointers, path);
}

/** The beginning of a tag, with a quotation mark, and its end. */
const TAG = /<(?:antml:)?cite index=(["'])/g;
const TAG_END = /<\/(?:antml:)?cite>/g;
const MAX_TAG_CHARS = 200;
/** Indexes of documents, each with those of its sentences: 0-3,1-2:4. */
const INDEXES = /^\d{1,4}(?:-[\d:-]{1,20})?(?:,\s?\d{1,4}(?:-[\d:-]{1,20})?)*$/;

/** Reads the tags `<cite index="0-3,1-2">` that the service should have turned into citations. Others are reported. */
function readLeakedTags({ text, start }: Block, path: Path, draft: AnswerDraft): void {
  const ends = [...text.matchAll(TAG_END)];
  let n = 0;
  let next = 0;
  for (const { 0: opening, 1: quote, index: at } of text.matchAll(TAG)) {
    if (at < next) continue;
    while ((ends[n]?.index ?? text.length) < at) n++;
    const end = ends[n];
    if (end === undefined) return;
    const head = text.slice(at + opening.length, at + opening.length + MAX_TAG_CHARS);
    const close = head.indexOf(`${quote}>`);
    const indexes = close === -1 ? null : INDEXES.exec(head.slice(0, close));
    const from = at + opening.length + close + 2;
    if (indexes === null || end.index < from) continue;
    next = end.index + end[0].length;
    const pointers = indexes[0].split(',').map((one): Pointer => ({ path, position: Number.parseInt(one, 10) }));
    draft.hide({ start: start + at, end: start + from });
    draft.hide({ start: start + end.index, end: start + next });
    draft.cite({ start: start + from, end: start + end.index }, pointers, path);
  }
}

function pointerOf(citation: Json, path: Path): Pointer | null {
  const quoted = textIn(citation['cited_text']);
  const quote = quoted === null ? null : { text: quoted };
  const document = {
    path,
    position: indexIn(citation['document_index']),
    title: textIn(citation['document_title']),
    quote,
  };
  switch (citation['type']) {
    case 'char_location': {
      const place = { start: indexIn(citation['start_char_index']), end: indexIn(citation['end_char_index']) };
      return { ...document, quote: quote === null ? null : { ...quote, ...place } };
    }
    case 'page_location':
    case 'content_block_location':
      return document;
    case 'search_result_location': {
      const source = textIn(citation['source']);
      const position = indexIn(citation['search_result_index']);
      return { path, id: source, url: source, position, title: textIn(citation['title']), quote };
    }
    case 'web_search_result_location':
      return { path, url: textIn(citation['url']), title: textIn(citation['title']), quote };
    default:
      return null;
  }
}
