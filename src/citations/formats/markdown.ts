/**
 * Markdown text, alone or as a chat completion: links after or in a claim, and notes `[1]` that a references section at
 * the end resolves (the grammar `link`). The section is no part of the answer. An object with citations in other members
 * is no Markdown: it would lose them.
 */
import { isJsonObject } from '../../json.ts';
import { parseResponse } from '../parse.ts';
import { sourcesFromList } from '../sources.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerFormat } from './format.ts';
import { type Json, listIn, objectIn, textIn } from './json.ts';
import { citingMembers, readBareMarkers, withoutThinking } from './left-over.ts';

export const markdown: AnswerFormat = {
  name: 'markdown',
  expected: 'a text, a chat completion, or an object whose content or text is one',
  detects: (value) => answerText(value) !== null && unreadMembers(value).length === 0,
  read(value, draft) {
    const text = answerText(value);
    if (text === null) return false;
    const block = draft.addText(text);
    const { start } = block;
    const path = typeof value === 'string' ? [] : ['content'];
    for (const member of unreadMembers(value)) draft.findings.add({ reason: 'citation_unread', path: [member] });
    const { given } = draft.sources;
    const { claims, references } = parseResponse(text, given ?? sourcesFromList([]), {
      grammar: 'link',
      answer: 'whole',
    });
    for (const { span, element, ids, text: claim } of claims) {
      const pointers = ids.map(({ id, span: place }): Pointer => {
        const written = given === null ? id : text.slice(place.start, place.end);
        const url = [written, id].find((name) => /^https?:/i.test(name)) ?? null;
        return { path, id, url, position: null, isMissing: url === null };
      });
      draft.hide({ start: start + Math.max(span.end, element.start), end: start + element.end });
      draft.cite({ start: start + span.start, end: start + span.end }, pointers, path, claim);
    }
    readBareMarkers(block, [], path, draft);
    for (const { start: from, end } of references) draft.hide({ start: start + from, end: start + end });
    return true;
  },
};

function answerText(value: unknown): string | null {
  if (typeof value === 'string') return withoutThinking(value);
  if (!isJsonObject(value)) return null;
  const message = messageOf(value);
  const text = textIn(message['content']) ?? textIn(message['text']);
  return text === null ? null : withoutThinking(text);
}

/** The message of a chat completion, or else the object itself. */
function messageOf(value: Json): Json {
  return objectIn(objectIn(listIn(value['choices'])[0])?.['message']) ?? value;
}

/** Members in which libraries keep what a vendor sent. */
const NESTED = ['provider_specific_fields', 'additional_kwargs', 'response_metadata'];

/** Members with citations that this format does not read. */
function unreadMembers(value: unknown): string[] {
  if (!isJsonObject(value)) return [];
  const message = messageOf(value);
  const nested = NESTED.map((name) => objectIn(message[name]) ?? {});
  // The documents of an earlier Azure OpenAI On Your Data are JSON in the text of a message.
  const isEarlierAzure = listIn(objectIn(message['context'])?.['messages']).length > 0;
  const members = [value, message, ...nested].flatMap((one) => citingMembers(one));
  return [...new Set(isEarlierAzure ? [...members, 'context'] : members)];
}
