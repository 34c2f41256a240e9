/**
 * The pages that a trajectory saw, read from its tool outputs as the public server reads them. Source: THUDM/CaRR
 * c97e7e89, `deepsearch_rm_with_rubrics/launch_server.py`. Every reader takes linear time; the reference's search
 * pattern backtracks.
 */
import { isJsonObject } from '../../../json.ts';
import { skipPythonSpace, stripPythonSpace } from '../../../text/python-text.ts';
import { isPythonObject, readPythonJson } from '../../../tools/python-json.ts';
import { type Fields, fieldOf } from '../../../trajectory/draft.ts';
import { asciiDigits } from './labels.ts';

/** One call of a tool. `arguments`: JSON text. */
type CarrToolCall = { readonly tool_call_id?: string; readonly name?: string; readonly arguments?: string };

/** One entry of a tool message. */
type CarrToolOutput = { readonly tool_call_id?: string; readonly output?: string };

/** A message of CaRR's history. `content` is a text, or the outputs of a tool message. */
export type CarrMessage = {
  readonly role: string;
  readonly content?: string | readonly CarrToolOutput[] | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly CarrToolCall[];
};

/** Reads messages of any shape as CaRR's; a part of another shape is left out, as if it were absent. */
export function carrMessages(messages: readonly unknown[]): CarrMessage[] {
  return messages.flatMap((message): CarrMessage[] => {
    if (!isJsonObject(message)) return [];
    const content = fieldOf(message, 'content');
    const calls = fieldOf(message, 'tool_calls');
    return [
      {
        role: text(message, 'role') ?? '',
        ...(typeof content === 'string' || content === null ? { content } : {}),
        ...(Array.isArray(content)
          ? { content: content.map((one) => textFields(one, ['tool_call_id', 'output'] as const)) }
          : {}),
        ...(Array.isArray(calls)
          ? { tool_calls: calls.map((one) => textFields(one, ['tool_call_id', 'name', 'arguments'] as const)) }
          : {}),
      },
    ];
  });
}

function text(record: Fields, name: string): string | undefined {
  const value = fieldOf(record, name);
  return typeof value === 'string' ? value : undefined;
}

/** The fields of an object that are texts. */
function textFields<Name extends string>(value: unknown, names: readonly Name[]): { readonly [N in Name]?: string } {
  const fields: { [N in Name]?: string } = {};
  if (!isJsonObject(value)) return fields;
  for (const name of names) {
    const found = text(value, name);
    if (found !== undefined) fields[name] = found;
  }
  return fields;
}

/** The reference raises this Python error, and its route answers 500. */
export class CarrError extends Error {
  override readonly name = 'CarrError';
  readonly python: 'KeyError' | 'JSONDecodeError' | 'TypeError';

  constructor(python: CarrError['python'], message: string) {
    super(message);
    this.python = python;
  }
}

export type SearchResult = {
  readonly idx: number;
  readonly query: string;
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
  readonly published_time: string;
};

const TITLE = /\[(\p{Nd}+)\] Title:/gu;

/**
 * The results of a search output: `extract_search_results`. Defects kept:
 * - a result whose description is empty at the end of the output is lost, because no blank follows its key;
 * - `[n] Title:` inside a description ends it.
 */
export function searchResults(text: string, query: string): SearchResult[] {
  const titles = [...text.matchAll(TITLE)].map(({ index, 0: key, 1: number = '' }) => ({
    at: index,
    end: index + key.length,
    number,
  }));
  const keys = new KeyPlaces(text);
  const results: SearchResult[] = [];
  let from = 0;
  let next = 0;
  for (const title of titles) {
    if (title.at < from || text.charAt(title.end) !== ' ') continue;
    const { number } = title;
    const url = keys.after(number, 'URL Source', title.end + 1);
    const description = url === null ? null : keys.after(number, 'Description', url.end);
    if (url === null || description === null) continue;
    while (next < titles.length && (titles[next]?.at ?? 0) < description.end) next++;
    const end = titles[next]?.at ?? text.length;
    const date = keys.after(number, 'Date', description.end);
    const dated = date !== null && date.at < end && date.end <= end ? date : null;
    results.push({
      idx: Number(asciiDigits(number)),
      query,
      title: stripPythonSpace(text.slice(title.end, url.at)),
      url: stripPythonSpace(text.slice(url.end, description.at)),
      snippet: stripPythonSpace(text.slice(description.end, dated?.at ?? end)),
      published_time: dated === null ? '' : stripPythonSpace(text.slice(dated.end, end)),
    });
    from = end;
  }
  return results;
}

const KEYS = /\n\[(\p{Nd}+)\] (URL Source|Description|Date): /gu;

type KeyPlace = { readonly at: number; readonly end: number };

/** The places of all keys of a search output. Queries for one key go forwards only, so all of them are linear. */
class KeyPlaces {
  readonly #places = new Map<string, { readonly list: KeyPlace[]; next: number }>();

