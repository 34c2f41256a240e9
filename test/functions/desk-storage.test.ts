/** What a desk has finished: its tables, the way to KV, and what happens when KV or the Worker's version changes. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { BudgetLeases } from '../../functions/desk/budget-leases.ts';
import { ConnectionGate } from '../../functions/desk/connection-gate.ts';
import { DeskCalls } from '../../functions/desk/desk-calls.ts';
import type { DeskLayout } from '../../functions/desk/desk-layout.ts';
import { type EarlierLayout, VERSION_SKEW } from '../../functions/desk/desk-messages.ts';
import { EARLIER_OWNERS_MS, EarlierOwners, LayoutHistory, Succession } from '../../functions/desk/earlier-layouts.ts';
import { BridgedJudgments } from '../../functions/desk/finished-judgments.ts';
import { FinishedTables } from '../../functions/desk/finished-tables.ts';
import { JudgeLanes } from '../../functions/desk/judge-lanes.ts';
import { MAX_BACKLOG, WAIT_FOR_OTHERS_MS } from '../../functions/desk/store-limits.ts';
import { NO_BUDGETS } from '../../functions/projects/budgets.ts';
import { ProjectTable } from '../../functions/projects/project-table.ts';
import { createKvJudgmentStore, createRecentJudgments, type KvJudgmentStore } from '../../lib/kv-store.ts';
import { PromptMemory } from '../../service/desk/capacity.ts';
import { FailureMemory } from '../../service/desk/failure-memory.ts';
import { createKnownIssuers } from '../../src/judgments/issuer.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import { judgmentKey, partitionOf } from '../../src/judgments/key.ts';
import { sampleJudgment } from '../contract/judgment-store.case.ts';
import { StaleKv } from '../contract/stale-kv.ts';
import { COUNTING, counting, countingBackends, lexically, resetCounting } from './desk-judge.ts';
import '../unit/seeded-random.ts';

const MINUTE_MS = 60_000;

/** A desk's storage under a clock that the test sets, which starts at the beginning of a table's five minutes. */
type Bench = {
  readonly clock: { ms: number };
  readonly alarm: { at: number | null };
  readonly kv: StaleKv;
  readonly sql: SqlStorage;
  readonly memory: DurableObjectStorage['kv'];
  /** Partitions of running calls. */
  readonly running: Set<string>;
  /** Loads the storage again, as after a restart. */
  readonly open: (maxBacklog?: number) => BridgedJudgments;
};

const PLACE = { desk: 0, layout: { desks: 1, few: {} } };
/** A desk that no other layout came before. */
const LONE_DESK = {
  find: async () => ({ judgments: [], held: [], failure: null }),
  earlierLayouts: async () => ({ earlier: [], failure: null }),
};

let benches = 0;

async function onBench(work: (bench: Bench) => Promise<void>, store?: (kv: KvJudgmentStore) => KvJudgmentStore) {
  await runInDurableObject(env.JUDGE_DESK.getByName(`bench-${benches++}`), async (_desk, { storage }) => {
    const clock = { ms: 300 * MINUTE_MS };
    const alarm: Bench['alarm'] = { at: null };
    const alarms = {
      getAlarm: async () => alarm.at,
      setAlarm: async (at: number | Date) => {
        alarm.at = Number(at);
      },
      deleteAlarm: async () => {
        alarm.at = null;
      },
    };
    const kv = new StaleKv();
    const running = new Set<string>();
    const own = createKvJudgmentStore(kv, createRecentJudgments({ entries: 0, chars: 0 }));
    const open: Bench['open'] = (maxBacklog = MAX_BACKLOG) =>
      new BridgedJudgments({
        tables: new FinishedTables(storage.sql),
        kv: store === undefined ? own : store(own),
        gate: new ConnectionGate(5),
        alarms,
        now: () => clock.ms,
        maxBacklog,
        isRunning: (partition) => running.has(partition),
      });
    await work({ clock, alarm, kv, sql: storage.sql, memory: storage.kv, running, open });
  });
}

function tablesIn(sql: SqlStorage): string[] {
  return tablesNamed(sql, 'finished_v3_%');
}

