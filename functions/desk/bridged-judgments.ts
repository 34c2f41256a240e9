/**
 * The judgments of one desk: SQLite first, then KV. What a desk finishes is in SQLite before it is in KV, so that a
 * restart between the two loses nothing; the alarm offers to KV again what it did not take, and forgets what it has.
 */
import type { JudgmentStore, StoreReceipt } from '../../src/judgments/store.ts';
import type { Judgment } from '../../src/judgments/types.ts';
import type { FinishedJudgments } from './finished-judgments.ts';

/** A finished judgment is kept by its desk this long: ten times the age that a miss of KV can have. */
const FINISHED_JUDGMENT_MS = 10 * 60 * 1000;
/** A judgment that KV did not take is offered to it again this often, and given up after `MAX_UNSTORED_MS`. */
const STORE_RETRY_MS = 60 * 1000;
const MAX_UNSTORED_MS = 24 * 60 * 60 * 1000;

/** Writes of one alarm; the next one follows at once where there are more. */
const RETRIES_PER_ALARM = 100;
const SOON_MS = 1_000;

export type Alarms = Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm'>;

export class BridgedJudgments {
  readonly #finished: FinishedJudgments;
  readonly #kv: JudgmentStore;
  readonly #alarms: Alarms;
  readonly #now: () => number;

  constructor(finished: FinishedJudgments, kv: JudgmentStore, alarms: Alarms, now: () => number) {
    this.#finished = finished;
    this.#kv = kv;
    this.#alarms = alarms;
    this.#now = now;
  }

  /** What the desk itself has finished, with whether KV has it; what KV lacks is offered to it again. */
  async find(key: string): Promise<{ readonly judgment: Judgment; readonly receipt: StoreReceipt } | null> {
    const found = await this.#finished.get(key);
    if (found === null) return null;
    const { judgment, inKv } = found;
    return { judgment, receipt: inKv ? { ok: true } : await this.#toKv(judgment) };
  }

  /** Keeps a judgment; resolves when SQLite has it and KV has answered. */
  async keep(judgment: Judgment): Promise<StoreReceipt> {
    this.#finished.add(judgment, this.#now());
    await this.#wakeAt(this.#now() + STORE_RETRY_MS);
    return this.#toKv(judgment);
  }

  /** What the alarm does. */
  async tidy(): Promise<void> {
    for (const judgment of await this.#finished.notInKv(RETRIES_PER_ALARM)) {
      const receipt = await this.#toKv(judgment);
      if (!receipt.ok) break;
    }
    const now = this.#now();
    const lost = this.#finished.purge(now - FINISHED_JUDGMENT_MS, now - MAX_UNSTORED_MS);
    if (lost > 0) console.error(JSON.stringify({ event: 'judgments_given_up', count: lost }));
    const { inKv, notInKv } = this.#finished.oldest();
    if (notInKv !== null) await this.#wakeAt(now + STORE_RETRY_MS);
    else if (inKv !== null) await this.#wakeAt(Math.max(inKv + FINISHED_JUDGMENT_MS, now + SOON_MS));
  }

  async #toKv(judgment: Judgment): Promise<StoreReceipt> {
    const receipt = await this.#kv.put(judgment);
    if (receipt.ok) this.#finished.markInKv(judgment.key);
    return receipt;
  }

  /** An object has one alarm: it is only ever moved forward. */
  async #wakeAt(time: number): Promise<void> {
    const set = await this.#alarms.getAlarm();
    if (set === null || set > time) await this.#alarms.setAlarm(time);
  }
}
