/** The operations of stores that a recorded group costs: scripts/capacity computes the cost of rollouts from them. */
import { listDurableObjectIds, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import type { Environment } from '../../functions/environment.ts';
import { SEALING } from '../../functions/ledger/sealer.ts';
import { COUNTED } from '../../scripts/capacity/cost.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { post, ROLLOUT, send } from './api.ts';
import { countingBackends, runDeskAlarms } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

const GROUP_SIZE = 8;

const JUDGMENTS = 2 * GROUP_SIZE;

/** `turns`: turns of the desks' alarms that put something into KV; `turnRows`: what a desk writes beside judgments. */
const NOTHING = { kvReads: 0, kvWrites: 0, judgmentRows: 0, turns: 0, turnRows: 0, ledgerRows: 0 };
const counts = { ...NOTHING };

function resetCounts(): void {
  Object.assign(counts, NOTHING);
}

function countingKv(environment: Environment): Environment {
  const JUDGMENTS = new Proxy(environment.JUDGMENTS, {
    get(kv, name) {
      const method: unknown = Reflect.get(kv, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        if (name === 'put') counts.kvWrites++;
        if (name === 'get') counts.kvReads += Array.isArray(args[0]) ? args[0].length : 1;
        return Reflect.apply(method, kv, args);
      };
    },
  });
  return { ...environment, JUDGMENTS };
}

/** Counts the rows that statements write, and the settings of the alarm, each of which is billed as a row. */
function countingState(state: DurableObjectState, place: string): DurableObjectState {
  const { storage } = state;
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  const setAlarm = storage.setAlarm.bind(storage);
  const wrote = (rows: number, query: string): void => {
    if (place === 'RunLedger') counts.ledgerRows += rows;
    if (place !== 'JudgeDesk') return;
    if (query.startsWith('INSERT OR REPLACE')) counts.judgmentRows += rows;
    else counts.turnRows += rows;
    if (query.startsWith('UPDATE')) counts.turns++;
  };
  sql.exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
    const cursor = exec<T>(query, ...bindings);
    wrote(cursor.rowsWritten, query);
    return cursor;
  };
  storage.setAlarm = (time, options) => {
    wrote(1, 'alarm');
    return setAlarm(time, options);
  };
  return state;
}

let clock = Date.now();
const ledger = { now: () => clock };
replaceParts({ backendsOf: countingBackends, environmentOf: countingKv, stateOf: countingState, ledger });

async function record(group: number): Promise<void> {
  const { response, ...shared } = ROLLOUT;
  const responses = Array.from({ length: GROUP_SIZE }, (_, n) => response.replace('Thousands', `${group}${n}1`));
  const reply = await send(post('/v1/groups', { ...shared, responses, run: { id: 'counted', step: 0, group } }));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const { members } = groupResponseSchema.parse(JSON.parse(text));
  expect(members.flatMap(({ judgments }) => judgments).length).toBe(JUDGMENTS);
}

/** Runs the desks' alarms until KV has so many values; a desk's own alarm may be faster, or the gate busy. */
async function drained(values: number): Promise<void> {
  await vi.waitFor(
    async () => {
      await runDeskAlarms();
      expect(counts.kvWrites).toBe(values);
    },
    { timeout: 20_000 },
  );
}

it('a recorded group of 8 with two fresh judgments each', async () => {
  // The first group makes the run and the tables.
  await record(0);
  await drained(GROUP_SIZE);
  resetCounts();
  await record(1);
  await drained(COUNTED.kvWritesPerRollout * GROUP_SIZE);
  expect(counts).toMatchObject({
    kvReads: COUNTED.kvReadsPerRollout * GROUP_SIZE,
    judgmentRows: COUNTED.deskRowsPerJudgment * JUDGMENTS,
    ledgerRows: COUNTED.ledgerRowsPerGroup,
  });
  // A turn that found nothing, or a new table, writes a row more.
  expect(counts.turns).toBeGreaterThan(0);
  expect(counts.turnRows / counts.turns).toBeGreaterThan(COUNTED.deskRowsPerTurn - 2);
  expect(counts.turnRows / counts.turns).toBeLessThan(COUNTED.deskRowsPerTurn + 3);
});

it('a group whose content moves into R2', async () => {
  const groups = 10;
  for (let group = 2; group < groups; group++) await record(group);
  const [id] = await listDurableObjectIds(env.RUN_LEDGER);
  if (id === undefined) throw new Error('there is no ledger');
  resetCounts();
  for (const ms of [SEALING.ageMs, SEALING.keptMs]) {
    clock += ms;
    expect(await runDurableObjectAlarm(env.RUN_LEDGER.get(id))).toBe(true);
  }
  const perSegment = counts.ledgerRows - groups * COUNTED.ledgerRowsPerSealedGroup;
  expect(perSegment).toBeGreaterThan(0);
  expect(perSegment).toBeLessThan(16);
});
