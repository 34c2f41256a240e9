/**
 * Lets judgments expire from KV: `JUDGMENT_RETENTION_DAYS` after their value was written. A recorded run replays without
 * them, because its rows have the facts (src/runs/row.ts). After that a repeated request calls the judge, a request with
 * `"judgments": "only"` is refused, and the export of a run's judgments lists the missing ones.
 */
import type { JudgmentKv } from '../../lib/kv-store.ts';
import type { CountedKv } from '../kv-operations.ts';

const DAY_S = 24 * 60 * 60;

/** A KV namespace whose values expire. @param daysOf asked for each write; `null` = they are kept. */
export function retainedKv(kv: CountedKv, daysOf: () => number | null): JudgmentKv {
  return {
    get: (keys, type) => kv.get(keys, type),
    put(key, value) {
      const days = daysOf();
      return days === null ? kv.put(key, value) : kv.put(key, value, { expirationTtl: days * DAY_S });
    },
  };
}
