/**
 * A KV namespace in memory that caches its misses like the real one: a key that was read while absent stays a miss for
 * 60 s, even if it is written meanwhile. The test controls the clock.
 */
const NEGATIVE_CACHE_MS = 60_000;

export class StaleKv {
  readonly values = new Map<string, string>();
  readonly puts: string[] = [];
  /** While true, writes fail. */
  refusesWrites = false;
  /** While true, writes take effect and fail nevertheless. */
  losesReceipts = false;
  /** Writes that wait for `lets`. */
  writesWaiting = 0;
  now = 0;
  #held: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  readonly #missedUntil = new Map<string, number>();

  async get(keys: string[], _type: 'text'): Promise<Map<string, string | null>> {
    return new Map(keys.map((key) => [key, this.#read(key)]));
  }

  #read(key: string): string | null {
    if ((this.#missedUntil.get(key) ?? 0) > this.now) return null;
    const value = this.values.get(key);
    if (value !== undefined) return value;
    this.#missedUntil.set(key, this.now + NEGATIVE_CACHE_MS);
    return null;
  }

  /** Writes wait until `lets`. */
  holdsWrites(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = { promise, resolve };
  }

  lets(): void {
    this.#held?.resolve();
    this.#held = null;
  }

  async put(key: string, value: string): Promise<void> {
    this.writesWaiting++;
    await this.#held?.promise;
    this.writesWaiting--;
    if (this.refusesWrites) throw new Error('KV PUT failed: 429 Too Many Requests');
    this.puts.push(key);
    this.values.set(key, value);
    if (this.losesReceipts) throw new Error('KV PUT failed: 500 Internal Server Error');
  }

  /** Whether some value contains a judgment. */
  has(judgmentKey: string): boolean {
    return [...this.values.values()].some((text) => text.includes(judgmentKey));
  }
}
