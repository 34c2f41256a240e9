/**
 * The judgments that one desk has just finished. A judgment counts as stored once SQLite has it; the alarm puts it into
 * KV, and the desk answers for it until KV shows it to everyone (a stale miss lasts up to 60 s). Nothing is dropped
 * before KV has it: above a backlog the desk refuses new work instead.
 *
 * The judgments of a partition are one KV value, because a write costs ten times as much as a read. The value is written
 * once: judgments that are finished later get values of their own, so no write can lose what an earlier one stored.
 */

import type { KvJudgmentStore } from '../../lib/kv-store.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import { checkRecord } from '../../src/judgments/record.ts';
import type { StoreReceipt } from '../../src/judgments/store.ts';
import { logEvent } from '../log-event.ts';
import { isolateCounts } from '../metrics/counts.ts';
import type { ConnectionGate } from './connection-gate.ts';
import type { FinishedTables, WaitingRecord, WaitingWrite } from './finished-tables.ts';
import { GATHER_MS, KvPace, MAX_KV_PUTS_OF_A_TURN, STORE_TOGETHER_MS, TURN_MS } from './store-limits.ts';

/** When the alarm tries again after KV has refused a write, or after a turn that failed. */
const RETRY_MS = 60_000;

type ReadableRecord = { readonly one: WaitingRecord; readonly record: string };

type Alarms = Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>;

type BridgeParts = {
  readonly tables: FinishedTables;
  readonly kv: Pick<KvJudgmentStore, 'putRecord' | 'putPartition'>;
  readonly gate: ConnectionGate;
  readonly alarms: Alarms;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
  readonly maxBacklog: number;
  /** Whether a call of the partition is running, whose judgment is worth waiting for. */
  readonly isRunning: (partition: string) => boolean;
};

export class BridgedJudgments {
  readonly #tables: FinishedTables;
  readonly #kv: BridgeParts['kv'];
  readonly #gate: ConnectionGate;
  readonly #alarms: Alarms;
  readonly #now: () => number;
  readonly #maxBacklog: number;
  readonly #isRunning: BridgeParts['isRunning'];
  readonly #pace = new KvPace();
  /** When the alarm wakes the desk, in milliseconds since 1970; `null` = it is not set, or not since the start. */
  #wakesAt: number | null = null;
  /** When the judgments are stored that wait now; `null` = none waits. */
  #storing: Promise<void> | null = null;

  constructor({ tables, kv, gate, alarms, now, maxBacklog, isRunning }: BridgeParts) {
    this.#tables = tables;
    this.#kv = kv;
    this.#gate = gate;
    this.#alarms = alarms;
    this.#now = now;
    this.#maxBacklog = maxBacklog;
    this.#isRunning = isRunning;
  }

  /** Whether so many judgments wait for KV that the desk must not make more. */
  get isFull(): boolean {
    return this.#tables.backlog >= this.#maxBacklog;
  }

  /** Judgments that wait for KV. */
  get backlog(): number {
    return this.#tables.backlog;
  }

  /** Finds a judgment that this desk has finished. A record of an unknown form counts as absent. */
  find(key: string): Judgment | null {
    const record = this.#tables.get(key);
    return record === null ? null : this.#read(key, record);
  }

  /** Whether the desk writes a value of the partition to KV, or has done so in the last minutes. */
  hasTogether(partition: string): boolean {
    return this.#tables.hasTogether(partition);
  }

  /**
   * Stores a judgment, with those that end in the next milliseconds: a transaction waits for the disk. The platform sends
   * a reply only after the row is safe, so a reply may say that it is stored.
   * @param isAlone KV may have a value of the judgment's partition, which this desk did not write. Asked when the row is
   * written.
   */
  async keep(judgment: Judgment, isAlone: () => boolean): Promise<void> {
    this.#storing ??= this.#nextTransaction();
    await this.#storing;
    const now = this.#now();
    this.#tables.add(judgment.key, JSON.stringify(judgment), now, isAlone() || judgment.preimage.v === 1);
    if (this.#wakesAt === null || this.#wakesAt > now + GATHER_MS) await this.#wakeAt(now + GATHER_MS);
  }

  /** All who wait for it go on in one turn of the event loop, whose rows are one transaction. */
  async #nextTransaction(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, STORE_TOGETHER_MS));
    this.#storing = null;
  }

