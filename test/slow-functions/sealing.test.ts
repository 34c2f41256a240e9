/**
 * Sealing against everything that may happen at the same time: writes, reads, deletions, crashes and other sealers. The
 * object's own storage and alarm run in workerd; the test holds its clock, and the calls that it makes to R2.
 */
import { evictAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerRecords } from '../../functions/ledger/ledger-records.ts';
import { gunzipMember } from '../../functions/ledger/packed-lines.ts';
import { findRun } from '../../functions/ledger/run-list.ts';
import { readRows } from '../../functions/ledger/run-rows.ts';
import { SEALING, Sealer } from '../../functions/ledger/sealer.ts';
import { type SealingLimits, SegmentTable } from '../../functions/ledger/segment-table.ts';
import { lifeOf } from '../../service/ledger-port.ts';
import { runImportReportSchema } from '../../src/runs/import-run.ts';
import { rolloutListSchema, runDetailSchema } from '../../src/wire/runs.ts';
import { type Detour, detoured, failing, R2_FAILED, unacknowledged } from '../contract/detoured-binding.ts';
import { keysOf } from '../contract/file-storage.case.ts';
import { ORIGIN, problemOf, ROLLOUT, score, send } from '../functions/api.ts';
import { replaceParts } from '../functions/worker.ts';

const HOUR_MS = 60 * 60 * 1000;
const BAD = '<answer>The Aare ends in Italy.</answer>';

let clock = Date.now();
let detour: Detour | null = null;
/** Small enough for a test. */
const LIMITS: SealingLimits = { ...SEALING, bytes: 128 * 1024 };
replaceParts({
  ledger: { now: () => clock, sealing: LIMITS },
  environmentOf: (environment, place) => {
    return place === 'RunLedger' ? { ...environment, FILES: detoured(environment.FILES, () => detour) } : environment;
  },
});

const get = (path: string): Promise<Response> => send(new Request(ORIGIN + path));
const remove = (path: string): Promise<Response> => send(new Request(ORIGIN + path, { method: 'DELETE' }));
const exported = async (run = 'r'): Promise<string> => (await get(`/v1/runs/${run}/export`)).text();
const segments = async () => (await keysOf(env.FILES)).filter((key) => key.includes('/segments/'));

async function record(group: string, sample: string, fields: object = {}) {
  const { run } = await score({ ...ROLLOUT, run: { id: 'r', step: 0, group, sample }, ...fields });
  return { attempt: run?.attempt, status: run?.status };
}

async function ledger(run = 'r') {
  const found = await findRun(env.DB, 'default', run);
  if (found === null) throw new Error('there is no run');
  return env.RUN_LEDGER.getByName(`default/${run}/${found.incarnation}/0`);
}

/** Lets time pass, then runs the alarm of the run's object. */
async function later(ms: number): Promise<void> {
  clock += ms;
  expect(await runDurableObjectAlarm(await ledger())).toBe(true);
}

/** The records whose content is in the object, and the states of the segments. */
async function kept(run = 'r') {
  return runInDurableObject(await ledger(run), (_ledger, { storage: { sql } }) => ({
    inline: Number(sql.exec('SELECT count(*) AS n FROM records_v1 WHERE rows IS NOT NULL').one()['n']),
    states: sql
      .exec('SELECT state FROM segments_v1 ORDER BY id')
      .toArray()
      .map(({ state }) => state),
  }));
}

async function samplesOf(query = ''): Promise<string[]> {
  const { rollouts } = rolloutListSchema.parse(await (await get(`/v1/runs/r/rollouts?limit=100${query}`)).json());
  return rollouts.map(({ group, sample, attempt }) => `${group}${sample}.${attempt}`);
}

/**
 * Waits in a call to R2 until the test lets it go on. `after`: the call has taken effect by then. Both sides ask again
 * and again, because a promise of one object that resolves in another would continue there.
 */
