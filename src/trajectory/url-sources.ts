/**
 * Reads tool results as web pages, for answers that cite addresses. The pages of a result are, by the first rule that
 * finds one:
 * 1. the page whose address the call names (`{"url": "https://…"}`): the whole result;
 * 2. objects of JSON output that have an address (`{"title", "url", "content"}`), with their other texts;
 * 3. tagged pieces with an address as `url` or id;
 * 4. parts of the text that begin at a line with nothing but an address and a label (`URL: https://…`), or at the
 *    beginning of its paragraph; without such a line, parts that begin at each address.
 *
 * What several results show of a page is one source. Takes linear time: parts of one text do not overlap.
 */
import { firstUrl } from '../citations/links.ts';
import { parseSources, type SourceInput } from '../citations/sources.ts';
import { parsedJson } from '../json.ts';
import { MAX_MESSAGE_DEPTH } from '../limits.ts';
import { hasContent } from '../text/characters.ts';
import { isBlank } from '../text/span.ts';
import { normalisedUrl, pageKey, withoutReaders } from '../text/url.ts';
import { type Fields, fieldOf, isDeeperThan } from './draft.ts';
import type { MessagePath, TrajectoryCall, TrajectoryResult, Turn } from './trajectory.ts';

/** What one result shows of a page. */
type Sight = { readonly url: string; readonly title?: string; readonly text: string };

type Page = Pick<TrajectoryResult, 'path' | 'call'> & {
  readonly url: string;
  title: string;
  readonly texts: Set<string>;
};

export type PageSources = {
  /** One for each page, with the path and the call of the first result that shows it. */
  readonly sources: readonly (SourceInput & Pick<TrajectoryResult, 'path' | 'call'>)[];
  /** Results with text that show no page. */
  readonly unplaced: readonly MessagePath[];
};

export function pageSources(turns: readonly Turn[]): PageSources {
  const pages = new Map<string, Page>();
  const unplaced: MessagePath[] = [];
  for (const { output, call, path } of turns.flatMap(({ results }) => results)) {
    if (isBlank(output.text)) continue;
    const sights = sightsIn(output.text, call === null ? undefined : turns[call.turn]?.calls[call.call]);
    if (sights.length === 0) unplaced.push(path);
    for (const { url, title = '', text } of sights) {
      const key = pageKey(url);
      const page = pages.get(key) ?? { url: withoutReaders(url.trim()), title, texts: new Set(), path, call };
      pages.set(key, page);
      if (page.title === '') page.title = title;
      if (text !== '') page.texts.add(text);
    }
  }
  const sources = [...pages.values()].map(({ url, title, texts, path, call }) => ({
    id: url,
    url,
    text: [...texts].join('\n\n'),
    path,
    call,
    ...(title === '' ? {} : { title }),
  }));
  return { sources, unplaced };
}

function sightsIn(text: string, call: TrajectoryCall | undefined): Sight[] {
  const asked = call?.arguments == null ? null : addressOf(call.arguments);
  if (asked !== null) return [{ url: asked, text: text.trim() }];
  const objects = sightsInJson(text);
  if (objects.length > 0) return objects;
  const pieces = parseSources(text).list.flatMap((piece): Sight[] => {
    const url = [piece.url, piece.id].find((one) => one !== undefined && normalisedUrl(one) !== null);
    return url === undefined
      ? []
      : [{ url, text: piece.text, ...(piece.title === undefined ? {} : { title: piece.title }) }];
  });
  return pieces.length > 0 ? pieces : sightsInText(text);
}

const ADDRESS_FIELDS = ['url', 'link', 'href', 'uri', 'source', 'address', 'id'];
const TITLE_FIELDS = ['title', 'name'];

/** The address among the fields of an object; `null` = it has none. */
function addressOf(fields: Fields): string | null {
  for (const name of ADDRESS_FIELDS) {
    const value = fieldOf(fields, name);
    if (typeof value === 'string' && normalisedUrl(value) !== null) return value;
  }
  return null;
}

function sightsInJson(text: string): Sight[] {
  const start = text.trimStart().charAt(0);
  if (start !== '{' && start !== '[') return [];
  const value = parsedJson(text);
  if (typeof value !== 'object' || value === null || isDeeperThan(value, MAX_MESSAGE_DEPTH)) return [];
  const sights: Sight[] = [];
  /** Returns the texts below a value that belong to no page below it. */
  const read = (one: unknown): string[] => {
    if (typeof one === 'string') return [one];
    if (typeof one !== 'object' || one === null) return [];
    if (Array.isArray(one)) return one.flatMap(read);
    const fields: Fields = { ...one };
    const url = addressOf(fields);
    const title = TITLE_FIELDS.map((name) => fieldOf(fields, name)).find((value) => typeof value === 'string');
    const at = sights.length;
    const texts = Object.values(fields).flatMap(read);
    if (url === null) return texts;
    const shown = texts.filter((part) => part !== url && part !== title);
    // Before the pages below it, in the order of the output.
    sights.splice(at, 0, { url, text: shown.join('\n'), ...(typeof title === 'string' ? { title } : {}) });
    return [];
  };
  read(value);
  return sights;
}

type Mark = { readonly url: string; readonly start: number };

/** Cuts a text where the parts about pages begin. Text before the first address belongs to the first part. */
function sightsInText(text: string): Sight[] {
  const labelled: Mark[] = [];
  const all: Mark[] = [];
  let paragraph = 0;
  let last = -1;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    if (isBlank(line)) paragraph = end;
    let from = 0;
    for (let url = firstUrl(line); url !== null; url = firstUrl(line.slice(from))) {
      const at = line.indexOf(url, from);
      all.push({ url, start: from === 0 ? start : start + at });
      if (from === 0 && isLabelled(line, at, at + url.length)) {
        labelled.push({ url, start: paragraph > last ? paragraph : start });
        last = start;
      }
      from = at + url.length;
    }
    start = end + 1;
  }
  const marks = labelled.length > 0 ? labelled : all;
  return marks.map(({ url, start }, n) => ({
    url,
    text: text.slice(n === 0 ? 0 : start, marks[n + 1]?.start ?? text.length).trim(),
  }));
}

/** Whether a line has nothing but an address, with a label or in a link. */
function isLabelled(line: string, start: number, end: number): boolean {
  if (hasContent(line, end, line.length)) return false;
  const before = line.slice(0, start).trimEnd();
  return !hasContent(before, 0, before.length) || /[:：(<\]]$/.test(before);
}
