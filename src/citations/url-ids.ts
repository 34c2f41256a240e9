/** Finds the source of a cited id: the source with this id or, for a web address, with another spelling of it. */
import { normalisedUrl, pageKey } from '../text/url.ts';
import type { SourceSet } from './types.ts';

/** The sources whose id is a web address, by the key of their page. Built when a set is first asked for an address. */
const pagesOf = new WeakMap<SourceSet, ReadonlyMap<string, number>>();

/** The index of the source that an id cites; `null` = there is none. */
export function citedSource(sources: SourceSet, id: string): number | null {
  const exact = sources.byId.get(id);
  if (exact !== undefined) return exact;
  if (normalisedUrl(id) === null) return null;
  let pages = pagesOf.get(sources);
  if (pages === undefined) {
    pages = new Map(
      sources.list
        .map(({ id }, position) => [id, position] as const)
        .filter(([id]) => normalisedUrl(id) !== null)
        .map(([id, position]) => [pageKey(id), position] as const)
        // The first source of a page wins.
        .reverse(),
    );
    pagesOf.set(sources, pages);
  }
  return pages.get(pageKey(id)) ?? null;
}
