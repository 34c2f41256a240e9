/**
 * The judgments that one desk has just finished. A judgment counts as stored once SQLite has it; the alarm puts it into
 * KV, and the desk answers for it until KV shows it to everyone (a stale miss lasts up to 60 s). Nothing is dropped
 * before KV has it: above a backlog the desk refuses new work instead.
 */

import type { Judgment } from '../../src/judgments/judgment.ts';
import { checkRecord } from '../../src/judgments/record.ts';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import { isolateCounts } from '../metrics/counts.ts';
import type { ConnectionGate } from './connection-gate.ts';
import type { FinishedTables, WaitingRecord } from './finished-tables.ts';
import { GATHER_MS, KV_PUTS_AT_ONCE } from './store-limits.ts';

/** When the alarm tries again after KV has refused a write, or after a turn that failed. */
const RETRY_MS = 60_000;
/** The longest turn of the alarm; its progress is then saved, and the next turn follows. */
const TURN_MS = 20_000;
type Alarms = Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm' | 'deleteAlarm'>;

type BridgeParts = {
  readonly tables: FinishedTables;
  readonly kv: JudgmentStore;
  readonly gate: ConnectionGate;
  readonly alarms: Alarms;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
  readonly maxBacklog: number;
};

export class BridgedJudgments {
  readonly #tables: FinishedTables;
  readonly #kv: JudgmentStore;
  readonly #gate: ConnectionGate;
  readonly #alarms: Alarms;
  readonly #now: () => number;
  readonly #maxBacklog: number;

  constructor({ tables, kv, gate, alarms, now, maxBacklog }: BridgeParts) {
    this.#tables = tables;
    this.#kv = kv;
    this.#gate = gate;
    this.#alarms = alarms;
    this.#now = now;
    this.#maxBacklog = maxBacklog;
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

  /** Stores a judgment. The platform sends a reply only after the row is safe, so a reply may say that it is stored. */
  async keep(judgment: Judgment): Promise<void> {
    const now = this.#now();
    this.#tables.add(judgment.key, JSON.stringify(judgment), now);
    const set = await this.#alarms.getAlarm();
    if (set === null || set > now + GATHER_MS) await this.#alarms.setAlarm(now + GATHER_MS);
  }

  /** The work of the alarm: puts what is new into KV and drops old tables. */
  async tidy(): Promise<void> {
    // Set before anything is read: the platform drops an alarm that keeps failing, and the desk would never wake.
    await this.#alarms.setAlarm(this.#now() + RETRY_MS);
    const drained = await this.#drain();
    const now = this.#now();
    const due = this.#tables.drop(now);
    if (!drained) return;
    // No await since the backlog was read: `keep` moves the alarm only earlier.
    if (this.#tables.backlog > 0) await this.#alarms.setAlarm(now + GATHER_MS);
    else if (due !== null) await this.#alarms.setAlarm(due);
    else await this.#alarms.deleteAlarm();
  }

  /** Puts the backlog into KV for one turn, and saves how far it came. Returns false if KV refused a write. */
  async #drain(): Promise<boolean> {
    const end = this.#now() + TURN_MS;
    // All workers share one iterator, so each judgment is taken once.
    const waiting = this.#tables.waiting();
    let refused = false;
    const work = async (): Promise<void> => {
      for (const one of waiting) {
        if (refused || this.#now() >= end) return;
        if (!(await this.#toKv(one))) refused = true;
      }
    };
    try {
      await Promise.all(Array.from({ length: KV_PUTS_AT_ONCE }, work));
    } finally {
      this.#tables.save();
    }
    return !refused;
  }

  async #toKv(one: WaitingRecord): Promise<boolean> {
    const judgment = this.#read(one.key, this.#tables.recordOf(one));
    if (judgment === null) {
      this.#tables.leave(one);
      return true;
    }
    const leave = await this.#gate.enterAhead();
    try {
      const receipt = await this.#kv.put(judgment);
      isolateCounts.count('citeward_kv_writes', [receipt.ok ? 'ok' : 'failed']);
      if (receipt.ok) this.#tables.stored(one, this.#now());
      return receipt.ok;
    } finally {
      leave();
    }
  }

  /** Reads a record; `null` and an entry in the log if its form is unknown: a later version of the Worker wrote it. */
  #read(key: string, record: string): Judgment | null {
    const stored = checkRecord(key, record);
    if (stored.ok) return stored.judgment;
    const { detail } = stored.failure;
    console.error(JSON.stringify({ event: 'stored_form_unknown', object: 'JudgeDesk', detail }));
    return null;
  }
}
