/**
 * The stored keys that an isolate has seen. A key costs one read of D1 in KEY_CACHE_MS, so a revocation takes effect
 * within a minute. Unknown keys are remembered too, and a caller who sends many different ones is refused before D1 is
 * asked.
 */

import { StorageError } from '../../service/storage-error.ts';
import { createRecentlyUsed, type RecentlyUsed } from '../../src/recently-used.ts';
import type { KeyTable, KeyWithBudgets } from './key-table.ts';

/** How long a key counts as it was read. */
const KEY_CACHE_MS = 45_000;
/** While one request reads a key again, others use what was read before, for at most this long. */
const REFRESH_MS = 10_000;
/** How long a known key is accepted while D1 does not answer. */
const KEY_OUTAGE_MS = 10 * 60 * 1000;
/** Keys that are remembered; as many unknown ones. */
const MAX_REMEMBERED = 2_048;

type Known = KeyWithBudgets & { readonly read_at: number; refreshed_by: number };

type Found =
  | ({ readonly status: 'known' } & KeyWithBudgets)
  | { readonly status: 'unknown' }
  | { readonly status: 'too_many'; readonly retry_after_s: number };

export class KnownKeys {
  readonly #now: () => number;
  readonly #attempts: UnknownKeyAttempts;
  readonly #known: RecentlyUsed<Known | 'forgotten'> = createRecentlyUsed({
    entries: MAX_REMEMBERED,
    size: MAX_REMEMBERED,
  });
  readonly #unknown: RecentlyUsed<number> = createRecentlyUsed({ entries: MAX_REMEMBERED, size: MAX_REMEMBERED });

  /** @param now a clock in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
    this.#attempts = new UnknownKeyAttempts(now);
  }

  /**
   * Finds a key by the SHA-256 of its text in hex.
   * @param caller who sends the key, to bound the unknown keys that one caller may try.
   * @throws StorageError if D1 fails and the key was not read in the last minutes.
   */
  async find(table: KeyTable, sha256: string, caller: string): Promise<Found> {
    const now = this.#now();
    const seen = this.#known.get(sha256);
    const known = seen === 'forgotten' ? undefined : seen;
    if (known !== undefined && (known.read_at + KEY_CACHE_MS > now || known.refreshed_by > now)) {
      return { status: 'known', key: known.key, budgets: known.budgets };
    }
    if ((this.#unknown.get(sha256) ?? 0) > now) return { status: 'unknown' };
    if (known !== undefined) known.refreshed_by = now + REFRESH_MS;
    else if (!this.#attempts.begin(caller, sha256)) {
      return { status: 'too_many', retry_after_s: this.#attempts.retryAfterS };
    }
    try {
      const read = await table.use(sha256, now);
      if (read !== null) {
        this.#attempts.succeed(caller, sha256);
        this.#known.add(sha256, { ...read, read_at: now, refreshed_by: 0 }, 1);
        return { status: 'known', ...read };
      }
    } catch (error) {
      if (!(error instanceof StorageError) || known === undefined || known.read_at + KEY_OUTAGE_MS <= now) throw error;
      return { status: 'known', key: known.key, budgets: known.budgets };
    }
    this.forget(sha256);
    this.#unknown.add(sha256, now + KEY_CACHE_MS, 1);
    return { status: 'unknown' };
  }

  /** Forgets a key that this isolate has revoked. */
  forget(sha256: string): void {
    this.#known.add(sha256, 'forgotten', 1);
  }
}

const WINDOW_MS = 60_000;
/** Different unknown keys that one caller, and all callers together, may send to an isolate in a minute. */
const MAX_ATTEMPTS_OF_CALLER = 10;
const MAX_ATTEMPTS = 200;

/** Counts the different unknown keys of the present minute. */
class UnknownKeyAttempts {
  readonly #now: () => number;
  #window = 0;
  #all = 0;
  #byCaller = new Map<string, Set<string>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Seconds until the minute is over. */
  get retryAfterS(): number {
    return Math.max(1, Math.ceil(((this.#window + 1) * WINDOW_MS - this.#now()) / 1000));
  }

  /** Counts a key whose lookup begins. Returns false if too many were unknown in this minute. */
  begin(caller: string, sha256: string): boolean {
    const window = Math.floor(this.#now() / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#all = 0;
      this.#byCaller = new Map();
    }
    const own = this.#byCaller.get(caller) ?? new Set<string>();
    if (own.has(sha256)) return true;
    if (own.size >= MAX_ATTEMPTS_OF_CALLER || this.#all >= MAX_ATTEMPTS) return false;
    own.add(sha256);
    this.#byCaller.set(caller, own);
    this.#all++;
    return true;
  }

  /** The key exists, so its lookup does not count. */
  succeed(caller: string, sha256: string): void {
    if (this.#byCaller.get(caller)?.delete(sha256) === true) this.#all--;
  }
}
