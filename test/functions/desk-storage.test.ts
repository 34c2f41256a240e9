/** What a desk has finished: its tables, the way to KV, and what happens when KV or the Worker's version changes. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { BudgetLeases } from '../../functions/desk/budget-leases.ts';
import { PromptMemory } from '../../functions/desk/capacity.ts';
import { ConnectionGate } from '../../functions/desk/connection-gate.ts';
import { DeskCalls } from '../../functions/desk/desk-calls.ts';
import { EarlierOwners, LayoutHistory, Succession } from '../../functions/desk/earlier-layouts.ts';
import { FailureMemory } from '../../functions/desk/failure-memory.ts';
import { BridgedJudgments } from '../../functions/desk/finished-judgments.ts';
import { FinishedTables } from '../../functions/desk/finished-tables.ts';
import { lanesOf } from '../../functions/desk/judge-lanes.ts';
import { MAX_BACKLOG } from '../../functions/desk/store-limits.ts';
import { NO_BUDGETS } from '../../functions/projects/budgets.ts';
import { ProjectTable } from '../../functions/projects/project-table.ts';
import { createKvJudgmentStore, createRecentJudgments, type KvJudgmentStore } from '../../lib/kv-store.ts';
import { createKnownIssuers } from '../../src/judgments/issuer.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import { judgmentKey, partitionOf } from '../../src/judgments/key.ts';
import { sampleJudgment } from '../contract/judgment-store.case.ts';
import { StaleKv } from '../contract/stale-kv.ts';
import { COUNTING, counting, countingBackends, resetCounting } from './desk-judge.ts';

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
  earlierLayouts: async () => ({ earlier: [] }),
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
  return sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name LIKE 'finished_v2_%' ORDER BY name")
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
    const inputs = { ...sample.preimage.inputs, criteria: String(criteria).repeat(64) };
    const preimage = { ...sample.preimage, inputs };
    return { ...sample, preimage, key: judgmentKey(preimage) };
  };
  return [of(0), of(1), ...Array.from({ length: count - 2 }, (_, n) => of(n + 2))];
}

/** The name of a judgment in KV that is stored with its partition. */
function together({ key }: Judgment): string {
  return `j:v2:${key.slice(0, 16)}`;
}

