/** A deployment whose runs are recorded faster than their objects may take calls is warned: at its start, in /readyz. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Environment, readSettings, reportSettings } from '../../functions/environment.ts';
import { CallRate } from '../../functions/ledger/call-rate.ts';
import { configuredWarnings } from '../../functions/shard-warnings.ts';
import { readinessSchema } from '../../src/wire/health.ts';
import { ORIGIN, ROLLOUT, score, send } from './api.ts';
import { countingBackends } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: countingBackends });

const START = 1_700_000_000_000;
/** An object counts every call, and refuses one of another version at once. */
const OTHER_VERSION = -1;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function settingsWith(slots: number, shards?: string) {
  const backend = { name: 'gpu', kind: 'vllm', base_url: 'https://gpu.test/v1', model: 'm', context_tokens: 32_768 };
  const BACKENDS = JSON.stringify({ backends: [{ ...backend, slots }], default_judge: 'gpu' });
  const environment: Environment = { ...env, BACKENDS, ...(shards === undefined ? {} : { RUN_SHARDS: shards }) };
  const read = readSettings(environment);
  if (!read.ok) throw new Error(read.error.problems.join());
  return read;
}

it('by the slots of its judges, as the plan of the capacity command has them', () => {
  // 15,000 slots carry 1,000 rollouts/s of two calls of 6 s, with 80 % of the slots busy.
  expect(configuredWarnings(settingsWith(15_000).value)).toEqual([]);
  expect(configuredWarnings(settingsWith(60_000, '4').value)).toEqual([]);
  const [warning, ...others] = configuredWarnings(settingsWith(60_000, '3').value);
  expect(others).toEqual([]);
  expect(warning?.setting).toBe('RUN_SHARDS');
  expect(warning?.message).toContain('60000 slots carry about 4000 rollouts/s');
  expect(warning?.message).toContain('set RUN_SHARDS to 4');
});

it('in the log when the settings are read', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  reportSettings(settingsWith(15_000));
  expect(warn).not.toHaveBeenCalled();
  reportSettings(settingsWith(30_000));
  expect(warn).toHaveBeenCalledOnce();
  expect(String(warn.mock.calls[0])).toContain('"event":"config_warning","setting":"RUN_SHARDS"');
});

it('by the calls that an object of an active run has counted', async () => {
  const readiness = async () => readinessSchema.parse(await (await send(new Request(`${ORIGIN}/readyz`))).json());
  await score({ ...ROLLOUT, run: { id: 'busy', step: 0, group: 'g', sample: 0 } });
  expect((await readiness()).warnings).toEqual([]);
  const row = await env.DB.prepare(`SELECT incarnation FROM run_list WHERE id = 'busy'`).first<{
    incarnation: string;
  }>();
  await runInDurableObject(env.RUN_LEDGER.getByName(`default/busy/${row?.incarnation}/0`), async (ledger) => {
    for (let call = 0; call < 6_000; call++) await ledger.describe(OTHER_VERSION);
  });
  const [warning] = (await readiness()).warnings;
  expect(warning?.setting).toBe('RUN_SHARDS');
  expect(warning?.message).toMatch(/took 60\d calls\/s/);
  vi.setSystemTime(START + 30_000);
  expect((await readiness()).warnings).toEqual([]);
});

it('a rate is that of the last full window, or of the one that runs if it has more', () => {
  const rate = new CallRate();
  for (let call = 0; call < 40; call++) rate.count(START);
  expect(rate.perSecond(START)).toBe(4);
  rate.count(START + 10_000);
  expect(rate.perSecond(START + 10_000)).toBe(4);
  expect(rate.perSecond(START + 20_000)).toBe(0.1);
  expect(rate.perSecond(START + 40_000)).toBe(0);
});
