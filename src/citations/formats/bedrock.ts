/**
 * Bedrock Converse: `citationsContent` blocks between text blocks. The generated content of a block is a claim; each
 * citation has a title, a source, the cited text (`sourceContent`) and a location in a document, a search result or the
 * web. Also reads the deltas of ConverseStream, and answers of RetrieveAndGenerate: its `citations` repeat a part of the
 * text and hold the retrieved references with their text.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { indexIn, type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';

type Path = InputProblem['path'];

export const bedrock: AnswerFormat = {
  name: 'bedrock',
  expected: 'a response of Converse or RetrieveAndGenerate, its message or content, or the events of a stream',
  detects(value) {
    if (isJsonObject(value) && isGenerated(value)) return true;
    const message = isJsonObject(value) ? messageOf(value)[0] : null;
    if (message !== null)
      return objectsIn(message['content']).some(([, block]) => isJsonObject(block['citationsContent']));
    return objectsIn(value).some(
      ([, one]) => isJsonObject(one['citationsContent']) || isJsonObject(one['contentBlockDelta']) || isRetrieval(one),
    );
  },
  read(value, draft) {
    if (Array.isArray(value) && objectsIn(value).some(([, one]) => isRetrieval(one))) {
      const texts = objectsIn(value).map(([, one]) => textIn(objectIn(one['output'])?.['text']) ?? '');
      const citations = objectsIn(value).flatMap(([, one]) => objectIn(one['citation']) ?? []);
      return readRetrieval(texts.join(''), citations, ['citation'], draft);
    }
    if (Array.isArray(value)) {
      const isStream = value.some((one) => isJsonObject(one) && isJsonObject(one['contentBlockDelta']));
      return isStream ? readEvents(value, draft) : readBlocks(value, [], draft);
    }
    if (!isJsonObject(value)) return false;
    if (isGenerated(value)) {
      return readRetrieval(textIn(objectIn(value['output'])?.['text']) ?? '', value['citations'], ['citations'], draft);
    }
    const [message, path] = messageOf(value);
    return readBlocks(message['content'], [...path, 'content'], draft);
  },
};

function messageOf(value: Json): [Json, Path] {
  const output = objectIn(objectIn(value['output'])?.['message']);
  return output === null ? [value, []] : [output, ['output', 'message']];
}

/** Whether the value is a response of RetrieveAndGenerate. */
function isGenerated(value: Json): boolean {
  return textIn(objectIn(value['output'])?.['text']) !== null && Array.isArray(value['citations']);
}

/** Whether the event is one of RetrieveAndGenerateStream. */
function isRetrieval(event: Json): boolean {
  return isJsonObject(objectIn(event['citation'])?.['generatedResponsePart']);
}

function readRetrieval(text: string, citations: unknown, path: Path, draft: AnswerDraft): boolean {
  const block = draft.addText(text);
  for (const [n, citation] of objectsIn(citations)) {
    const at = [...path, n];
    const pointers = objectsIn(citation['retrievedReferences']).map(([r, one]) =>
      referencePointer(one, [...at, 'retrievedReferences', r]),
    );
    // A part without references is uncited.
    if (pointers.length === 0) continue;
    const part = objectIn(objectIn(citation['generatedResponsePart'])?.['textResponsePart']) ?? {};
    const place = objectIn(part['span']) ?? {};
    const span = draft.locate(block, {
      start: indexIn(place['start']) ?? 0,
      end: indexIn(place['end']) ?? 0,
      unit: 'codepoints',
      usualEnd: 'inclusive',
      expected: textIn(part['text']),
      path: at,
    });
    if (span !== null) draft.cite(span, pointers, at);
  }
  return text !== '';
}

/** The address of a retrieved reference is in a member of its location that depends on the kind of store. */
function referencePointer(reference: Json, path: Path): Pointer {
  const places = Object.values(objectIn(reference['location']) ?? {}).flatMap((place): Json[] =>
    isJsonObject(place) ? [place] : [],
  );
  const names = places.flatMap((place) => textIn(place['uri']) ?? textIn(place['url']) ?? textIn(place['id']) ?? []);
  return { path, id: names[0] ?? null, url: names[0] ?? null, text: textIn(objectIn(reference['content'])?.['text']) };
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