  /** Sets the alarm. It is noted before the first await, so judgments that end together set it once. */
  #wakeAt(at: number): Promise<void> {
    this.#wakesAt = at;
    return this.#alarms.setAlarm(at);
  }

  /** The work of the alarm: puts what is new into KV and drops old tables. */
  async tidy(): Promise<void> {
    // Set before anything is read: the platform drops an alarm that keeps failing, and the desk would never wake.
    await this.#wakeAt(this.#now() + RETRY_MS);
    const drained = await this.#drain();
    const now = this.#now();
    const due = this.#tables.drop(now);
    if (drained === 'refused') return;
    // No await since the backlog was read: `keep` moves the alarm only earlier.
    if (drained === 'full_turn') return this.#wakeAt(now);
    if (this.#tables.backlog > 0) return this.#wakeAt(now + GATHER_MS);
    if (due !== null) return this.#wakeAt(due);
    this.#wakesAt = null;
    await this.#alarms.deleteAlarm();
  }

  /**
   * Puts the backlog into KV for one turn, and saves how far it came. `refused`: KV refused a write. `full_turn`: the
   * alarm may make no more writes.
   */
  async #drain(): Promise<'done' | 'refused' | 'full_turn'> {
    const end = this.#now() + TURN_MS;
    const waiting = this.#tables.waiting(this.#now, this.#isRunning);
    let outcome: 'done' | 'refused' | 'full_turn' = 'done';
    let begun = 0;
    /** The next write. Asked only if it is put now: a partition that was taken counts as tried. */
    const next = (): WaitingWrite | null => {
      if (outcome !== 'done' || this.#now() >= end) return null;
      if (running.size >= this.#pace.putsAtOnce(this.#tables.backlog)) return null;
      if (begun === MAX_KV_PUTS_OF_A_TURN) {
        outcome = 'full_turn';
        return null;
      }
      const { value } = waiting.next();
      if (value === undefined) return null;
      begun++;
      return value;
    };
    const running = new Set<Promise<void>>();
    const begin = (write: WaitingWrite): void => {
      const put = this.#toKv(write).then((stored) => {
        if (!stored) outcome = 'refused';
        running.delete(put);
      });
      running.add(put);
    };
    try {
      for (;;) {
        for (let write = next(); write !== null; write = next()) begin(write);
        if (running.size === 0) break;
        await Promise.race(running);
      }
    } finally {
      this.#tables.save();
    }
    return outcome;
  }

  async #toKv({ partition, records }: WaitingWrite): Promise<boolean> {
    const readable = records.flatMap((one) => this.#readable(one));
    if (readable.length === 0) return true;
    const leave = await this.#gate.enterAhead();
    const began = this.#now();
    try {
      const receipt = await this.#put(partition, readable);
      this.#pace.measured(this.#now() - began);
      isolateCounts.count('citeward_kv_writes', [receipt.ok ? 'ok' : 'failed']);
      if (receipt.ok) for (const { one } of readable) this.#tables.stored(one, this.#now());
      return receipt.ok;
    } finally {
      leave();
    }
  }

  async #put(partition: string | null, records: readonly ReadableRecord[]): Promise<StoreReceipt> {
    if (partition !== null)
      return this.#kv.putPartition(
        partition,
        records.map(({ record }) => record),
      );
    const [only] = records;
    if (only === undefined) throw new Error('BridgedJudgments: a write without a record');
    return this.#kv.putRecord(only.one.key, only.record);
  }

  /** Leaves a record alone that a later version of the Worker wrote. */
  #readable(one: WaitingRecord): ReadableRecord[] {
    const record = this.#tables.recordOf(one);
    if (one.isOwn || this.#read(one.key, record) !== null) return [{ one, record }];
    this.#tables.leave(one);
    return [];
  }

  /** Reads a record; `null` and an entry in the log if its form is unknown: a later version of the Worker wrote it. */
  #read(key: string, record: string): Judgment | null {
    const stored = checkRecord(key, record);
    if (stored.ok) return stored.judgment;
    const { detail } = stored.failure;
    logEvent('error', { event: 'stored_form_unknown', object: 'JudgeDesk', detail });
    return null;
  }
}
