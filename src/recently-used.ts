/** A bounded cache: keeps the values that were used last. */

/** `entries` bounds the number of values, `size` the sum of their sizes, in the unit of `add`. */
export type RecentLimits = { readonly entries: number; readonly size: number };

export type RecentlyUsed<V, K = string> = {
  readonly get: (key: K) => V | undefined;
  /** Adds or replaces a value. A value larger than the whole cache is not kept. */
  readonly add: (key: K, value: V, size: number) => void;
};

/** Creates a cache that drops the values that were not used for the longest time. */
export function createRecentlyUsed<V, K = string>(limits: RecentLimits): RecentlyUsed<V, K> {
  // A Map iterates in the order of insertion, and `get` inserts again: the first entry was not used for the longest time.
  const entries = new Map<K, { readonly key: K; readonly value: V; readonly size: number }>();
  let total = 0;
  const drop = (key: K): void => {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      // By the key that it was added with: an equal one may be a slice of a request, and would keep it in memory.
      entries.set(entry.key, entry);
      return entry.value;
    },
    add(key, value, size) {
      drop(key);
      if (size > limits.size) return;
      entries.set(key, { key, value, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= limits.entries && total <= limits.size) break;
        drop(oldest);
      }
    },
  };
}
