/** Pages live behind the `#`: the server knows one file, and nothing of what is looked at reaches it. */
import { useWatched, watchedValue } from '../settings/watched-value.ts';

export const PAGES = ['playground', 'runs', 'replay', 'batches', 'docs'] as const;
export type Page = (typeof PAGES)[number];

/** `path`: what follows the page, decoded: `#/runs/my-run/3` is runs with `['my-run', '3']`. */
export type Route = { readonly page: Page; readonly path: readonly string[] };

/** The route of a hash; what is none leads to the playground. */
export function routeOf(hash: string): Route {
  const [first, ...path] = hash.replace(/^#\/?/u, '').split('/').map(decoded);
  const page = PAGES.find((known) => known === first);
  return page === undefined ? { page: 'playground', path: [] } : { page, path: path.filter((part) => part !== '') };
}

/** A part that is no valid escape stands for itself: anybody can type into an address. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

/** The hash that leads to a page. */
export function hrefOf(page: Page, ...path: readonly string[]): string {
  return `#/${[page, ...path].map(encodeURIComponent).join('/')}`;
}

const route = watchedValue(routeOf(location.hash));
addEventListener('hashchange', () => route.set(routeOf(location.hash)));

export function useRoute(): Route {
  return useWatched(route);
}
