/**
 * The pages that a trajectory with CaRR's browser tools saw, as sources: one for each page, with everything that
 * searches, openings and finds showed of it. Unlike the public server's reader, this one reads line by line, compares
 * addresses as pages, keeps equal texts under each page, and files a find under the page that the policy meant to open.
 * Linear in the outputs.
 */
import type { SourceInput } from '../../citations/sources.ts';
import { stripPythonSpace } from '../../text/python-text.ts';
import { pageKey } from '../../text/url.ts';
import { turnsToAnswer } from '../../trajectory/final-turns.ts';
import type { Trajectory, TrajectoryCall } from '../../trajectory/trajectory.ts';

type Page = { readonly url: string; readonly title: string; readonly texts: Set<string> };

/** The tools whose outputs are pages. */
const TOOLS = { search: 'browser.search', open: 'browser.open', find: 'browser.find' } as const;

export function pagesOf(trajectory: Trajectory): SourceInput[] {
  const turns = turnsToAnswer(trajectory);
  const pages = new Map<string, Page>();
  const add = (url: string, title: string, date: string, text: string): void => {
    const key = pageKey(url);
    let page = pages.get(key);
    if (page === undefined) {
      page = { url, title, texts: new Set(date === '' ? [] : [`Published: ${date}`]) };
      pages.set(key, page);
    }
    if (text !== '') page.texts.add(text);
  };
  /** The address of each result of the last search, by its number. */
  let found = new Map<string, string>();
  let current: string | null = null;
  for (const turn of turns) {
    for (const { output, name, call } of turn.results) {
      const { text } = output;
      const asked = call === null ? null : (turns[call.turn]?.calls[call.call] ?? null);
      if (text.trim() === '') continue;
      switch (name) {
        case TOOLS.search:
          found = new Map();
          for (const { number, title, url, description, date } of searchedPages(text)) {
            found.set(number, url);
            add(url, title, date, description);
          }
          break;
        case TOOLS.open: {
          const opened = openedPage(text);
          const meant = addressMeant(asked, found);
          current = opened.url === '' ? meant : opened.url;
          if (opened.url !== '') {
            add(opened.url, opened.title, opened.date, opened.content);
            // A redirect: what was asked for and what came are one page.
            const page = pages.get(pageKey(opened.url));
            if (meant !== null && page !== undefined && !pages.has(pageKey(meant))) pages.set(pageKey(meant), page);
          }
          break;
        }
        case TOOLS.find:
          if (current !== null) add(current, '', '', text.trim());
          break;
        default:
          break;
      }
    }
  }
  return [...pages].map(([key, { url, title, texts }]) => ({
    // A page under a second address is a source of its own, with the same text.
    id: pageKey(url) === key ? url : key,
    url: pageKey(url) === key ? url : `https://${key}`,
    text: [...texts].join('\n\n'),
    ...(title === '' ? {} : { title }),
  }));
}

/** The address that a call asks to open: an address, or the number of a search result. */
function addressMeant(call: TrajectoryCall | null, found: ReadonlyMap<string, string>): string | null {
  for (const name of ['url', 'id']) {
    const value = call?.arguments?.[name];
    if (typeof value === 'string' && /^(?:view-source:)?https?:\/\//i.test(value)) return value;
    if (typeof value === 'string' || typeof value === 'number') {
      const known = found.get(String(value));
      if (known !== undefined) return known;
    }
  }
  return null;
}

type SearchedPage = {
  readonly number: string;
  readonly title: string;
  readonly url: string;
  readonly description: string;
  readonly date: string;
};

const KEY = /^\[([0-9]+)\] (Title|URL Source|Description|Date):(.*)$/s;

/** A result begins at a title that the line of its address follows, so `[n] Title:` within a description ends nothing. */
export function searchedPages(output: string): SearchedPage[] {
  const lines = output.split(/\r?\n/);
  const keys = lines.map((line) => KEY.exec(line));
  const results: SearchedPage[] = [];
  for (let i = 0; i < lines.length; i++) {
    const number = keys[i]?.[1];
    const isStart = (at: number): boolean =>
      keys[at]?.[2] === 'Title' && keys[at + 1]?.[2] === 'URL Source' && keys[at + 1]?.[1] === keys[at]?.[1];
    if (number === undefined || !isStart(i)) continue;
    const fields = { Title: keys[i]?.[3] ?? '', 'URL Source': keys[i + 1]?.[3] ?? '', Date: '' };
    const description: string[] = [];
    let end = i + 2;
    for (; end < lines.length && !isStart(end); end++) {
      const key = keys[end];
      if (key?.[1] === number && key[2] === 'Date') fields.Date = key[3] ?? '';
      else if (key?.[1] === number && key[2] === 'Description') description.push(key[3] ?? '');
      else description.push(lines[end] ?? '');
    }
    results.push({
      number,
      title: fields.Title.trim(),
      url: fields['URL Source'].trim(),
      description: description.join('\n').trim(),
      date: fields.Date.trim(),
    });
    i = end - 1;
  }
  return results;
}

type OpenedPage = { readonly title: string; readonly url: string; readonly date: string; readonly content: string };

const HEADER = /^(Title|URL Source|Published Time|Markdown Content):(.*)$/s;

/** The header lines of an opened page, each on its own line, then its text. Every field is empty after a failure. */
export function openedPage(output: string): OpenedPage {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < output.length) {
    const newline = output.indexOf('\n', at);
    const end = newline === -1 ? output.length : newline;
    const [, name, value = ''] = HEADER.exec(output.slice(at, end).trimEnd()) ?? [];
    if (name === 'Markdown Content') {
      fields.set(name, stripPythonSpace(`${value}${output.slice(end)}`));
      break;
    }
    if (name !== undefined && !fields.has(name)) fields.set(name, stripPythonSpace(value));
    at = end + 1;
  }
  return {
    title: fields.get('Title') ?? '',
    url: fields.get('URL Source') ?? '',
    date: fields.get('Published Time') ?? '',
    content: fields.get('Markdown Content') ?? '',
  };
}
