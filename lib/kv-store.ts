/**
 * The judgment store of the Worker: KV behind a cache in the isolate. STORAGE.md describes the record.
 *
 * KV has no compare-and-set, and may report a miss for up to 60 s after a write elsewhere. Judgments are immutable and
 * content-addressed, so a second write of one judgment does no harm. The value of a partition has several judgments, so a
 * desk writes it only if it knows of no other value (functions/desk/finished-tables.ts).
 */

import type { Judgment } from '../src/judgments/judgment.ts';
import { partitionOf } from '../src/judgments/key.ts';
import type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
import {
  checkRecord,
  partitionText,
  readPartition,
  type StoredJudgment,
  type StoredPartition,
} from '../src/judgments/record.ts';
import type { DeskRecords, JudgmentStore, Missed, StoreReceipt } from '../src/judgments/store.ts';
import { createRecentlyUsed } from '../src/recently-used.ts';

/** Keys per KV bulk read (limit of the platform). */
export const MAX_KV_BULK_KEYS = 100;

/** Prefix of a judgment that is a value of its own, before its key. The record has its own version. */
export const JUDGMENT_KV_PREFIX = 'j:v1:';
/** Prefix of the judgments of a partition that are one value, before the partition. */
export const PARTITION_KV_PREFIX = 'j:v2:';

/** The methods of a KV namespace that the store uses. */
export type JudgmentKv = {
  get(keys: string[], type: 'text'): Promise<Map<string, string | null>>;
  put(key: string, value: string): Promise<void>;
};

export type KvJudgmentStore = Required<JudgmentStore> & {
  /** Looks for judgments under both names, their partition's and their own. */
  readonly lookUp: (keys: readonly string[]) => Promise<DeskRecords>;
  /** Stores the JSON text of a judgment under its key. The text is not checked. */
  readonly putRecord: (key: string, record: string) => Promise<StoreReceipt>;
  /** Stores the JSON texts of judgments of a partition as its one value. The texts are not checked. */
  readonly putPartition: (partition: string, records: readonly string[]) => Promise<StoreReceipt>;
};

const READ_FAILED: JudgeFailure = {
  reason: 'judgment_store_failed',
  detail: 'the judgment store could not be read',
  retryable: true,
};

/** What KV has under a name: a text, nothing, or an error of the platform. */
type Read = { readonly text: string | null } | 'failed';

/** A judgment store in KV. Errors of the platform are returned as values; see JudgmentStore. */
export function createKvJudgmentStore(kv: JudgmentKv, recent: RecentJudgments): KvJudgmentStore {
  async function read(names: Iterable<string>): Promise<ReadonlyMap<string, Read>> {
    const unread = [...new Set(names)];
    const texts = new Map<string, Read>();
    const bulks = Array.from({ length: Math.ceil(unread.length / MAX_KV_BULK_KEYS) }, (_, n) =>
      unread.slice(n * MAX_KV_BULK_KEYS, (n + 1) * MAX_KV_BULK_KEYS),
    );
    await Promise.all(
      bulks.map(async (bulk) => {
        const values = await readTexts(kv, bulk);
        for (const name of bulk) texts.set(name, values === null ? 'failed' : { text: values.get(name) ?? null });
      }),
    );
    return texts;
  }

  async function put(name: string, value: string): Promise<StoreReceipt> {
    try {
      await kv.put(name, value);
      return { ok: true };
    } catch (error) {
      reportKvError('put', error);
      return { ok: false, failure: WRITE_FAILED };
    }
  }

  /** The keys that the isolate's cache lacks. */
  function addRecent(keys: readonly string[], found: Map<string, StoredJudgment>): string[] {
    const unknown: string[] = [];
    for (const key of new Set(keys)) {
      const judgment = recent.get(key);
      if (judgment === undefined) unknown.push(key);
      else found.set(key, { ok: true, judgment });
    }
    return unknown;
  }

  /** Adds what the values have of these keys. A usable record wins over an invalid one under the other name. */
  function addRead(
    keys: readonly string[],
    values: ReadonlyMap<string, Read>,
    found: Map<string, StoredJudgment>,
  ): void {
    const inPartition = partitionRecords(values);
    for (const key of keys) {
      for (const one of [inPartition(key), ownRecord(values, key)]) {
        if (one === null || found.get(key)?.ok === true) continue;
        found.set(key, one.stored);
        if (one.stored.ok) recent.add(one.stored.judgment, one.chars);
      }
    }
  }

  async function lookUp(keys: readonly string[]): Promise<DeskRecords> {
    const found = new Map<string, StoredJudgment>();
    const unknown = addRecent(keys, found);
    const values = await read(unknown.flatMap((key) => [partitionName(key), JUDGMENT_KV_PREFIX + key]));
    addRead(unknown, values, found);
    return { found, missed: missedOf(unknown, values, found) };
  }

  return {
    putRecord: (key, record) => put(JUDGMENT_KV_PREFIX + key, record),
    putPartition: (partition, records) => put(PARTITION_KV_PREFIX + partition, partitionText(records)),
    lookUp,
    get: async (keys) => (await lookUp(keys)).found,

    async getOfDesks(keys) {
      const found = new Map<string, StoredJudgment>();
      const unknown = addRecent(keys, found);
      const partitions = await read(unknown.map(partitionName));
      addRead(unknown, partitions, found);
      const elsewhere = unknown.filter((key) => !isAbsent(partitions, key) && found.get(key)?.ok !== true);
      addRead(elsewhere, await read(elsewhere.map((key) => JUDGMENT_KV_PREFIX + key)), found);
      return { found, missed: missedOf(unknown, partitions, found) };
    },

    async put(judgment: Judgment): Promise<StoreReceipt> {
      const text = JSON.stringify(judgment);
      const receipt = await put(JUDGMENT_KV_PREFIX + judgment.key, text);
      // Only stored judgments are cached: a hit implies that the key can be replayed.
      if (receipt.ok) recent.add(judgment, text.length);
      return receipt;
    },

    remember(judgment) {
      recent.add(judgment, JSON.stringify(judgment).length);
    },
  };
}

