/** A store of judgments in memory. */
import type { Judgment } from '../src/judgments/judgment.ts';
import { createMemoryJudgmentStore, type JudgmentStore } from '../src/judgments/store.ts';

const DEFAULT_MAX_RECORDS = 100_000;

/**
 * Keeps judgments in memory and forgets the oldest beyond `maxRecords`. A record takes about 2 KB.
 *
 * @example
 * ```ts
 * import { createScorer, lexicalJudge, memoryStore } from 'citeward';
 *
 * const scorer = createScorer({ judge: lexicalJudge, store: memoryStore({ maxRecords: 1_000 }) });
 * ```
 * @param options.maxRecords A positive integer. Default 100,000, about 200 MB.
 * @throws TypeError for a `maxRecords` that is not a positive integer.
 */
export function memoryStore(options: { readonly maxRecords?: number } = {}): JudgmentStore {
  const { maxRecords = DEFAULT_MAX_RECORDS } = options;
  if (!(Number.isSafeInteger(maxRecords) && maxRecords > 0)) {
    throw new TypeError('memoryStore: maxRecords: expected a positive integer');
  }
  return createMemoryJudgmentStore(new BoundedRecords(maxRecords));
}

/** A map that deletes its oldest entry when it grows beyond its limit, so that memory stays bounded. */
class BoundedRecords extends Map<string, Judgment | string> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: string, record: Judgment | string): this {
    super.set(key, record);
    if (this.size > this.#limit) {
      const [oldest] = this.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
    return this;
  }
}
