/**
 * Where judgments are kept: a small interface and its in-memory form (command line, tests). The Worker's form is
 * functions/storage/judgments.ts; test/contract/judgment-store.case.ts holds both to the same behaviour.
 *
 * A store may forget and may miss what was just written; it never returns a judgment under a key that is not its own.
 * What the platform fails at comes back as a value, so that a failed read is never mistaken for a miss.
 */
import { checkRecord, type StoredJudgment } from './record.ts';
import type { JudgeFailure, Judgment } from './types.ts';

/** Whether a judgment was stored. */
export type StoreReceipt = { readonly ok: true } | { readonly ok: false; readonly failure: JudgeFailure };

export interface JudgmentStore {
  /** Looks up many keys at once. A key that is not in the reply is a miss. */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, StoredJudgment>>;
  /** Stores a judgment under its key, over what is there. Resolves when it is stored, not before. */
  put(judgment: Judgment): Promise<StoreReceipt>;
  /** Takes note of a judgment that a desk has stored, so that a read may find it before the platform shows it. */
  remember(judgment: Judgment): void;
}

/** A store in memory, unbounded: for the command line and tests. `records` holds JSON text by key. */
export function createMemoryJudgmentStore(records: Map<string, string> = new Map()): JudgmentStore {
  return {
    async get(keys) {
      const found = new Map<string, StoredJudgment>();
      for (const key of new Set(keys)) {
        const text = records.get(key);
        if (text !== undefined) found.set(key, await checkRecord(key, text));
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