function held(method: string, when: 'before' | 'after') {
  const state = { isReached: false, isReleased: false };
  detour = async (called, _args, proceed) => {
    if (called !== method) return proceed();
    const result = when === 'after' ? await proceed() : null;
    state.isReached = true;
    await until(() => state.isReleased);
    return when === 'after' ? result : proceed();
  };
  return {
    reached: () => until(() => state.isReached),
    release: () => {
      state.isReleased = true;
    },
  };
}

beforeEach(async () => {
  detour = null;
  clock = Date.now();
  await remove('/v1/runs/r');
  expect(await segments()).toEqual([]);
});

describe('records', () => {
  it('have their figures computed with the alarm, not by the first reader', async () => {
    const outdated = async () =>
      runInDurableObject(await ledger(), (_ledger, { storage: { sql } }) =>
        Number(sql.exec('SELECT count(*) AS n FROM figures_v1 WHERE figures IS NULL').one()['n']),
      );
    for (const step of [0, 1]) await record('a', '1', { run: { id: 'r', step, group: 'a', sample: '1' } });
    expect(await outdated()).toBe(2);
    await later(HOUR_MS);
    expect(await outdated()).toBe(0);
    // A step that is recorded in again is counted again, and only this step.
    await record('a', '2', { response: BAD });
    expect(await outdated()).toBe(1);
    const { steps } = runDetailSchema.parse(await (await get('/v1/runs/r')).json());
    expect(steps.map(({ step, rollouts }) => [step, rollouts])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect(await outdated()).toBe(0);
  });

  it('go to R2 an hour after the first of them, leave the object 15 minutes later, and are read as before', async () => {
    for (const sample of ['1', '2']) await record('a', sample, { store_text: true });
    await record('b', '1');
    const before = [await exported(), await (await get('/v1/runs/r/rollouts?detail=true')).text()];
    expect(await kept()).toEqual({ inline: 3, states: ['open'] });
    await later(HOUR_MS - 1);
    expect(await segments()).toEqual([]);
    await later(1);
    expect(await segments()).toEqual([
      expect.stringMatching(/^runs\/default\/r\/[\w-]+\/segments\/0\/1-3-[0-9a-f]{16}\.jsonl\.gz$/),
    ]);
    expect(await kept()).toEqual({ inline: 3, states: ['sealed'] });
    await later(SEALING.keptMs - 1);
    expect(await kept()).toEqual({ inline: 3, states: ['sealed'] });
    await later(1);
    expect(await kept()).toEqual({ inline: 0, states: ['current'] });
    expect([await exported(), await (await get('/v1/runs/r/rollouts?detail=true')).text()]).toEqual(before);
    // Nothing is due any more.
    expect(await runDurableObjectAlarm(await ledger())).toBe(false);
  });

  it('go to R2 at once when they have enough bytes, in segments of that size', async () => {
    const line = await lineOfRollout();
    const put = async (count: number, from: number) => {
      const rollouts = Array.from({ length: count }, (_, n) => {
        // Digests do not compress.
        const judgments = Array.from({ length: 50 }, () => ({ kind: 'rubric', key: random(), verdicts: random() }));
        return JSON.stringify({ rollout: { ...line.rollout, group: `g${from + n}`, content: random(), judgments } });
      });
      const body = [line.run, line.recipe, ...rollouts, JSON.stringify({ end: { v: 1, rollouts: count } })].join('\n');
      const reply = await send(
        new Request(`${ORIGIN}/v1/runs/r/import`, {
          method: 'POST',
          headers: { 'content-type': 'application/jsonl' },
          body,
        }),
      );
      expect(runImportReportSchema.parse(await reply.json())).toMatchObject({ imported: count });
    };
    await remove('/v1/runs/r');
    await put(120, 0);
    // The platform runs the alarm: it is due.
    await until(async () => (await kept()).states.includes('sealed'));
    const { bytes } = await runInDurableObject(await ledger(), (_ledger, { storage: { sql } }) =>
      sql.exec<{ bytes: number }>('SELECT max(bytes) AS bytes FROM segments_v1').one(),
    );
    expect(bytes).toBeGreaterThan(LIMITS.bytes * 0.7);
    expect(bytes).toBeLessThan(LIMITS.bytes * 1.2);
    expect(new Set(await samplesOf()).size).toBe(100);
    expect(JSON.parse((await exported()).trimEnd().split('\n').at(-1) ?? '')).toEqual({ end: { v: 1, rollouts: 120 } });
  });

  it('are in their segment with all that the object knows of them', async () => {
    await record('b', '1');
    await record('a', '1');
    await later(HOUR_MS);
    const [key] = await segments();
    const bytes = new Uint8Array((await (await env.FILES.get(key ?? ''))?.arrayBuffer()) ?? new ArrayBuffer());
    const places = await runInDurableObject(await ledger(), (_ledger, { storage: { sql } }) =>
      sql.exec<{ place: string }>('SELECT place FROM records_v1 ORDER BY seq DESC').toArray(),
    );
    const blocks = places.map(({ place }) => JSON.parse(place).rows);
    expect(blocks[0].slice(0, 2)).toEqual(blocks[1].slice(0, 2));
    const member = await gunzipMember(bytes.slice(0, blocks[0][1]));
    const lines = new TextDecoder()
      .decode(member)
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(lines).toMatchObject([
      { seq: 2, step: 0, group: 'a', entries: [expect.arrayContaining(['1'])] },
      { v: 1, facts: { family: 'refiner' } },
      { seq: 1, step: 0, group: 'b' },
      { v: 1, facts: { family: 'refiner' } },
    ]);
  });
});

describe('a seal against a write', () => {
  it('takes the records of its plan alone, and later ones are sealed later', async () => {
    await record('a', '1');
    clock += HOUR_MS;
    const put = held('put', 'before');
    const alarm = runDurableObjectAlarm(await ledger());
    await put.reached();
    expect(await record('a', '2')).toEqual({ attempt: 0, status: 'recorded' });
    expect(await record('a', '1')).toEqual({ attempt: 0, status: 'unchanged' });
    put.release();
    await alarm;
    expect(await kept()).toEqual({ inline: 2, states: ['sealed', 'open'] });
    await later(HOUR_MS);
    expect(await kept()).toEqual({ inline: 1, states: ['current', 'sealed'] });
    expect(await samplesOf()).toEqual(['a1.0', 'a2.0']);
  });

  it('recognises a late repeat of a sealed rollout, and lets the better score of equal content win', async () => {
    await record('a', '1');
    await record('a', '2', { judgments: 'skip' });
    await later(HOUR_MS);
    await later(SEALING.keptMs);
    await evictAllDurableObjects();
    expect((await kept()).inline).toBe(0);
    expect(await record('a', '1')).toEqual({ attempt: 0, status: 'unchanged' });
    expect(await record('a', '1', { response: BAD })).toEqual({ attempt: 1, status: 'recorded' });
    expect(await record('a', '2')).toEqual({ attempt: 0, status: 'recorded' });
    expect(await record('a', '2', { judgments: 'skip' })).toEqual({ attempt: 0, status: 'unchanged' });
    expect(await samplesOf('&attempts=all')).toEqual(['a1.0', 'a1.1', 'a2.0']);
    const { rollouts } = rolloutListSchema.parse(await (await get('/v1/runs/r/rollouts')).json());
    expect(rollouts.map(({ reward }) => typeof reward)).toEqual(['number', 'number']);
    const file = await exported();
    await later(HOUR_MS);
    await later(SEALING.keptMs);
    expect((await kept()).inline).toBe(0);
    expect(await exported()).toBe(file);
    const again = await send(
      new Request(`${ORIGIN}/v1/runs/r/import`, {
        method: 'POST',
        headers: { 'content-type': 'application/jsonl' },
        body: file,
      }),
    );
    expect(runImportReportSchema.parse(await again.json())).toMatchObject({ imported: 0, already_there: 3 });
  });
});

describe('a seal against a read', () => {
  it('shows each rollout once, though records are sealed, dropped and merged between two pages', async () => {
    const groups = Array.from({ length: 2 * SEALING.merged }, (_, n) => String.fromCharCode(97 + n));
    for (const group of groups) {
      await record(group, '1');
      await record(group, '2');
    }
    const run = await findRun(env.DB, 'default', 'r');
    if (run === null) throw new Error('there is no run');
    const stores = { life: lifeOf(run), objects: env.RUN_LEDGER, bucket: env.FILES };
    const read: string[] = [];
    let n = 0;
    for await (const { row } of readRows(stores, { attempts: 'latest' }, 3)) {
      read.push(`${row.group}${row.sample}`);
      if (n++ % 2 === 0) continue;
      // A further segment, whose record sorts behind all others.
      await record('zz', String(n));
      await later(HOUR_MS);
    }
    expect(read.slice(0, 2 * groups.length)).toEqual(groups.flatMap((group) => [`${group}1`, `${group}2`]));
    expect(new Set(read).size).toBe(read.length);
    const { states } = await kept();
    expect(states.filter((state) => state === 'current').length).toBeLessThan(SEALING.merged + 2);
    const { steps } = runDetailSchema.parse(await (await get('/v1/runs/r')).json());
    expect(steps).toMatchObject([{ rollouts: (await samplesOf()).length }]);
  });

  it('finds the records of a page whose segment was merged and deleted since', async () => {
    for (let n = 0; n < SEALING.merged; n++) {
      await record('a', String(n));
      await later(HOUR_MS);
    }
    await later(SEALING.keptMs);
    const run = await findRun(env.DB, 'default', 'r');
    if (run === null) throw new Error('there is no run');
    let pages = 0;
    const objects = detoured(env.RUN_LEDGER, () => async (method, _args, proceed) => {
      const page = await proceed();
      // The reader has the page, and waits.
      if (method === 'page' && pages++ === 0) for (const _ of ['merge', 'delete']) await later(SEALING.keptMs);
      return page;
    });
    const before = await segments();
    const read: string[] = [];
    for await (const { row } of readRows({ life: lifeOf(run), objects, bucket: env.FILES }, { attempts: 'latest' })) {
      read.push(row.sample);
    }
    expect(read).toEqual(Array.from({ length: SEALING.merged }, (_, n) => String(n)));
    expect(await segments()).toHaveLength(1);
    expect(before).not.toContain((await segments())[0]);
    expect(await kept()).toEqual({ inline: 0, states: ['current'] });
  });

  it('ends with a failure where a segment is damaged, never with other facts', async () => {
    await record('a', '1');
    await later(HOUR_MS);
    await later(SEALING.keptMs);
    const [key = ''] = await segments();
    const bytes = new Uint8Array((await (await env.FILES.get(key))?.arrayBuffer()) ?? new ArrayBuffer());
    await env.FILES.put(
      key,
      bytes.map((byte, at) => (at === 300 ? byte ^ 1 : byte)),
    );
    await problemOf(await get('/v1/runs/r/rollouts'), 503, 'storage_failed');
  });
});

describe('a seal against a deletion', () => {
  it.each(['before', 'after'] as const)('leaves no bytes when the run goes %s the put takes effect', async (when) => {
    await record('a', '1', { store_text: true });
    clock += HOUR_MS;
    const put = held('put', when);
    const alarm = runDurableObjectAlarm(await ledger());
    await put.reached();
    expect((await remove('/v1/runs/r')).status).toBe(200);
    put.release();
    await alarm;
    expect(await segments()).toEqual([]);
    // A new run of that id is another life.
    expect(await record('a', '1')).toEqual({ attempt: 0, status: 'recorded' });
  });

  it('leaves no bytes when the sealer dies as well: the erased object looks again', async () => {
    await record('a', '1');
    const object = await ledger();
    clock += HOUR_MS;
    const put = held('put', 'before');
    const alarm = runDurableObjectAlarm(object);
    await put.reached();
    expect((await remove('/v1/runs/r')).status).toBe(200);
    const stuck = detour;
    detour = async (method, args, proceed) => (method === 'delete' ? null : (stuck?.(method, args, proceed) ?? null));
    put.release();
    await alarm;
    // The late put is there, and nothing else of the run.
    expect(await segments()).toHaveLength(1);
    detour = null;
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await segments()).toEqual([]);
  });
});