function tablesNamed(sql: SqlStorage, pattern: string): string[] {
  return sql
    .exec<{ name: string }>('SELECT name FROM sqlite_master WHERE name LIKE ? ORDER BY name', pattern)
    .toArray()
    .map(({ name }) => name);
}

function samples(count: number): Promise<Judgment[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => sampleJudgment(number)));
}

/** At least two judgments of one answer. */
async function ofOneAnswer(count: number): Promise<[Judgment, Judgment, ...Judgment[]]> {
  const [sample] = await samples(1);
  if (sample === undefined) throw new Error('no samples');
  const of = (criteria: number): Judgment => {
    const inputs = { ...sample.preimage.inputs, criteria: String(criteria).padStart(64, '0') };
    const preimage = { ...sample.preimage, inputs };
    return { ...sample, preimage, key: judgmentKey(preimage) };
  };
  return [of(0), of(1), ...Array.from({ length: count - 2 }, (_, n) => of(n + 2))];
}

/** The name of a judgment in KV that is stored with its partition. */
function together({ key }: Pick<Judgment, 'key'>): string {
  return `j:v2:${key.slice(0, 16)}`;
}

/** The name of a judgment in KV that is stored on its own. */
function alone({ key }: Pick<Judgment, 'key'>): string {
  return `j:v1:${key}`;
}

/** Writes a record as a later version of the Worker would. */
function fromTheFuture(sql: SqlStorage, table: string, key: string): string {
  const record = JSON.stringify({ v: 3, key, says: 'something new' });
  sql.exec(`UPDATE ${table} SET record = ? WHERE key = ?`, record, key);
  return record;
}

beforeEach(resetCounting);

