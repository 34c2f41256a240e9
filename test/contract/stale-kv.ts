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
  now = 0;
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

  async put(key: string, value: string): Promise<void> {
    if (this.refusesWrites) throw new Error('KV PUT failed: 429 Too Many Requests');
    this.puts.push(key);
    this.values.set(key, value);
  }
}
