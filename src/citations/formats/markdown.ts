/**
 * Markdown text: links after or in a claim, and notes `[1]` that a references section at the end resolves (the grammar
 * `link`). The section is no part of the answer.
 */
import { parseResponse } from '../parse.ts';
import { sourcesFromList } from '../sources.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerFormat } from './format.ts';
import { isObject, textIn } from './json.ts';

export const markdown: AnswerFormat = {
  name: 'markdown',
  expected: 'a text, or an object whose content or text is one',
  detects: (value) => textOf(value) !== null,
  read(value, draft) {
    const text = textOf(value);
    if (text === null) return false;
    const { start } = draft.addText(text);
    const path = typeof value === 'string' ? [] : ['content'];
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
    for (const { start: from, end } of references) draft.hide({ start: start + from, end: start + end });
    return true;
  },
};

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isObject(value) ? (textIn(value['content']) ?? textIn(value['text'])) : null;
}