describe('a finished judgment', () => {
  it('is stored in one transaction with those that end in the same milliseconds', async () => {
    await onBench(async ({ sql, open }) => {
      const bridged = open();
      const rows = (): number => tablesIn(sql).flatMap((name) => sql.exec(`SELECT key FROM ${name}`).toArray()).length;
      const [first, second, third] = await samples(3);
      if (first === undefined || second === undefined || third === undefined) throw new Error('too few samples');
      const kept = [bridged.keep(first, () => false), bridged.keep(second, () => false)];
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(rows()).toBe(0);
      const seen = Promise.race([...kept, bridged.keep(third, () => false)]).then(rows);
      expect(await seen).toBe(3);
      await Promise.all(kept);
    });
  });

  it('goes alone if that turns out while it waits for its transaction', async () => {
    await onBench(async ({ clock, kv, open }) => {
      const bridged = open();
      const [judgment] = await samples(1);
      if (judgment === undefined) throw new Error('no samples');
      let isAlone = false;
      const kept = bridged.keep(judgment, () => isAlone);
      isAlone = true;
      await kept;
      clock.ms += 2_000;
      await bridged.tidy();
      expect([...kv.values.keys()]).toEqual([alone(judgment)]);
    });
  });

  it('goes to KV in the next turn of the alarm, and is dropped with its table ten minutes later', async () => {
    await onBench(async ({ clock, alarm, kv, sql, open }) => {
      const bridged = open();
      const [first, second] = await samples(2);
      if (first === undefined || second === undefined) throw new Error('no samples');
      await bridged.keep(first, () => false);
      await bridged.keep(second, () => false);
      expect([kv.puts, alarm.at]).toEqual([[], clock.ms + 2_000]);
      expect(bridged.find(second.key)).toEqual(second);
      await bridged.tidy();
      expect(kv.puts).toEqual([together(first), together(second)]);
      expect(alarm.at).toBe(clock.ms + 10 * MINUTE_MS);
      expect(tablesIn(sql)).toHaveLength(1);

      clock.ms += 10 * MINUTE_MS - 1;
      await bridged.tidy();
      expect(bridged.find(first.key)).toEqual(first);
      clock.ms++;
      await bridged.tidy();
      expect([bridged.find(first.key), tablesIn(sql), alarm.at]).toEqual([null, [], null]);
      expect(kv.puts).toHaveLength(2);
    });
  });

  it('is never dropped before KV has it, however long KV takes no writes', async () => {
    await onBench(async ({ clock, alarm, kv, open }) => {
      const bridged = open();
      const judgment = await sampleJudgment(1);
      kv.refusesWrites = true;
      await bridged.keep(judgment, () => false);
      for (let day = 0; day < 3; day++) {
        clock.ms += 24 * 60 * MINUTE_MS;
        await bridged.tidy();
        expect(bridged.find(judgment.key)).toEqual(judgment);
        expect(alarm.at).toBe(clock.ms + MINUTE_MS);
      }
      kv.refusesWrites = false;
      await bridged.tidy();
      expect(kv.puts).toEqual([alone(judgment)]);
    });
  });

  it('is put once, whatever restarts in between; what KV lacks is known after a restart', async () => {
    await onBench(async ({ clock, kv, sql, open }) => {
      const all = await samples(6);
      for (const [position, judgment] of all.entries()) {
        const bridged = open();
        await bridged.keep(judgment, () => false);
        // Each table gets two; every other restart comes before the alarm.
        if (position % 2 === 1) clock.ms += 5 * MINUTE_MS;
        if (position % 3 !== 0) await open().tidy();
      }
      await open().tidy();
      expect(kv.puts.toSorted()).toEqual(all.map(together).toSorted());
      expect(tablesIn(sql)).toHaveLength(2);
      for (const { key } of all.slice(2)) expect(open().find(key)).not.toBeNull();
    });
  });

  /** A KV whose writes take some time of the bench's clock. `writes`: how many began at a time, at most. */
  const lasting = (ms: number, clockOf: () => Bench['clock'], writes: { running: number; peak: number }) => {
    return (own: KvJudgmentStore): KvJudgmentStore => ({
      ...own,
      async putPartition(partition, records) {
        const end = clockOf().ms + ms;
        writes.peak = Math.max(writes.peak, ++writes.running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        clockOf().ms = Math.max(clockOf().ms, end);
        writes.running--;
        return own.putPartition(partition, records);
      },
    });
  };

  it.each([
    [20, 1],
    [200, 2],
    [1_000, 4],
  ])('goes to KV with as many writes at a time as writes of %i ms need, four at most', async (ms, peak) => {
    let clock: Bench['clock'] = { ms: 0 };
    const writes = { running: 0, peak: 0 };
    await onBench(
      async (bench) => {
        ({ clock } = bench);
        const bridged = bench.open();
        const all = await samples(20);
        await Promise.all(all.map((judgment) => bridged.keep(judgment, () => false)));
        for (let turns = 0; bridged.backlog > 0; turns++) {
          expect(turns).toBeLessThan(3);
          await bridged.tidy();
        }
        expect(bench.kv.puts.toSorted()).toEqual(all.map(together).toSorted());
        expect(writes.peak).toBe(peak);
      },
      lasting(ms, () => clock, writes),
    );
  });

  it('goes to KV in a later turn where one alarm would make more operations than the platform allows', async () => {
    await onBench(async ({ clock, alarm, kv, open }) => {
      const bridged = open();
      const all = await samples(1_200);
      await Promise.all(all.map((judgment) => bridged.keep(judgment, () => false)));
      await bridged.tidy();
      expect(kv.puts.length).toBeGreaterThan(800);
      expect(kv.puts.length).toBeLessThan(1_000);
      expect(alarm.at).toBe(clock.ms);
      await bridged.tidy();
      expect(kv.puts.toSorted()).toEqual(all.map(together).toSorted());
    });
  });
});

const EVENTS = ['ask', 'finish', 'write', 'restart', 'changeKv', 'wait', 'call'] as const;
type Event = (typeof EVENTS)[number];

describe('the judgments of one answer', () => {
  /** What KV has, by name: the positions of the judgments in `all`. */
  const contents = (kv: StaleKv, all: readonly Judgment[]) =>
    Object.fromEntries(
      [...kv.values].map(([name, text]) => [
        name,
        all.flatMap((one, position) => (text.includes(one.key) ? [position] : [])),
      ]),
    );
  const store = (kv: StaleKv) => createKvJudgmentStore(kv, createRecentJudgments({ entries: 0, chars: 0 }));

  it('are one value, also across tables and with a running call that ends within a minute', async () => {
    await onBench(async ({ clock, alarm, kv, running, open }) => {
      const [first, second] = await ofOneAnswer(2);
      const bridged = open();
      clock.ms += 5 * MINUTE_MS - 1;
      await bridged.keep(first, () => false);
      running.add(partitionOf(first.key));
      await bridged.tidy();
      expect([kv.puts, alarm.at]).toEqual([[], clock.ms + 2_000]);
      clock.ms += WAIT_FOR_OTHERS_MS - 1;
      await bridged.tidy();
      expect(kv.puts).toEqual([]);
      await bridged.keep(second, () => false);
      running.clear();
      await bridged.tidy();
      expect(contents(kv, [first, second])).toEqual({ [together(first)]: [0, 1] });
      const { found } = await store(kv).getOfDesks([first.key, second.key]);
      expect([...found]).toEqual([first, second].map((judgment) => [judgment.key, { ok: true, judgment }]));
    });
  });

  it('do not wait for a call that takes longer; what it returns is a value of its own', async () => {
    await onBench(async ({ clock, kv, running, open }) => {
      const [first, second] = await ofOneAnswer(2);
      const bridged = open();
      await bridged.keep(first, () => false);
      running.add(partitionOf(first.key));
      clock.ms += WAIT_FOR_OTHERS_MS;
      await bridged.tidy();
      clock.ms += MINUTE_MS;
      await bridged.keep(second, () => false);
      running.clear();
      await bridged.tidy();
      expect(contents(kv, [first, second])).toEqual({ [together(first)]: [0], [alone(second)]: [1] });
      const keys = [first.key, second.key];
      for (const read of [await store(kv).getOfDesks(keys), await store(kv).lookUp(keys)]) {
        expect([...read.found.values()].map(({ ok }) => ok)).toEqual([true, true]);
      }
    });
  });

  it('are not replaced by one that KV took long after the first', async () => {
    await onBench(async ({ clock, kv, open }) => {
      const [first, second] = await ofOneAnswer(2);
      const bridged = open();
      await bridged.keep(first, () => false);
      await bridged.tidy();
      clock.ms += 9 * MINUTE_MS;
      // Its caller read KV eight minutes ago, and a stale miss lasts another minute.
      await bridged.keep(second, () => false);
      kv.refusesWrites = true;
      clock.ms += 2 * MINUTE_MS;
      await bridged.tidy();
      kv.refusesWrites = false;
      await bridged.tidy();
      expect(contents(kv, [first, second])).toEqual({ [together(first)]: [0], [alone(second)]: [1] });
      clock.ms += 10 * MINUTE_MS;
      await bridged.tidy();
      expect(bridged.find(first.key)).toBeNull();
    });
  });

  it('are not replaced by one that ended while KV took the first, and that KV took much later', async () => {
    await onBench(async ({ clock, kv, open }) => {
      const [first, second] = await ofOneAnswer(2);
      const bridged = open();
      await bridged.keep(first, () => false);
      kv.holdsWrites();
      const turn = bridged.tidy();
      await vi.waitFor(() => expect(kv.writesWaiting).toBe(1), 20_000);
      clock.ms += 5 * MINUTE_MS;
      await bridged.keep(second, () => false);
      kv.lets();
      kv.refusesWrites = false;
      await turn;
      kv.refusesWrites = true;
      clock.ms += 20 * MINUTE_MS;
      await bridged.tidy();
      kv.refusesWrites = false;
      await bridged.tidy();
      expect(contents(kv, [first, second])).toEqual({ [together(first)]: [0], [alone(second)]: [1] });
    });
  });

  it('are written again as they were if a write fails, because KV may take the first attempt later', async () => {
    await onBench(async ({ kv, open }) => {
      const [first, second] = await ofOneAnswer(2);
      const bridged = open();
      await bridged.keep(first, () => false);
      kv.losesReceipts = true;
      await bridged.tidy();
      kv.losesReceipts = false;
      await bridged.keep(second, () => false);
      await bridged.tidy();
      await bridged.tidy();
      expect(kv.puts).toEqual([together(first), together(first), alone(second)]);
      expect(contents(kv, [first, second])).toEqual({ [together(first)]: [0], [alone(second)]: [1] });
    });
  });

  it('are at most 64 in a value; further ones take a read of their partition each turn, not each', async () => {
    await onBench(async ({ kv, sql, open }) => {
      const all = await ofOneAnswer(300);
      let reads = 0;
      const exec = sql.exec.bind(sql);
      sql.exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
        if (query.includes('key > ?')) reads++;
        return exec<T>(query, ...bindings);
      };
      const bridged = open();
      for (const judgment of all) await bridged.keep(judgment, () => false);
      await bridged.tidy();
      await bridged.tidy();
      expect([kv.puts.length, reads]).toEqual([1 + (300 - 64), 2]);
      const { found } = await store(kv).lookUp(all.map(({ key }) => key));
      expect([...found.values()].filter(({ ok }) => ok)).toHaveLength(300);
    });
  });

  it('are never replaced by fewer: the desk or KV has each one, in any order of events', async () => {
    const history = fc.array(fc.tuple(fc.constantFrom(...EVENTS), fc.nat(3)), { minLength: 10, maxLength: 60 });
    const check = async (steps: readonly (readonly [Event, number])[]): Promise<void> => {
      await onBench(async ({ clock, kv, running, open }) => {
        const all = await ofOneAnswer(5);
        const [{ key }] = all;
        const unread = [...all];
        const judging: { readonly judgment: Judgment; readonly isWritten: boolean; readonly at_ms: number }[] = [];
        const finished: Judgment[] = [];
        let bridged = open();
        let turn = Promise.resolve();
        /** The alarm runs one turn at a time. */
        const ended = async (): Promise<void> => {
          kv.lets();
          await turn;
        };
        const events: Record<Event, (choice: number) => Promise<void>> = {
          async ask() {
            const judgment = unread.shift();
            if (judgment === undefined) return;
            const { missed } = await store(kv).getOfDesks([judgment.key]);
            judging.push({ judgment, isWritten: missed.get(judgment.key) !== 'partition', at_ms: clock.ms });
          },
          async finish() {
            const call = judging.shift();
            if (call === undefined) return;
            // As in desk-calls.ts.
            await bridged.keep(call.judgment, () => call.isWritten || clock.ms - call.at_ms > 8 * MINUTE_MS);
            finished.push(call.judgment);
          },
          async write(choice) {
            await ended();
            if (choice === 0) kv.holdsWrites();
            turn = bridged.tidy();
            // Until the turn has read what it writes.
            if (choice === 0) await new Promise((resolve) => setTimeout(resolve, 0));
            else await turn;
          },
          async restart() {
            await ended();
            bridged = open();
          },
          async changeKv(choice) {
            kv.refusesWrites = choice === 1;
            kv.losesReceipts = choice === 2;
          },
          async wait(choice) {
            clock.ms += [1_000, 90_000, 7 * MINUTE_MS, 11 * MINUTE_MS][choice] ?? 0;
            kv.now = clock.ms;
          },
          async call() {
            if (!running.delete(partitionOf(key))) running.add(partitionOf(key));
          },
        };
        const expectAll = (): void =>
          expect(finished.filter((one) => bridged.find(one.key) === null && !kv.has(one.key))).toEqual([]);
        for (const [event, choice] of steps) {
          await events[event](choice);
          expectAll();
        }
        // Until the desk has dropped its tables.
        await events.changeKv(0);
        running.clear();
        for (let turns = 0; turns < 3; turns++) {
          await events.write(1);
          await events.wait(3);
          expectAll();
        }
        expect(bridged.find(key)).toBeNull();
      });
    };
    await fc.assert(fc.asyncProperty(history, check), { numRuns: inject('triesAllRows') ? 500 : 50 });
  });
});

