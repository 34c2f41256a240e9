/**
 * Mistral: `reference` chunks between text chunks of a message, with the ids of the references that the tool results
 * listed. A reference cites the text before it in its sentence. `tool_reference` chunks (conversations) are web pages.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerDraft } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { type Json, listIn, member, objectIn, objectsIn, textIn } from './json.ts';

type Path = InputProblem['path'];

export const mistral: AnswerFormat = {
  name: 'mistral',
  expected: 'a chat completion, a conversation, a message or its content chunks, with reference chunks',
  detects: (value) =>
    contentsOf(value).some(([, content]) => objectsIn(content).some(([, chunk]) => isReference(chunk))),
  read(value, draft) {
    let found = false;
    for (const [path, content] of contentsOf(value)) {
      if (typeof content === 'string') {
        draft.addText(content);
        found = true;
      } else found = readChunks(content, path, draft) || found;
    }
    return found;
  },
};

function isReference({ type }: Json): boolean {
  return type === 'reference' || type === 'tool_reference';
}

/** The contents of the messages in a value, each with its place. */
function contentsOf(value: unknown): (readonly [Path, unknown])[] {
  if (!isJsonObject(value)) return [[[], value]];
  const message = objectIn(objectIn(listIn(value['choices'])[0])?.['message']);
  if (message !== null) return [[['choices', 0, 'message', 'content'], message['content']]];
  if (Array.isArray(value['outputs'])) {
    return objectsIn(value['outputs']).flatMap(([n, output]): (readonly [Path, unknown])[] =>
      output['content'] === undefined ? [] : [[['outputs', n, 'content'], output['content']]],
    );
  }
  return [[['content'], value['content']]];
}

function readChunks(chunks: unknown, path: Path, draft: AnswerDraft): boolean {
  let found = false;
  let end = 0;
  for (const [n, chunk] of objectsIn(chunks)) {
    const at = [...path, n];
    const text = textIn(chunk['text']);
    if (text !== null && (chunk['type'] === 'text' || chunk['type'] === undefined)) {
      const block = draft.addText(text);
      end = block.start + text.length;
      found = true;
    } else if (isReference(chunk)) draft.citeBefore({ start: end, end }, pointersOf(chunk, at), at);
  }
  return found;
}

function pointersOf(chunk: Json, path: Path): Pointer[] {
  if (chunk['type'] === 'tool_reference') {
    const url = textIn(chunk['url']);
    const title = textIn(chunk['title']);
    return [{ path, id: url === null ? title : null, url, title, text: textIn(chunk['description']) }];
  }
  return listIn(member(chunk, 'referenceIds', 'reference_ids')).flatMap((id): Pointer[] => {
    if (typeof id === 'string') return [{ path, id }];
    return typeof id === 'number' ? [{ path, id: String(id), position: Number.isInteger(id) ? id : null }] : [];
  });
}
