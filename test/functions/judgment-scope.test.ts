/** JUDGMENTS_SCOPE = "project": a project never gets, pays with, or exports a judgment of another. */
import { evictAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { DEFAULT_DESKS } from '../../functions/desk/desk-layout.ts';
import { activeProjects } from '../../functions/projects/active-projects.ts';
import { database } from '../../functions/storage/schema.ts';
import { createdKeySchema } from '../../src/wire/stored-keys.ts';
import { ORIGIN, post, ROLLOUT, scoreOf, send } from './api.ts';
import { COUNTING, counting, countingBackends, resetCounting } from './desk-judge.ts';
import { readPage } from './open-metrics.ts';
import { partitionName } from './stored-records.ts';
import { replaceParts } from './worker.ts';

const broken = { database: false };

function failingCall(): never {
  throw new Error('D1 does not answer');
}

replaceParts({
  backendsOf: countingBackends,
  environmentOf: (environment) => ({
    ...environment,
    JUDGMENTS_SCOPE: 'project',
    ...(broken.database ? { DB: new Proxy(environment.DB, { get: () => failingCall }) } : {}),
  }),
});

beforeEach(resetCounting);

async function caller(project: string) {
  const made = await send(post('/v1/api-keys', { label: project, project, scopes: ['score'] }));
  const { key } = createdKeySchema.parse(await made.json());
  const headers = { authorization: `Bearer ${key}` };
  return {
    score: async () => scoreOf(await send(post('/v1/score', ROLLOUT, headers))),
    exported: async (keys: readonly string[]) => (await send(post('/v1/judgments:export', { keys }, headers))).text(),
  };
}

/** Alarms of eight desks take longer than the second that is standard, on a busy machine. */
const PATIENCE = { timeout: 15_000 };

it('each project has judgments of its own, under the same keys', async () => {
  const [alpha, beta] = [await caller('alpha'), await caller('beta')];
  const first = await alpha.score();
  expect(counting.calls).toHaveLength(2);
  const keys = first.judgments.flatMap(({ key }) => key ?? []);
  expect(keys).toHaveLength(2);
  await alpha.score();
  expect(counting.calls).toHaveLength(2);
  expect(await beta.exported(keys)).toContain('"missing":2');
  const second = await beta.score();
  expect(counting.calls).toHaveLength(4);
  expect(second.judgments.flatMap(({ key }) => key ?? [])).toEqual(keys);
  expect(second.reward).toBe(first.reward);
  expect(await alpha.exported(keys)).toContain('"judgments":2');
  // The alarm of a desk that has forgotten its callers puts its judgments under the keys of its project.
  await evictAllDurableObjects();
  await vi.waitFor(async () => {
    for (let desk = 0; desk < DEFAULT_DESKS; desk++) {
      for (const project of ['alpha', 'beta']) {
        await runDurableObjectAlarm(env.JUDGE_DESK.getByName(`desk-${desk}/${project}`));
      }
    }
    const names = (await env.JUDGMENTS.list()).keys.map(({ name }) => name).sort();
    // Both judgments of a project are one value.
    expect(names).toEqual(['alpha', 'beta'].map((project) => `p:${project}:${partitionName(keys[0] ?? '')}`));
  }, PATIENCE);
});

async function metrics() {
  const reply = await send(new Request(`${ORIGIN}/metrics`));
  return readPage(new TextDecoder().decode(await reply.arrayBuffer()));
}

it('the gauges of /metrics have the desks of every project', async () => {
  const [gamma, delta] = [await caller('gamma'), await caller('delta')];
  // The lanes of a desk exist once it was asked for a judgment.
  await evictAllDurableObjects();
  const idle = await metrics();
  await gamma.score();
  const slots = `citeward_judge_slots{judge="${COUNTING}"}`;
  const one = await metrics();
  expect(one.value('citeward_desks')).toBeGreaterThanOrEqual(idle.value('citeward_desks'));
  expect(one.value(slots)).toBeGreaterThan(0);
  expect(one.value('citeward_desks_unanswered')).toBe(0);
  await delta.score();
  const two = await metrics();
  expect(two.value(slots)).toBeGreaterThan(one.value(slots));
  expect(two.value('citeward_desks')).toBe(one.value('citeward_desks') + DEFAULT_DESKS);
  expect(two.samplesOf('citeward_desk_projects_left_out')).toEqual(['citeward_desk_projects_left_out']);
  expect(two.value('citeward_desk_projects_left_out')).toBe(0);
});

it('the gauges of desks are missing, not too small, while D1 does not say which projects there are', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  broken.database = true;
  const { samplesOf } = await metrics();
  broken.database = false;
  vi.restoreAllMocks();
  for (const family of ['citeward_desks', 'citeward_desk_kv_backlog', 'citeward_judge_slots'])
    expect(samplesOf(family), family).toEqual([]);
  expect(samplesOf('citeward_requests').length).toBeGreaterThan(0);
});

it('projects are active for two hours after the last use of a key; those beyond the limit are counted', async () => {
  const hour = 60 * 60 * 1000;
  const now = 1_000_000 * hour;
  const db = await database(env.DB);
  await db.prepare('DELETE FROM api_keys').run();
  const add = (id: string, project: string, used: number | null) =>
    db
      .prepare(
        `INSERT INTO api_keys (id, sha256, project, label, scopes, tier, created_at, last_used_at)
         VALUES (?1, ?1, ?2, '', '[]', 'standard', 0, ?3)`,
      )
      .bind(id, project, used)
      .run();
  await add('1', 'default', now);
  await add('2', 'old', now - 3 * hour);
  await add('3', 'never', null);
  await add('4', 'recent', now - hour);
  await add('5', 'busy', now);
  await add('6', 'busy', now - hour);
  expect(await activeProjects(env.DB, now, 9)).toEqual({ projects: ['default', 'busy', 'recent'], leftOut: 0 });
  expect(await activeProjects(env.DB, now, 2)).toEqual({ projects: ['default', 'busy'], leftOut: 1 });
  expect(await activeProjects(env.DB, now, 1)).toEqual({ projects: ['default'], leftOut: 2 });
});