describe('what an earlier version has left', () => {
  it('goes to KV, each judgment alone, and its tables are dropped', async () => {
    await onBench(async ({ clock, kv, sql, open }) => {
      const [old, waiting] = await ofOneAnswer(2);
      const period = clock.ms / (5 * MINUTE_MS);
      sql.exec('CREATE TABLE finished_tables_v2 (period INTEGER PRIMARY KEY, in_kv INTEGER, in_kv_ms INTEGER)');
      sql.exec('INSERT INTO finished_tables_v2 VALUES (?, 1, 0)', period);
      sql.exec(`CREATE TABLE finished_v2_${period} (key TEXT PRIMARY KEY, n INTEGER, record TEXT) WITHOUT ROWID`);
      for (const [position, one] of [old, waiting].entries())
        sql.exec(`INSERT INTO finished_v2_${period} VALUES (?, ?, ?)`, one.key, position + 1, JSON.stringify(one));
      const bridged = open();
      expect(bridged.find(waiting.key)).toEqual(waiting);
      await bridged.tidy();
      expect(kv.puts).toEqual([alone(waiting)]);
      expect(tablesNamed(sql, '%_v2%')).toEqual([]);
    });
  });
});

describe('a record of a later version', () => {
  it('is left alone and counts as absent; the others go to KV, and only its table stays', async () => {
    await onBench(async ({ clock, alarm, kv, sql, open }) => {
      const all = await samples(3);
      const [strange, ...others] = all;
      if (strange === undefined) throw new Error('no samples');
      const before = open();
      for (const judgment of all) await before.keep(judgment, () => false);
      const [table = ''] = tablesIn(sql);
      const record = fromTheFuture(sql, table, strange.key);

      const bridged = open();
      clock.ms += 5 * MINUTE_MS;
      const later = await sampleJudgment(9);
      await bridged.keep(later, () => false);
      await bridged.tidy();
      expect(kv.puts).toEqual([...others, later].map(together));
      expect(bridged.find(strange.key)).toBeNull();
      clock.ms += 60 * MINUTE_MS;
      await open().tidy();
      expect(tablesIn(sql)).toEqual([table]);
      expect(sql.exec<{ record: string }>(`SELECT record FROM ${table} WHERE key = ?`, strange.key).one()).toEqual({
        record,
      });
      expect(alarm.at).toBeNull();
      // The version that wrote it is deployed again.
      sql.exec(`UPDATE ${table} SET record = ? WHERE key = ?`, JSON.stringify(strange), strange.key);
      const forward = open();
      await forward.tidy();
      expect(kv.puts).toContain(alone(strange));
    });
  });

  it('does not stop the alarm, which is set again before anything is read', async () => {
    const stub = env.JUDGE_DESK.getByName('desk-that-cannot-read');
    await runInDurableObject(stub, async (_desk, { storage }) => {
      // A table of this version without the column that it reads.
      storage.sql.exec('CREATE TABLE finished_v3_1 (key TEXT PRIMARY KEY, n INTEGER, alone INTEGER) WITHOUT ROWID');
      storage.sql.exec("INSERT INTO finished_v3_1 VALUES ('k', 1, 1)");
      storage.sql.exec('INSERT INTO finished_tables_v3 VALUES (1, 0, 0)');
      const bridged = new BridgedJudgments({
        tables: new FinishedTables(storage.sql),
        kv: createKvJudgmentStore(new StaleKv(), createRecentJudgments({ entries: 0, chars: 0 })),
        gate: new ConnectionGate(5),
        alarms: storage,
        now: () => Date.now(),
        maxBacklog: MAX_BACKLOG,
        isRunning: () => false,
      });
      await expect(bridged.tidy()).rejects.toThrow('no such column');
      expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
      await storage.deleteAll();
    });
    await runDurableObjectAlarm(stub);
  });
});