/** The name of a judgment in KV that is stored on its own. */
function alone({ key }: Judgment): string {
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
  it('goes to KV in the next turn of the alarm, and is dropped with its table ten minutes later', async () => {
    await onBench(async ({ clock, alarm, kv, sql, open }) => {
      const bridged = open();
      const [first, second] = await samples(2);
      if (first === undefined || second === undefined) throw new Error('no samples');
      await bridged.keep(first, false);
      await bridged.keep(second, false);
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
      await bridged.keep(judgment, false);
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
        await bridged.keep(judgment, false);
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

  it('goes to KV with three writes at a time', async () => {
    let peak = 0;
    let running = 0;
    const slowly = (own: KvJudgmentStore): KvJudgmentStore => ({
      ...own,
      async putPartition(partition, records) {
        peak = Math.max(peak, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        return own.putPartition(partition, records);
      },
    });
    await onBench(async ({ kv, open }) => {
      const bridged = open();
      for (const judgment of await samples(10)) await bridged.keep(judgment, false);
      await bridged.tidy();
      expect([kv.puts.length, peak]).toEqual([10, 3]);
    }, slowly);
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
      await bridged.keep(first, false);
      running.add(partitionOf(first.key));
      await bridged.tidy();
      expect([kv.puts, alarm.at]).toEqual([[], clock.ms + 2_000]);
      clock.ms += 59_999;
      await bridged.tidy();
      expect(kv.puts).toEqual([]);
      await bridged.keep(second, false);
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
      await bridged.keep(first, false);
      running.add(partitionOf(first.key));
      clock.ms += 60_000;
      await bridged.tidy();
      clock.ms += MINUTE_MS;
      await bridged.keep(second, false);
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
      await bridged.keep(first, false);
      await bridged.tidy();
      clock.ms += 9 * MINUTE_MS;
      // Its caller read KV eight minutes ago, and a stale miss lasts another minute.
      await bridged.keep(second, false);
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
      await bridged.keep(first, false);
      kv.holdsWrites();
      const turn = bridged.tidy();
      await vi.waitFor(() => expect(kv.writesWaiting).toBe(1));
      clock.ms += 5 * MINUTE_MS;
      await bridged.keep(second, false);
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
            const { unwritten } = await store(kv).getOfDesks([judgment.key]);
            judging.push({ judgment, isWritten: !unwritten.has(judgment.key), at_ms: clock.ms });
          },
          async finish() {
            const call = judging.shift();
            if (call === undefined) return;
            // As in desk-calls.ts.
            await bridged.keep(call.judgment, call.isWritten || clock.ms - call.at_ms > 8 * MINUTE_MS);
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
    await fc.assert(fc.asyncProperty(history, check), { numRuns: 150 });
  });
});

describe('a record of a later version', () => {
  it('is left alone and counts as absent; the others go to KV, and only its table stays', async () => {
    await onBench(async ({ clock, alarm, kv, sql, open }) => {
      const all = await samples(3);
      const [strange, ...others] = all;
      if (strange === undefined) throw new Error('no samples');
      const before = open();
      for (const judgment of all) await before.keep(judgment, false);
      const [table = ''] = tablesIn(sql);
      const record = fromTheFuture(sql, table, strange.key);

      const bridged = open();
      clock.ms += 5 * MINUTE_MS;
      const later = await sampleJudgment(9);
      await bridged.keep(later, false);
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
      storage.sql.exec('CREATE TABLE finished_v2_1 (key TEXT PRIMARY KEY, n INTEGER, in_kv INTEGER) WITHOUT ROWID');
      storage.sql.exec("INSERT INTO finished_v2_1 VALUES ('k', 1, 0)");
      storage.sql.exec('INSERT INTO finished_tables_v2 VALUES (1, 0, 0)');
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
      const calls = new DeskCalls({
        lanes: lanesOf(countingBackends(), PLACE, () => 0),
        failures: new FailureMemory({ ms: 5_000, entries: 10 }, () => 0),
        memory: new PromptMemory({ bytes: 1_000_000, liveReserve: 1 / 4, leaseMs: 1_000 }, () => 0),
        gate: new ConnectionGate(5),
        bridged,
        budgets: new BudgetLeases({ table: new ProjectTable(env.DB), now: () => 0 }),
        earlier: new EarlierOwners({ deskOf: () => LONE_DESK, now: () => 0 }),
        succession: new Succession(memory),
        kv: createKvJudgmentStore(kv, createRecentJudgments({ entries: 0, chars: 0 })),
        signing: { issuer: null, known: createKnownIssuers([]) },
        now: () => 0,
      });
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

describe('the order of layouts', () => {
  const four = { desks: 4, few: {} };
  const eight = { desks: 8, few: { small: 2 } };

  it('names the layouts that others replaced in the last 45 minutes, also after a way back', async () => {
    await onBench(async ({ sql }) => {
      const history = new LayoutHistory(sql);
      expect(history.earlierThan(four, 0)).toEqual([]);
      expect(history.earlierThan(four, 50 * MINUTE_MS)).toEqual([]);
      const changed = 60 * MINUTE_MS;
      const until_ms = changed + 45 * MINUTE_MS;
      expect(history.earlierThan(eight, changed)).toEqual([{ layout: four, until_ms }]);
      expect(new LayoutHistory(sql).earlierThan(eight, until_ms - 1)).toEqual([{ layout: four, until_ms }]);
      expect(history.earlierThan(four, until_ms - 1)).toEqual([
        { layout: eight, until_ms: until_ms - 1 + 45 * MINUTE_MS },
      ]);
      expect(history.earlierThan(four, until_ms + 45 * MINUTE_MS)).toEqual([]);
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
