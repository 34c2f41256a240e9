/** The operations of stores that a recorded group costs: scripts/capacity computes the cost of rollouts from them. */
import { listDurableObjectIds, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { DEFAULT_DESKS } from '../../functions/desk/desk-layout.ts';
import type { Environment } from '../../functions/environment.ts';
import { SEALING } from '../../functions/ledger/sealer.ts';
import { COUNTED } from '../../scripts/capacity/cost.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { post, ROLLOUT, send } from './api.ts';
import { countingBackends, runDeskAlarms } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

const GROUP_SIZE = 8;

const JUDGMENTS = 2 * GROUP_SIZE;

const counts = { kvReads: 0, kvWrites: 0, deskRows: 0, ledgerRows: 0 };

function resetCounts(): void {
  Object.assign(counts, { kvReads: 0, kvWrites: 0, deskRows: 0, ledgerRows: 0 });
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
  const wrote = (rows: number): void => {
    if (place === 'JudgeDesk') counts.deskRows += rows;
    if (place === 'RunLedger') counts.ledgerRows += rows;
  };
  sql.exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
    const cursor = exec<T>(query, ...bindings);
    wrote(cursor.rowsWritten);
    return cursor;
  };
  storage.setAlarm = (time, options) => {
    wrote(1);
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

it('a recorded group of 8 with two fresh judgments each', async () => {
  // The first group makes the run and the tables.
  await record(0);
  await runDeskAlarms();
  resetCounts();
  await record(1);
  await runDeskAlarms();
  expect(counts).toEqual({
    kvReads: COUNTED.kvReadsPerFreshJudgment * JUDGMENTS,
    kvWrites: COUNTED.kvWritesPerJudgment * JUDGMENTS,
    deskRows: COUNTED.deskRowsPerJudgment * JUDGMENTS + COUNTED.deskRowsPerTurn * DEFAULT_DESKS,
    ledgerRows: COUNTED.ledgerRowsPerGroup,
  });
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
