/** Routes in the URL hash: the server serves one file and never sees which page is open. */
import { observable, useObservable } from '../settings/observable.ts';

export const PAGES = ['playground', 'probe', 'runs', 'compare', 'replay', 'batches', 'label', 'api'] as const;
export type Page = (typeof PAGES)[number];

export const PAGE_NAMES: Readonly<Record<Page, string>> = {
  playground: 'Playground',
  probe: 'Probe',
  runs: 'Runs',
  compare: 'Compare',
  replay: 'Replay',
  batches: 'Batches',
  label: 'Label',
  api: 'API',
};

/** Parameters of a page by name, decoded. */
export type Query = ReadonlyMap<string, string>;

/**
 * `path`: the decoded segments after the page: `#/runs/my-run/3` is runs with `['my-run', '3']`. `query`: the
 * parameters after `?`; a new object for each navigation.
 */
export type Route = { readonly page: Page | 'unknown'; readonly path: readonly string[]; readonly query: Query };

/** Parses a hash; an empty one is the playground's. */
function routeOf(hash: string): Route {
  const text = hash.replace(/^#\/?/u, '');
  const end = text.indexOf('?');
  const query = new Map(end === -1 ? [] : new URLSearchParams(text.slice(end + 1)));
  const [first, ...path] = (end === -1 ? text : text.slice(0, end)).split('/').map(decoded);
  // `#/docs` is the earlier address of the API page.
  const page = first === 'docs' ? 'api' : PAGES.find((known) => known === first);
  if (page === undefined) return { page: first === '' ? 'playground' : 'unknown', path: [], query: new Map() };
  return { page, path: path.filter((part) => part !== ''), query };
}

/** Decodes a segment; a segment with an invalid escape is returned unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

/** The hash of a page. */
export function hrefOf(page: Page, ...path: readonly string[]): string {
  return `#/${[page, ...path].map(encodeURIComponent).join('/')}`;
}

/** A hash with parameters. */
export function withQuery(href: string, query: Query): string {
  return query.size === 0 ? href : `${href}?${new URLSearchParams([...query])}`;
}

/** Replaces the address of the page that is shown. The page stays as it is, and the history gets no entry. */
export function replaceAddress(href: string): void {
  if (location.hash !== href) history.replaceState(null, '', href);
}

/** The whole address of a hash, to be copied. */
export function addressOf(href: string): string {
  return new URL(href, location.href).href;
}

const route = observable(routeOf(location.hash));
addEventListener('hashchange', () => route.set(routeOf(location.hash)));

export function useRoute(): Route {
  return useObservable(route);
}
