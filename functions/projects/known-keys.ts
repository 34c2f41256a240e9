/**
 * The stored keys that an isolate has seen. A key costs one read of D1 in KEY_CACHE_MS, so a revocation takes effect
 * within a minute. Unknown keys are remembered too, and keys that the isolate has not seen wait for a lookup.
 */

import { StorageError } from '../../service/storage-error.ts';
import { createRecentlyUsed, type RecentlyUsed } from '../../src/recently-used.ts';
import type { CallerConnection, Lookups } from '../lookups.ts';
import type { KeyTable, StoredKey } from './key-table.ts';

/** How long a key counts as it was read. */
const KEY_CACHE_MS = 45_000;
/** While one request reads a key again, others use what was read before, for at most this long. */
const REFRESH_MS = 10_000;
/** How long a known key is accepted while D1 does not answer. */
const KEY_OUTAGE_MS = 10 * 60 * 1000;
/** Keys that are remembered; as many unknown ones. */
const MAX_REMEMBERED = 2_048;

type Known = { readonly key: StoredKey; readonly read_at: number; refreshed_by: number };

type Found =
  | { readonly status: 'known'; readonly key: StoredKey }
  | { readonly status: 'unknown' }
  | { readonly status: 'too_many'; readonly retry_after_s: number };

export class KnownKeys {
  readonly #now: () => number;
  readonly #lookups: Lookups;
  readonly #known: RecentlyUsed<Known | 'forgotten'> = createRecentlyUsed({
    entries: MAX_REMEMBERED,
    size: MAX_REMEMBERED,
  });
  readonly #unknown: RecentlyUsed<number> = createRecentlyUsed({ entries: MAX_REMEMBERED, size: MAX_REMEMBERED });

  /** @param now a clock in milliseconds since 1970. */
  constructor(now: () => number, lookups: Lookups) {
    this.#now = now;
    this.#lookups = lookups;
  }

  /**
   * Finds a key by the SHA-256 of its text in hex.
   * @param caller by whose address wrong keys are counted.
   * @throws StorageError if D1 fails and the key was not read in the last minutes.
   */
  async find(table: KeyTable, sha256: string, caller: CallerConnection): Promise<Found> {
    const now = this.#now();
    const known = this.#knownOf(sha256);
    if (known === undefined) return this.#findUnseen(table, sha256, caller);
    if (known.read_at + KEY_CACHE_MS > now || known.refreshed_by > now) return { status: 'known', key: known.key };
    known.refreshed_by = now + REFRESH_MS;
    try {
      const read = await this.#read(table, sha256);
      if (read !== null) return { status: 'known', key: read };
    } catch (error) {
      if (!(error instanceof StorageError) || known.read_at + KEY_OUTAGE_MS <= now) throw error;
      return { status: 'known', key: known.key };
    }
    this.forget(sha256);
    return { status: 'unknown' };
  }

  /** A key that this isolate has not seen: it may be one of many that nobody has. */
  async #findUnseen(table: KeyTable, sha256: string, caller: CallerConnection): Promise<Found> {
    const isUnknown = (): boolean => (this.#unknown.get(sha256) ?? 0) > this.#now();
    if (isUnknown()) return { status: 'unknown' };
    const looked = await this.#lookups.find(caller, async () => {
      // Another request may have read it meanwhile. An unknown key counts once, however often it is sent.
      if (isUnknown()) return 'unknown';
      return this.#knownOf(sha256)?.key ?? this.#read(table, sha256);
    });
    switch (looked.status) {
      case 'found':
        return looked.value === 'unknown' ? { status: 'unknown' } : { status: 'known', key: looked.value };
      case 'refused':
        return { status: 'too_many', retry_after_s: looked.retry_after_s };
      case 'missing':
        return { status: 'unknown' };
    }
  }

  /** Reads a key and remembers it, or that nobody has it. */
  async #read(table: KeyTable, sha256: string): Promise<StoredKey | null> {
    const now = this.#now();
    const key = await table.use(sha256, now);
    if (key === null) this.#unknown.add(sha256, now + KEY_CACHE_MS, 1);
    else this.#known.add(sha256, { key, read_at: now, refreshed_by: 0 }, 1);
    return key;
  }

  #knownOf(sha256: string): Known | undefined {
    const seen = this.#known.get(sha256);
    return seen === 'forgotten' ? undefined : seen;
  }

  /** Forgets a key that this isolate has revoked. */
  forget(sha256: string): void {
    this.#known.add(sha256, 'forgotten', 1);
  }
}