describe('a crash', () => {
  it('after the put and before the transaction repeats the same segment', async () => {
    await record('b', '1');
    await record('a', '1');
    const file = await exported();
    detour = unacknowledged('put', 1, R2_FAILED);
    await later(HOUR_MS);
    const written = await segments();
    expect([written.length, (await kept()).states]).toEqual([1, ['planned']]);
    await evictAllDurableObjects();
    // What was recorded since belongs to the next segment.
    await record('a', '2');
    await later(0);
    expect([await segments(), (await kept()).states]).toEqual([written, ['sealed', 'open']]);
    await later(SEALING.keptMs);
    expect(await kept()).toEqual({ inline: 1, states: ['current', 'open'] });
    expect(await samplesOf()).toEqual(['a1.0', 'a2.0', 'b1.0']);
    expect((await exported()).split('\n').length).toBe(file.split('\n').length + 1);
  });

  it('after the transaction and before the records are dropped loses nothing, and the drop follows', async () => {
    await record('a', '1');
    const file = await exported();
    await later(HOUR_MS);
    expect(await kept()).toEqual({ inline: 1, states: ['sealed'] });
    await evictAllDurableObjects();
    expect(await exported()).toBe(file);
    await later(SEALING.keptMs);
    await evictAllDurableObjects();
    expect(await kept()).toEqual({ inline: 0, states: ['current'] });
    expect(await exported()).toBe(file);
  });

  it('of R2 delays the seal alone', async () => {
    await record('a', '1');
    detour = failing('put', 1, R2_FAILED);
    await later(HOUR_MS);
    expect(await record('a', '2')).toEqual({ attempt: 0, status: 'recorded' });
    expect([await segments(), (await kept()).inline]).toEqual([[], 2]);
    await later(0);
    expect([(await segments()).length, await samplesOf()]).toEqual([1, ['a1.0', 'a2.0']]);
  });
});

describe('two sealers', () => {
  it('write one segment: the second finds the plan done', async () => {
    for (const sample of ['1', '2', '3']) await record('a', sample);
    const file = await exported();
    clock += HOUR_MS;
    const outcomes = await runInDurableObject(await ledger(), async (_ledger, { storage }) => {
      // As two instances of the object would, when the platform moves it.
      const sealers = [0, 1].map(() => {
        const table = new SegmentTable(storage.sql);
        const records = new LedgerRecords(storage.sql, table);
        const now = () => clock;
        return new Sealer({ storage, records, segments: table, bucket: env.FILES, now, limits: SEALING });
      });
      return Promise.all(sealers.map((sealer) => sealer.work()));
    });
    expect(outcomes).toHaveLength(2);
    await evictAllDurableObjects();
    expect(await segments()).toHaveLength(1);
    expect((await kept()).states).toEqual(['sealed']);
    await later(SEALING.keptMs);
    expect([(await kept()).inline, await exported()]).toEqual([0, file]);
  });
});

async function lineOfRollout() {
  await record('a', '1');
  const [run = '', recipe = '', rollout = ''] = (await exported()).split('\n');
  return { run, recipe, rollout: JSON.parse(rollout).rollout };
}

function random(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 20));
}
