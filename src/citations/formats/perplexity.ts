/** Perplexity: a chat completion whose text has markers `[1]`, with `search_results` or `citations` that they number. */
import { isJsonObject } from '../../json.ts';
import type { Pointer } from './answer-sources.ts';
import type { AnswerFormat } from './format.ts';
import { type Json, listIn, objectIn, objectsIn, textIn } from './json.ts';
import { withoutThinking } from './left-over.ts';
import { numberedSources, readNumberedMarkers } from './numbered-markers.ts';

export const perplexity: AnswerFormat = {
  name: 'perplexity',
  expected: 'a chat completion with search_results or citations',
  detects: (value) => isJsonObject(value) && answerText(value) !== null && pointersOf(value).length > 0,
  read(value, draft) {
    const text = isJsonObject(value) ? answerText(value) : null;
    if (!isJsonObject(value) || text === null) return false;
    const pointers = pointersOf(value);
    const path = ['choices', 0, 'message', 'content'];
    for (const pointer of pointers) draft.sources.offer(pointer);
    readNumberedMarkers(draft.addText(text), numberedSources(pointers), path, draft);
    return true;
  },
};

function answerText(value: Json): string | null {
  const content = objectIn(objectIn(listIn(value['choices'])[0])?.['message'])?.['content'];
  if (typeof content === 'string') return withoutThinking(content);
  const parts = objectsIn(content).flatMap(([, part]) => textIn(part['text']) ?? []);
  return parts.length === 0 ? null : withoutThinking(parts.join(''));
}

function pointersOf(value: Json): Pointer[] {
  const results = objectsIn(value['search_results']).map(([n, result]): Pointer => {
    const path = ['search_results', n];
    const text = textIn(result['snippet']);
    return { path, url: textIn(result['url']), title: textIn(result['title']), position: n, text };
  });
  if (results.length > 0) return results;
  return listIn(value['citations']).flatMap((url, n): Pointer[] =>
    typeof url === 'string' ? [{ path: ['citations', n], url, position: n }] : [],
  );
}