describe('above its backlog', () => {
  it('a desk takes no new work and still answers with what it has; once KV takes writes, it goes on', async () => {
    await onBench(async ({ kv, memory, open }) => {
      kv.refusesWrites = true;
      const bridged = open(2);
      const calls = callsOf(bridged, kv, memory, () => 0);
      const [first, second, third] = await samples(3);
      if (first === undefined || second === undefined || third === undefined) throw new Error('no samples');
      expect([await calls.import(first, PLACE), await calls.import(second, PLACE)]).toEqual(['imported', 'imported']);
      const refused = { reason: 'judge_capacity', retryable: true, retry_after_s: 30 };
      expect(await calls.import(third, PLACE)).toMatchObject({ failure: refused });
      const call = callOf(third);
      const payer = { project: 'default', budgets: NO_BUDGETS };
      expect(await calls.judge({ ...call, payer }, PLACE)).toMatchObject({ ok: false, failure: refused });
      expect(await calls.judge({ ...callOf(second), payer }, PLACE)).toMatchObject({
        ok: true,
        cached: true,
        stored: true,
      });
      expect(counting.calls).toEqual([]);
      kv.refusesWrites = false;
      await bridged.tidy();
      expect(await calls.import(third, PLACE)).toBe('imported');
    });
  });
});

