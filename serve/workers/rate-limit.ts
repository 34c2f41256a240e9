/**
 * A rate-limit binding in memory, for one isolate: a fixed window per key. A wrapped binding: workerd runs this module
 * inside Citeward's isolate and binds what it returns.
 */

type Settings = { readonly limit: number; readonly period: number };

/** Windows that are kept; beyond them all are forgotten, which admits more, never less. */
const MAX_WINDOWS = 100_000;

export default function rateLimit({ settings }: { readonly settings: Settings }): RateLimit {
  const period_ms = settings.period * 1_000;
  const counts = new Map<string, number>();
  let window = 0;
  return {
    limit: async ({ key }) => {
      const now = Math.floor(Date.now() / period_ms);
      if (now !== window || counts.size > MAX_WINDOWS) {
        counts.clear();
        window = now;
      }
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= settings.limit };
    },
  };
}