  constructor(text: string) {
    for (const { index, 0: key, 1: number = '', 2: name = '' } of text.matchAll(KEYS)) {
      const id = `${number} ${name}`;
      const places = this.#places.get(id) ?? { list: [], next: 0 };
      places.list.push({ at: index, end: index + key.length });
      this.#places.set(id, places);
    }
  }

  /** The first place from `from` on, which must not decrease for one key; `null` = there is none. */
  after(number: string, name: string, from: number): KeyPlace | null {
    const places = this.#places.get(`${number} ${name}`);
    if (places === undefined) return null;
    while ((places.list[places.next]?.at ?? Number.POSITIVE_INFINITY) < from) places.next++;
    return places.list[places.next] ?? null;
  }
}

export type OpenedPage = {
  readonly title: string;
  readonly url: string;
  readonly published_time: string;
  readonly content: string;
};

/**
 * The page of an open output; every field is empty if the output is a message of failure: `extract_open_results`.
 * Defects kept: keys count inside longer words, and an empty value takes what follows on the next lines.
 */
export function openedPage(text: string): OpenedPage {
  return {
    title: lineAfter(text, 'Title:'),
    url: wordAfter(text, 'URL Source:'),
    published_time: lineAfter(text, 'Published Time:'),
    content: textAfter(text, 'Markdown Content:'),
  };
}

function textAfter(text: string, key: string): string {
  const at = text.indexOf(key);
  return at === -1 ? '' : stripPythonSpace(text.slice(at + key.length));
}

function lineAfter(text: string, key: string): string {
  const rest = textAfter(text, key);
  const end = rest.indexOf('\n');
  return stripPythonSpace(end === -1 ? rest : rest.slice(0, end));
}

function wordAfter(text: string, key: string): string {
  const rest = textAfter(text, key);
  let end = 0;
  while (end < rest.length && skipPythonSpace(rest, end) === end) end++;
  return rest.slice(0, end);
}

/** One page with everything that the trajectory saw of it. */
export type SeenPage = {
  readonly title: string;
  readonly published_time: string;
  readonly snippets: string[];
  readonly contents: string[];
  readonly finds: { readonly pattern: string; readonly output: string }[];
};

/**
 * The pages of a history by their exact addresses. Defects kept:
 * - a `browser.find` belongs to the page that was opened last, and to none after a failed open;
 * - a tool message whose content is a text adds nothing.
 * @throws CarrError for an output of an unknown call, a call without id, and arguments that are not JSON.
 */
export function seenPages(history: readonly CarrMessage[]): ReadonlyMap<string, SeenPage> {
  const calls = new Map<string, { readonly name: string; argument(name: string): string }>();
  const pages = new Map<string, SeenPage>();
  const pageAt = (url: string, title: string, published_time: string): SeenPage => {
    const known = pages.get(url);
    if (known !== undefined) return known;
    const page: SeenPage = { title, published_time, snippets: [], contents: [], finds: [] };
    pages.set(url, page);
    return page;
  };
  let current = '';
  for (const { role, content, tool_calls } of history) {
    if (role === 'assistant') {
      for (const call of tool_calls ?? []) {
        if (call.tool_call_id === undefined) throw new CarrError('KeyError', 'a tool call has no tool_call_id');
        calls.set(call.tool_call_id, readCall(call));
      }
    }
    if (role !== 'tool' || !Array.isArray(content)) continue;
    const outputs: readonly CarrToolOutput[] = content;
    for (const { tool_call_id, output = '' } of outputs) {
      if (tool_call_id === undefined || stripPythonSpace(output) === '') continue;
      const call = calls.get(tool_call_id);
      if (call === undefined) throw new CarrError('KeyError', 'a tool output answers an unknown call');
      switch (call.name) {
        case 'browser.search':
          for (const { url, title, snippet, published_time } of searchResults(output, call.argument('query'))) {
            pageAt(url, title, published_time).snippets.push(snippet);
          }
          break;
        case 'browser.open': {
          const opened = openedPage(output);
          current = opened.url;
          if (current !== '') pageAt(current, opened.title, opened.published_time).contents.push(opened.content);
          break;
        }
        case 'browser.find':
          if (current !== '') pages.get(current)?.finds.push({ pattern: call.argument('pattern'), output });
          break;
        default:
          break;
      }
    }
  }
  return pages;
}

function readCall({ name = '', arguments: written = '' }: CarrToolCall): {
  readonly name: string;
  argument(name: string): string;
} {
  const read = readPythonJson(written);
  if (read === undefined) throw new CarrError('JSONDecodeError', 'the arguments of a tool call are not JSON');
  const members = typeof read === 'object' && read !== null && 'get' in read && isPythonObject(read) ? read : new Map();
  return {
    name,
    argument: (key) => {
      const value: unknown = members.get(key);
      return typeof value === 'string' ? value : '';
    },
  };
}
