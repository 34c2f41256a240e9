/**
 * The scope of judgments: shared by all projects, or (JUDGMENTS_SCOPE = "project") one of their own for each. A scope is
 * part of the keys in KV and of the names of desks, not of the key of a judgment, which stays the same everywhere.
 */
import type { JudgmentKv } from '../../lib/kv-store.ts';

/** The project whose judgments are meant; `null` = those that all projects share. */
export type JudgmentScope = string | null;

/** A KV namespace whose keys begin with the scope. @param scopeOf asked for each call. */
export function scopedKv(kv: JudgmentKv, scopeOf: () => JudgmentScope): JudgmentKv {
  return {
    async get(keys, type) {
      const prefix = prefixOf(scopeOf());
      const found = await kv.get(
        keys.map((key) => prefix + key),
        type,
      );
      return new Map([...found].map(([key, text]) => [key.slice(prefix.length), text]));
    },
    put: (key, value) => kv.put(prefixOf(scopeOf()) + key, value),
  };
}

function prefixOf(scope: JudgmentScope): string {
  return scope === null ? '' : `p:${scope}:`;
}
