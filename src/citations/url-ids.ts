/** Finds the source of a cited id: the source with this id or, for a web address, with another spelling of it. */
import { keyOfPage } from '../text/url.ts';
import type { SourceSet } from './types.ts';

/** The sources whose id is a web address, by the key of their page. Built when a set is first asked for an address. */
const pagesOf = new WeakMap<SourceSet, ReadonlyMap<string, number>>();

/** The index of the source that an id cites; `null` = there is none. */
export function citedSource(sources: SourceSet, id: string): number | null {
  const exact = sources.byId.get(id);
  if (exact !== undefined) return exact;
  const page = keyOfPage(id);
  if (page === null) return null;
  let pages = pagesOf.get(sources);
  if (pages === undefined) {
    const found = new Map<string, number>();
    sources.list.forEach(({ id }, position) => {
      const key = keyOfPage(id);
      // The first source of a page wins.
      if (key !== null && !found.has(key)) found.set(key, position);
    });
    pages = found;
    pagesOf.set(sources, pages);
  }
  return pages.get(page) ?? null;
}