describe('a call that takes longer than a miss of KV is good for', () => {
  it('reads KV again: its judgment goes with its partition if KV still has no value of it, else alone', async () => {
    for (const isWritten of [false, true]) {
      await onBench(async ({ clock, kv, memory, open }) => {
        const [judgment] = await samples(1);
        if (judgment === undefined) throw new Error('no samples');
        const bridged = open();
        const calls = callsOf(bridged, kv, memory, () => clock.ms);
        const call = { ...callOf(judgment), missed: 'partition' } as const;
        counting.answer = async (request) => {
          clock.ms += 9 * MINUTE_MS;
          if (isWritten) kv.values.set(together(call), '{"v":1,"judgments":[]}');
          return lexically(request);
        };
        const payer = { project: 'default', budgets: NO_BUDGETS };
        expect(await calls.judge({ ...call, payer }, PLACE)).toMatchObject({ ok: true, cached: false });
        await bridged.tidy();
        expect(kv.puts).toEqual([isWritten ? alone(call) : together(call)]);
      });
    }
  });
});

describe('two layouts', () => {
  const four = { desks: 4, few: {} };
  const eight = { desks: 8, few: {} };

  it('have one writer of a partition: after one owner has asked, calls of the other that did not ask later go alone', async () => {
    await onBench(async ({ memory }) => {
      const old = new Succession(memory);
      const isSucceeded = (succession: Succession, layouts: readonly DeskLayout[], at_ms: number, now: number) =>
        succession.isSucceeded(four, { layouts, at_ms }, now);
      expect(isSucceeded(old, [], 0, 0)).toBe(false);
      old.note(eight, 10);
      // A call that began before, one that did not ask, and one that asked later.
      expect(isSucceeded(old, [eight], 10, 20)).toBe(true);
      expect(isSucceeded(old, [], 15, 20)).toBe(true);
      expect(isSucceeded(old, [eight], 11, 20)).toBe(false);
      expect(old.isSucceeded(eight, { layouts: [], at_ms: 0 }, 20)).toBe(false);
      // A layout that keeps asking counts on, also after a restart.
      for (let minute = 1; minute <= 60; minute++) old.note(eight, minute * MINUTE_MS);
      for (const one of [old, new Succession(memory)]) {
        expect(isSucceeded(one, [], 0, EARLIER_OWNERS_MS + 60 * MINUTE_MS)).toBe(true);
        expect(isSucceeded(one, [], 0, EARLIER_OWNERS_MS + 66 * MINUTE_MS)).toBe(false);
      }
    });
  });

  it('leave the partition of a running call to the owner that asks meanwhile', async () => {
    await onBench(async ({ clock, kv, memory, open }) => {
      const [first, second] = await samples(2);
      if (first === undefined || second === undefined) throw new Error('no samples');
      const bridged = open();
      const succession = new Succession(memory);
      const calls = callsOf(bridged, kv, memory, () => clock.ms, succession);
      const payer = { project: 'default', budgets: NO_BUDGETS };
      const judge = (judgment: Judgment) =>
        calls.judge({ ...callOf(judgment), missed: 'partition', payer }, { desk: 0, layout: four });
      await judge(first);
      counting.answer = async (request) => {
        succession.note(eight, clock.ms);
        return lexically(request);
      };
      await judge(second);
      await bridged.tidy();
      expect(kv.puts).toEqual([together(first), alone(second)]);
    });
  });

  it('are asked about once a minute, and the answer before counts if desk 0 does not answer', async () => {
    let now = 0;
    const asked: number[] = [];
    let earlier: EarlierLayout[] = [];
    let isAway = false;
    const desk0 = {
      ...LONE_DESK,
      earlierLayouts: async () => {
        asked.push(now);
        if (isAway) throw Object.assign(new Error('away'), { retryable: true });
        return { earlier, failure: null };
      },
    };
    const owners = new EarlierOwners({ deskOf: () => desk0, now: () => now });
    const layouts = async () => {
      const found = await owners.find({ desk: 7, layout: eight }, ['0'.repeat(64)], null, { wait: true });
      return found.ok ? found.value.asked.layouts : found.error.reason;
    };
    expect(await layouts()).toEqual([]);
    earlier = [{ layout: four, until_ms: 10 * MINUTE_MS }];
    now = MINUTE_MS - 1;
    expect(await layouts()).toEqual([]);
    now = MINUTE_MS;
    expect(await layouts()).toEqual([four]);
    isAway = true;
    now = 2 * MINUTE_MS;
    expect(await layouts()).toEqual([four]);
    expect(asked).toEqual([0, MINUTE_MS, 2 * MINUTE_MS]);
  });

  it('of two versions of the Worker are not taken for desks that have nothing', async () => {
    const earlierLayouts = async () => ({ earlier: [{ layout: four, until_ms: 1 }], failure: null });
    const find = async () => ({ judgments: [], held: [], failure: VERSION_SKEW });
    const owners = new EarlierOwners({ deskOf: () => ({ find, earlierLayouts }), now: () => 0 });
    const found = await owners.find({ desk: 7, layout: eight }, ['0'.repeat(64)], null, { wait: true });
    expect(found).toEqual({ ok: false, error: VERSION_SKEW });
    const skewed = new EarlierOwners({
      deskOf: () => ({ find, earlierLayouts: async () => ({ earlier: [], failure: VERSION_SKEW }) }),
      now: () => 0,
    });
    expect(await skewed.find({ desk: 7, layout: eight }, ['0'], null, { wait: true })).toMatchObject({ ok: false });
  });
});

