/**
 * The judgments that one isolate has just seen, least recently used first out. Bounded by entries and by size. Judgments
 * are immutable, so an entry can be forgotten but never be stale. A Map keeps insertion order, which is all an LRU needs.
 */
import type { Judgment } from '../../src/judgments/types.ts';

/** Judgments remembered by one isolate. */
export const MAX_RECENT_JUDGMENTS = 4_096;
/** Size of the judgments remembered by one isolate, in UTF-16 code units of their JSON (8 MB). */
export const MAX_RECENT_JUDGMENT_CHARS = 4 * 1024 * 1024;

export type RecentJudgments = {
  readonly get: (key: string) => Judgment | undefined;
  /** @param chars size of the judgment's JSON, in UTF-16 code units. */
  readonly add: (judgment: Judgment, chars: number) => void;
};

export type RecentLimits = { readonly entries: number; readonly chars: number };

export function createRecentJudgments(limits: RecentLimits): RecentJudgments {
  const entries = new Map<string, { readonly judgment: Judgment; readonly chars: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= entries.get(key)?.chars ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.judgment;
    },
    add(judgment, chars) {
      drop(judgment.key);
      if (chars > limits.chars) return;
      entries.set(judgment.key, { judgment, chars });
      total += chars;
      for (const oldest of entries.keys()) {
        if (entries.size <= limits.entries && total <= limits.chars) break;
        drop(oldest);
      }
    },
  };
}
