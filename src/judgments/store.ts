/**
 * The judgment store interface, and its in-memory implementation for the command line and tests. lib/kv-store.ts
 * implements it for the Worker; test/contract/judgment-store.case.ts tests both.
 *
 * A store may forget, and may miss a recent write, but it never returns a judgment under another judgment's key.
 * Platform failures are values, so a failed read is never mistaken for a miss.
 */

import type { Failed } from '../result.ts';
import type { Judgment } from './judgment.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import { checkRecord, type StoredJudgment } from './record.ts';

/** Whether a judgment was stored. */
export type StoreReceipt = { readonly ok: true } | Failed<JudgeFailure>;

/** What a store lacks: a value of the key's partition; or it has one, but no record of the key anywhere. */
export type Missed = 'partition' | 'key';

/** What desks have stored of some keys. Each key is in one of the maps. */
export type DeskRecords = {
  readonly found: ReadonlyMap<string, StoredJudgment>;
  readonly missed: ReadonlyMap<string, Missed>;
};

/** Keeps judgments under their keys. May forget; never returns the judgment of another key. */
export interface JudgmentStore {
  /** Looks up many keys at once. Absent keys are misses. */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, StoredJudgment>>;
  /**
   * The same for judgments that desks store, in fewer reads: a desk stores the first judgments of a partition together,
   * so a key of a partition without a value is a miss. Absent: no desk writes into the store.
   */
  getOfDesks?(keys: readonly string[]): Promise<DeskRecords>;
  /** Stores a judgment under its key and replaces an older one. Resolves once it is stored. */
  put(judgment: Judgment): Promise<StoreReceipt>;
  /** Caches a judgment that a desk has stored, so that reads find it before KV shows it. */
  remember(judgment: Judgment): void;
}

/**
 * An unbounded store in memory.
 * @param records by key: judgments, and the JSON texts of records, which are checked when they are first read.
 */
export function createMemoryJudgmentStore(records: Map<string, Judgment | string> = new Map()): JudgmentStore {
  const read = (key: string, record: Judgment | string): StoredJudgment => {
    if (typeof record !== 'string') return { ok: true, judgment: record };
    const checked = checkRecord(key, record);
    if (checked.ok) records.set(key, checked.judgment);
    return checked;
  };
  return {
    async get(keys) {
      const found = new Map<string, StoredJudgment>();
      for (const key of new Set(keys)) {
        const record = records.get(key);
        if (record !== undefined) found.set(key, read(key, record));
      }
      return found;
    },
    async put(judgment) {
      records.set(judgment.key, judgment);
      return { ok: true };
    },
    remember(judgment) {
      records.set(judgment.key, judgment);
    },
  };
}