describe('the order of layouts', () => {
  const four = { desks: 4, few: {} };
  const eight = { desks: 8, few: { small: 2 } };

  it('names the layouts that others replaced in the last minutes, also after a way back', async () => {
    await onBench(async ({ sql }) => {
      const history = new LayoutHistory(sql);
      expect(history.earlierThan(four, 0)).toEqual([]);
      expect(history.earlierThan(four, 50 * MINUTE_MS)).toEqual([]);
      const changed = 60 * MINUTE_MS;
      const until_ms = changed + EARLIER_OWNERS_MS;
      expect(history.earlierThan(eight, changed)).toEqual([{ layout: four, until_ms }]);
      expect(new LayoutHistory(sql).earlierThan(eight, until_ms - 1)).toEqual([{ layout: four, until_ms }]);
      expect(history.earlierThan(four, until_ms - 1)).toEqual([
        { layout: eight, until_ms: until_ms - 1 + EARLIER_OWNERS_MS },
      ]);
      expect(history.earlierThan(four, until_ms + EARLIER_OWNERS_MS)).toEqual([]);
    });
  });

  it('leaves out what a later version wrote, and goes on', async () => {
    await onBench(async ({ sql }) => {
      const history = new LayoutHistory(sql);
      sql.exec('INSERT INTO layouts_v1 VALUES (1, \'{"rings":2}\', 0)');
      expect(history.earlierThan(eight, 1)).toEqual([]);
    });
  });
});

