/**
 * Parses tool output once for all rollouts of a prompt. The samples of a group share their tool output and often arrive
 * in requests of their own; with the set they share its tokens and digests too, which cost more than the scoring itself.
 */
import { createRecentlyUsed, type RecentLimits } from '../recently-used.ts';
import { parseSources } from './sources.ts';
import type { SourceSet } from './types.ts';

/** Reads the sources in tool output, like `parseSources`. */
export type SourceReader = (toolOutput: string) => SourceSet;

/**
 * Tool outputs that one isolate keeps, and their size in UTF-16 code units. With its tokens a unit takes about 4 bytes,
 * at most 14.
 */
export const RECENT_SOURCES: RecentLimits = { entries: 256, size: 2 * 1024 * 1024 };

/** Creates a reader that returns one set for equal texts while it keeps them. */
export function createSourceReader(limits: RecentLimits): SourceReader {
  const recent = createRecentlyUsed<SourceSet>(limits);
  return (toolOutput) => {
    const known = recent.get(toolOutput);
    if (known !== undefined) return known;
    const sources = parseSources(toolOutput);
    recent.add(toolOutput, sources, toolOutput.length);
    return sources;
  };
}
