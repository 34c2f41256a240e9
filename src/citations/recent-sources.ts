/**
 * Reads sources once for all rollouts of a prompt. The samples of a group share their sources and often arrive in
 * requests of their own; with the set they share its tokens and digests too, which cost more than the scoring itself.
 */
import { createRecentlyUsed, type RecentLimits } from '../recently-used.ts';
import { sourcesOf } from './sources.ts';
import type { SourceSet } from './types.ts';

/** Reads the sources of a rollout, like `sourcesOf`. */
export type SourceReader = typeof sourcesOf;

/**
 * Source sets that one isolate keeps, and the size of their texts in UTF-16 code units. With its tokens a unit takes
 * about 4 bytes, at most 14; that of a list, whose JSON is its key, up to 2 more.
 */
export const RECENT_SOURCES: RecentLimits = { entries: 256, size: 2 * 1024 * 1024 };

/** Creates a reader that returns one set for equal sources while it keeps them. */
export function createSourceReader(limits: RecentLimits): SourceReader {
  const recent = createRecentlyUsed<{ readonly isList: boolean; readonly set: SourceSet }>(limits);
  return (given) => {
    const isList = 'sources' in given;
    const key = isList ? JSON.stringify(given.sources) : given.tool_output;
    const known = recent.get(key);
    // A tool output may be the JSON of a list, which has other sources.
    if (known?.isList === isList) return known.set;
    const set = sourcesOf(given);
    recent.add(key, { isList, set }, key.length);
    return set;
  };
}
