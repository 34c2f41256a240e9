/**
 * Bedrock Converse: `citationsContent` blocks between text blocks. The generated content of a block is a claim; each
 * citation has a title, a source, the cited text (`sourceContent`) and a location in a document, a search result or the
 * web. Also reads the deltas of ConverseStream.
 */
import type { InputProblem } from '../../input-problem.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, isObject, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';

type Path = InputProblem['path'];

export const bedrock: AnswerFormat = {
  name: 'bedrock',
  expected: 'a response of Converse, its message or content, or the events of ConverseStream',
  detects(value) {
    const message = isObject(value) ? messageOf(value)[0] : null;
    if (message !== null) return objectsIn(message['content']).some(([, block]) => isObject(block['citationsContent']));
    return objectsIn(value).some(([, one]) => isObject(one['citationsContent']) || isObject(one['contentBlockDelta']));
  },
  read(value, draft) {
    if (Array.isArray(value)) {
      const isStream = value.some((one) => isObject(one) && isObject(one['contentBlockDelta']));
      return isStream ? readEvents(value, draft) : readBlocks(value, [], draft);
    }
    if (!isObject(value)) return false;
    const [message, path] = messageOf(value);
    return readBlocks(message['content'], [...path, 'content'], draft);
  },
};

function messageOf(value: Json): [Json, Path] {
  const output = objectIn(objectIn(value['output'])?.['message']);
  return output === null ? [value, []] : [output, ['output', 'message']];
}

function readBlocks(blocks: unknown, path: Path, draft: AnswerDraft): boolean {
  let found = false;
  for (const [n, block] of objectsIn(blocks)) {
    const text = textIn(block['text']);
    const cited = objectIn(block['citationsContent']);
    if (text === null && cited === null) continue;
    found = true;
    if (cited === null) {
      draft.addText(text ?? '');
      continue;
    }
    const claim = objectsIn(cited['content']).map(([, piece]) => textIn(piece['text']) ?? '');
    readClaim(claim.join(''), listIn(cited['citations']), [...path, n, 'citationsContent'], draft);
  }
  return found;
}

function readEvents(events: readonly unknown[], draft: AnswerDraft): boolean {
  const blocks = new Map<number, { readonly texts: string[]; readonly citations: unknown[]; readonly at: number }>();
  for (const [n, event] of objectsIn(events)) {
    const piece = objectIn(event['contentBlockDelta']);
    const delta = objectIn(piece?.['delta']);
    if (piece === null || delta === null) continue;
    const index = indexIn(piece['contentBlockIndex']) ?? 0;
    const text = textIn(delta['text']);
    const citation = objectIn(delta['citation']);
    if (text === null && citation === null) continue;
    const block = blocks.get(index) ?? { texts: [], citations: [], at: n };
    blocks.set(index, block);
    if (text !== null) block.texts.push(text);
    if (citation !== null) block.citations.push(citation);
  }
  for (const { texts, citations, at } of blocks.values()) readClaim(texts.join(''), citations, [at], draft);
  return blocks.size > 0;
}

function readClaim(text: string, citations: readonly unknown[], path: Path, draft: AnswerDraft): void {
  const { start } = draft.addText(text);
  const pointers = objectsIn(citations).map(([n, citation]) => pointerOf(citation, [...path, 'citations', n]));
  draft.cite({ start, end: start + text.length }, pointers, path);
}

function pointerOf(citation: Json, path: Path): Pointer {
  const location = objectIn(citation['location']) ?? {};
  const title = textIn(citation['title']);
  const source = textIn(citation['source']);
  const pieces = objectsIn(citation['sourceContent']).flatMap(([, piece]) => textIn(piece['text']) ?? []);
  const quote = pieces.length === 0 ? null : { text: pieces.join('') };
  const char = objectIn(location['documentChar']);
  const document = char ?? objectIn(location['documentPage']) ?? objectIn(location['documentChunk']);
  if (document !== null) {
    const place = char === null ? {} : { start: indexIn(char['start']), end: indexIn(char['end']) };
    const position = indexIn(document['documentIndex']);
    return { path, id: source, position, title, quote: quote === null ? null : { ...quote, ...place } };
  }
  const found = objectIn(location['searchResultLocation']);
  if (found !== null) {
    return { path, id: source, url: source, position: indexIn(found['searchResultIndex']), title, quote };
  }
  const url = textIn(objectIn(location['web'])?.['url']);
  return { path, id: url === null ? (source ?? title) : null, url, title, quote };
}
