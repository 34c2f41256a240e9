/**
 * The judgment store interface, and its in-memory implementation for the command line and tests. lib/kv-store.ts
 * implements it for the Worker; test/contract/judgment-store.case.ts tests both.
 *
 * A store may forget, and may miss a recent write, but it never returns a judgment under another judgment's key.
 * Platform failures are values, so a failed read is never mistaken for a miss.
 */

import type { Judgment } from './judgment.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import { checkRecord, type StoredJudgment } from './record.ts';

/** Whether a judgment was stored. */
export type StoreReceipt = { readonly ok: true } | { readonly ok: false; readonly failure: JudgeFailure };

/** Keeps judgments under their keys. May forget; never returns the judgment of another key. */
export interface JudgmentStore {
  /** Looks up many keys at once. Absent keys are misses. */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, StoredJudgment>>;
  /** Stores a judgment under its key and replaces an older one. Resolves once it is stored. */
  put(judgment: Judgment): Promise<StoreReceipt>;
  /** Caches a judgment that a desk has stored, so that reads find it before KV shows it. */
  remember(judgment: Judgment): void;
}

/** An unbounded store in memory. @param records JSON text by key. */
export function createMemoryJudgmentStore(records: Map<string, string> = new Map()): JudgmentStore {
  return {
    async get(keys) {
      const found = new Map<string, StoredJudgment>();
      for (const key of new Set(keys)) {
        const text = records.get(key);
        if (text !== undefined) found.set(key, checkRecord(key, text));
      }
      return found;
    },
    async put(judgment) {
      records.set(judgment.key, JSON.stringify(judgment));
      return { ok: true };
    },
    remember(judgment) {
      records.set(judgment.key, JSON.stringify(judgment));
    },
  };
}
