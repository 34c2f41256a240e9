/** The ledger of runs as callers see it: what is recorded, once, and what is left of it. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeRun } from '../../functions/storage/run-removal.ts';
import { readGroups } from '../../functions/storage/runs.ts';
import { groupResponseSchema } from '../../src/schema/groups.ts';
import type { RunRecord } from '../../src/schema/run.ts';
import {
  rolloutListSchema,
  runDeletionSchema,
  runDetailSchema,
  runImportReportSchema,
  runListSchema,
} from '../../src/schema/runs.ts';
import { keysOf } from '../contract/file-storage.case.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send, wrongFields } from './api.ts';

const get = (path: string): Promise<Response> => send(new Request(ORIGIN + path));
const remove = (path: string): Promise<Response> => send(new Request(ORIGIN + path, { method: 'DELETE' }));

async function ok<T>(schema: { parse(value: unknown): T }, reply: Promise<Response>): Promise<T> {
  const text = await (await reply).text();
  expect((await reply).status, text).toBe(200);
  return schema.parse(JSON.parse(text));
}

/** A rollout at a place. */
const at = (id: string, step: number, group: string | number, sample: string | number, fields: object = {}) => ({
  ...ROLLOUT,
  run: { id, step, group, sample },
  ...fields,
});

async function record(body: object): Promise<RunRecord> {
  const { run } = await score(body);
  if (run === undefined) throw new Error('the reply names no run');
  return run;
}

const rolloutsOf = (id: string, query = '') => ok(rolloutListSchema, get(`/v1/runs/${id}/rollouts${query}`));
const detailOf = (id: string, query = '') => ok(runDetailSchema, get(`/v1/runs/${id}${query}`));

async function countOf(table: 'runs' | 'rollouts' | 'rollout_rows' | 'run_recipes'): Promise<number> {
  return Number(await env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first('n'));
}

const runKeys = async () => (await keysOf(env.FILES)).filter((key) => key.startsWith('runs/'));

async function nothingIsLeft(): Promise<void> {
  const tables = await Promise.all((['runs', 'rollouts', 'rollout_rows', 'run_recipes'] as const).map(countOf));
  expect(tables).toEqual([0, 0, 0, 0]);
  expect(await runKeys()).toEqual([]);
}

beforeEach(async () => {
  const { runs } = await ok(runListSchema, get('/v1/runs?limit=100'));
  for (const { id } of runs) await removeRun(env.DB, env.FILES, id, Date.now());
  await nothingIsLeft();
});

describe('a rollout with a run', () => {
  it('is recorded with what compose reads, its recipe and its judgments, and the reply says where', async () => {
    const reply = await score(at('r', 3, 7, 'a'));
    expect(reply.run).toEqual({ id: 'r', step: 3, group: '7', sample: 'a', attempt: 0, status: 'recorded' });
    const { rollouts, next } = await rolloutsOf('r', '?detail=true');
    expect(next).toBeNull();
    expect(rollouts).toHaveLength(1);
    const [row] = rollouts;
    expect(row).toMatchObject({ run: 'r', step: 3, group: '7', sample: 'a', attempt: 0, grouping: 'given' });
    expect(row).toMatchObject({ reward: reply.reward, reason: null, recipe: reply.recipe.digest });
    expect(row?.judgments.map(({ key }) => key)).toEqual(reply.judgments.map(({ key }) => key));
    expect(row?.facts).toMatchObject({ family: 'refiner', rubric: { status: 'scored' }, citation: { status: 'scored' } });
    expect(row?.detail?.report).toMatchObject({ reward: reply.reward, findings: reply.findings });
  });

  it('is one row, however often and however concurrently it is sent', async () => {
    const statuses = await Promise.all(Array.from({ length: 6 }, () => record(at('r', 0, 'g', 's'))));
    expect(statuses.map(({ status }) => status).sort()).toEqual(['recorded', ...Array(5).fill('unchanged')]);
    expect(statuses.every(({ attempt }) => attempt === 0)).toBe(true);
    expect(await record(at('r', 0, 'g', 's'))).toMatchObject({ status: 'unchanged', attempt: 0 });
    expect([await countOf('rollouts'), await countOf('rollout_rows'), await countOf('runs')]).toEqual([1, 1, 1]);
    // Objects of those that came second are removed.
    expect(await runKeys()).toHaveLength(1);
  });
});