/** The calls of a desk that no other layout came before. */
function callsOf(
  bridged: BridgedJudgments,
  kv: StaleKv,
  memory: DurableObjectStorage['kv'],
  now: () => number,
  succession = new Succession(memory),
) {
  return new DeskCalls({
    lanes: new JudgeLanes(countingBackends(), PLACE, now),
    failures: new FailureMemory({ ms: 5_000, entries: 10 }, now),
    memory: new PromptMemory({ bytes: 1_000_000, liveReserve: 1 / 4, leaseMs: 1_000 }, now),
    gate: new ConnectionGate(5),
    bridged,
    budgets: new BudgetLeases({ table: new ProjectTable(env.DB), now }),
    earlier: new EarlierOwners({ deskOf: () => LONE_DESK, now }),
    succession,
    kv: createKvJudgmentStore(kv, createRecentJudgments({ entries: 0, chars: 0 })),
    signing: { issuer: null, known: createKnownIssuers([]) },
    keepAlive: () => undefined,
    now,
  });
}

function callOf({ key, preimage }: Judgment) {
  const request = { kind: 'rubric', question: 'q', sources: [], criteria: [], answer: 'a' } as const;
  const identity = countingBackends().named[0]?.judge.identityFor('rubric');
  if (identity === undefined) throw new Error('no judge');
  return {
    judge: COUNTING,
    key,
    preimage: { ...preimage, judge: identity },
    request,
    class: 'live',
    deadline_ms: 10_000,
  } as const;
}
