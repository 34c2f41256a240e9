/** JUDGMENT_RETENTION_DAYS: judgments expire from KV, and a recorded run replays to the same bits without them. */
import { evictAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DEFAULT_DESKS } from '../../functions/desk/desk-layout.ts';
import { type Environment, readSettings } from '../../functions/environment.ts';
import { lexicalBackend } from '../../service/backends/judge-backends.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send } from './api.ts';
import { counting, countingBackends, resetCounting } from './desk-judge.ts';
import { partitionName } from './stored-records.ts';
import { replaceParts } from './worker.ts';

const DAY_S = 24 * 60 * 60;
const retention: { days: string | undefined } = { days: undefined };

replaceParts({
  backendsOf: () => {
    const { named, ...others } = countingBackends();
    return { ...others, named: [...named, lexicalBackend] };
  },
  environmentOf: (environment) => ({
    ...environment,
    ...(retention.days === undefined ? {} : { RUN_RETENTION_DAYS: '2', JUDGMENT_RETENTION_DAYS: retention.days }),
  }),
});

beforeEach(async () => {
  resetCounting();
  retention.days = undefined;
  await removeJudgments();
});

afterEach(() => {
  vi.useRealTimers();
});

async function removeJudgments(): Promise<void> {
  for (const { name } of (await env.JUDGMENTS.list()).keys) await env.JUDGMENTS.delete(name);
}

/** Lets the desks write to KV, and returns the entry of a name. */
async function kvEntry(name: string) {
  return await vi.waitFor(
    async () => {
      for (let desk = 0; desk < DEFAULT_DESKS; desk++) {
        await runDurableObjectAlarm(env.JUDGE_DESK.getByName(`desk-${desk}`));
      }
      const entry = (await env.JUDGMENTS.list()).keys.find((one) => one.name === name);
      if (entry === undefined) throw new Error(`KV lacks ${name}`);
      return entry;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const keyOf = ({ judgments: [first] }: Awaited<ReturnType<typeof score>>): string => first?.key ?? '';

it('desks and callers write judgments that expire, and by default ones that do not', async () => {
  // The model's judgments are written by a desk, the lexical judge's by the caller.
  const [kept, lexical] = [await score(ROLLOUT), await score({ ...ROLLOUT, judge: 'lexical' })];
  expect((await kvEntry(partitionName(keyOf(kept)))).expiration).toBeUndefined();
  expect((await kvEntry(`j:v1:${keyOf(lexical)}`)).expiration).toBeUndefined();
  await removeJudgments();
  retention.days = '3';
  await evictAllDurableObjects();
  const before_s = Math.floor(Date.now() / 1000);
  const [made, own] = [
    await score({ ...ROLLOUT, replicate: 1 }),
    await score({ ...ROLLOUT, replicate: 1, judge: 'lexical' }),
  ];
  for (const name of [partitionName(keyOf(made)), `j:v1:${keyOf(own)}`]) {
    const { expiration = 0 } = await kvEntry(name);
    expect(expiration - before_s).toBeGreaterThanOrEqual(3 * DAY_S);
    expect(expiration - before_s).toBeLessThan(3 * DAY_S + 600);
  }
});

it('a recorded run replays to the same bits when its judgments have expired, and its export names them', async () => {
  retention.days = '3';
  const replay = async () =>
    await (await send(post('/v1/runs/expired/replay', { recipe: { set: { citation_weight: 0.7 } } }))).text();
  const exported = async () => await (await send(new Request(`${ORIGIN}/v1/runs/expired/judgments.jsonl`))).text();
  const body = { ...ROLLOUT, replicate: 2, run: { id: 'expired', step: 0, group: 'g', sample: 0 } };
  const first = await score(body);
  await kvEntry(partitionName(keyOf(first)));
  const replayed = await replay();
  expect(replayed).toContain('"judge_calls":0');
  expect(await exported()).toContain('"judgments":2,"missing":0');

  await forgetJudgments();
  expect(await replay()).toBe(replayed);
  expect(await exported()).toContain('"judgments":0,"missing":2');
  const unstored = { ...ROLLOUT, replicate: 2, judgments: 'only' };
  await problemOf(await send(post('/v1/score', unstored)), 409, 'judgment_missing');
  // A request that uses judgments makes them again.
  const { calls } = counting;
  const made = calls.length;
  expect((await score({ ...ROLLOUT, replicate: 2 })).reward).toBe(first.reward);
  expect(calls.length).toBe(made + 2);
});

/** As after the retention: KV has nothing, and neither desks nor the isolate remember it. */
async function forgetJudgments(): Promise<void> {
  await removeJudgments();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * DAY_S * 1000 });
  for (let desk = 0; desk < DEFAULT_DESKS; desk++) {
    await runInDurableObject(env.JUDGE_DESK.getByName(`desk-${desk}`), (_desk, { storage }) => storage.deleteAll());
  }
  await evictAllDurableObjects();
}

it('is at least the retention of runs, which would outlive their judgments', () => {
  const read = (settings: Partial<Environment>) => readSettings({ ...env, BACKENDS: '', ...settings });
  for (const [settings, problem] of [
    [{ JUDGMENT_RETENTION_DAYS: '30' }, 'which is not set, so runs are kept'],
    [{ JUDGMENT_RETENTION_DAYS: '30', RUN_RETENTION_DAYS: '31' }, 'which is 31'],
    [{ JUDGMENT_RETENTION_DAYS: '0', RUN_RETENTION_DAYS: '1' }, 'a whole number of days from 1 to 36500'],
  ] as const) {
    const result = read(settings);
    expect(result).toMatchObject({ ok: false, error: { setting: 'JUDGMENT_RETENTION_DAYS' } });
    expect(JSON.stringify(result)).toContain(problem);
  }
  for (const settings of [{}, { JUDGMENT_RETENTION_DAYS: '30', RUN_RETENTION_DAYS: '30' }]) {
    expect(read(settings).ok).toBe(true);
  }
});
