/** JUDGMENTS_SCOPE = "project": a project never gets, pays with, or exports a judgment of another. */
import { evictAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { DEFAULT_DESKS } from '../../functions/desk/desk-layout.ts';
import { createdKeySchema } from '../../src/wire/stored-keys.ts';
import { ORIGIN, post, ROLLOUT, scoreOf, send } from './api.ts';
import { counting, countingBackends, resetCounting } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

replaceParts({
  backendsOf: countingBackends,
  environmentOf: (environment) => ({ ...environment, JUDGMENTS_SCOPE: 'project' }),
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

it('shows the desks of all projects in the metrics', async () => {
  const key = await caller('gamma');
  await key.score();
  const page = await (await send(new Request(`${ORIGIN}/metrics`))).text();
  const gauge = (name: string): number => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'mu').exec(page)?.[1]);
  // Those of the project default, and of gamma.
  expect(gauge('citeward_desks')).toBe(2 * DEFAULT_DESKS);
  expect(gauge('citeward_desks_unanswered')).toBe(0);
  expect(page).toMatch(/^citeward_judge_slots\{/mu);
});

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
    expect(names).toEqual(['alpha', 'beta'].flatMap((project) => keys.map((key) => `p:${project}:j:v1:${key}`)).sort());
  }, PATIENCE);
});
