/** Routes in the URL hash: the server serves one file and never sees which page is open. */
import { observable, useObservable } from '../settings/observable.ts';

export const PAGES = ['playground', 'runs', 'replay', 'batches', 'docs'] as const;
export type Page = (typeof PAGES)[number];

export const PAGE_NAMES: Readonly<Record<Page, string>> = {
  playground: 'Playground',
  runs: 'Runs',
  replay: 'Replay',
  batches: 'Batches',
  docs: 'API',
};

/** `path`: the decoded segments after the page: `#/runs/my-run/3` is runs with `['my-run', '3']`. */
export type Route = { readonly page: Page; readonly path: readonly string[] };

/** Parses a hash; an unknown page leads to the playground. */
export function routeOf(hash: string): Route {
  const [first, ...path] = hash.replace(/^#\/?/u, '').split('/').map(decoded);
  const page = PAGES.find((known) => known === first);
  return page === undefined ? { page: 'playground', path: [] } : { page, path: path.filter((part) => part !== '') };
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

const route = observable(routeOf(location.hash));
addEventListener('hashchange', () => route.set(routeOf(location.hash)));

export function useRoute(): Route {
  return useObservable(route);
}