function partitionName(key: string): string {
  return PARTITION_KV_PREFIX + partitionOf(key);
}

function isAbsent(partitions: ReadonlyMap<string, Read>, key: string): boolean {
  const value = partitions.get(partitionName(key));
  return value !== undefined && value !== 'failed' && value.text === null;
}

/** What KV lacks of the keys that were not found. */
function missedOf(
  keys: readonly string[],
  partitions: ReadonlyMap<string, Read>,
  found: ReadonlyMap<string, StoredJudgment>,
): ReadonlyMap<string, Missed> {
  const open = keys.filter((key) => !found.has(key));
  return new Map(open.map((key) => [key, isAbsent(partitions, key) ? 'partition' : 'key']));
}

type FoundRecord = { readonly stored: StoredJudgment; readonly chars: number };

const READ_PROBLEM: FoundRecord = { stored: { ok: false, failure: READ_FAILED }, chars: 0 };

/** Finds the records of keys under their own names. */
function ownRecord(values: ReadonlyMap<string, Read>, key: string): FoundRecord | null {
  const value = values.get(JUDGMENT_KV_PREFIX + key);
  if (value === 'failed') return READ_PROBLEM;
  if (value === undefined || value.text === null) return null;
  return { stored: checkRecord(key, value.text), chars: value.text.length };
}

/** Finds the records of keys in the values of partitions, each of which is parsed once. */
function partitionRecords(values: ReadonlyMap<string, Read>): (key: string) => FoundRecord | null {
  const parsed = new Map<string, StoredPartition>();
  return (key) => {
    const name = partitionName(key);
    const value = values.get(name);
    if (value === 'failed') return READ_PROBLEM;
    if (value === undefined || value.text === null) return null;
    const partition = parsed.get(name) ?? readPartition(value.text);
    parsed.set(name, partition);
    const stored = partition.get(key);
    return stored === null ? null : { stored, chars: Math.ceil(value.text.length / partition.size) };
  };
}

async function readTexts(kv: JudgmentKv, names: readonly string[]): Promise<Map<string, string | null> | null> {
  try {
    return await kv.get([...names], 'text');
  } catch (error) {
    reportKvError('get', error);
    return null;
  }
}

/** Logs a status code for the operator. The messages of KV are the platform's and may change. */
function reportKvError(operation: 'get' | 'put', error: unknown): void {
  const message = error instanceof Error ? error.message : '';
  const status = /\b([45]\d\d)\b/.exec(message)?.[1] ?? null;
  console.error(JSON.stringify({ event: 'kv_error', operation, status }));
}

const WRITE_FAILED: JudgeFailure = {
  reason: 'judgment_store_failed',
  detail: 'the judgment could not be stored, so it cannot be replayed',
  retryable: true,
};

/** Judgments cached by one isolate. */
export const MAX_RECENT_JUDGMENTS = 4_096;
/** Size of the judgments cached by one isolate, in UTF-16 code units of their JSON (8 MB). */
export const MAX_RECENT_JUDGMENT_CHARS = 4 * 1024 * 1024;

/** How long an isolate caches a judgment, in milliseconds. */
const MAX_RECENT_MS = 60 * 60 * 1000;

type RecentJudgments = {
  readonly get: (key: string) => Judgment | undefined;
  /** @param chars size of the judgment's JSON, in UTF-16 code units. */
  readonly add: (judgment: Judgment, chars: number) => void;
};

type RecentLimits = { readonly entries: number; readonly chars: number };

/** @param now in milliseconds. A judgment is read again after an hour, as it may have expired from KV. */
export function createRecentJudgments({ entries, chars: size }: RecentLimits, now = () => Date.now()): RecentJudgments {
  const recent = createRecentlyUsed<{ readonly judgment: Judgment; readonly until: number }>({ entries, size });
  return {
    get(key) {
      const entry = recent.get(key);
      return entry !== undefined && now() < entry.until ? entry.judgment : undefined;
    },
    add: (judgment, chars) => recent.add(judgment.key, { judgment, until: now() + MAX_RECENT_MS }, chars),
  };
}
