/** A run that is followed is asked for its last step alone, and for nothing else while nothing is recorded. */
import { expect, test } from 'vitest';
import { FollowedRun } from '../../../cli/commands/runs/follow-run.ts';
import { createClient } from '../../../clients/typescript/index.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import { STEP } from './recorded-step.ts';

const PAGE = 2;

/** A Worker with one run, whose pages have two steps. */
class Recorded {
  readonly asked: string[] = [];
  steps: RunStep[] = [];
  rollouts = 0;

  record(step: number, rollouts: number): void {
    this.rollouts += rollouts;
    const known = this.steps.find((one) => one.step === step)?.rollouts ?? 0;
    this.steps = [
      ...this.steps.filter((one) => one.step !== step),
      { ...STEP, step, rollouts: known + rollouts },
    ].toSorted((one, other) => (one.step ?? -1) - (other.step ?? -1));
  }

  follow(from: number | null = null): FollowedRun {
    const fetch = async (url: URL): Promise<Response> => Response.json(this.#reply(url));
    const client = createClient({ url: new URL('http://worker.test'), key: null, transport: { fetch } });
    return new FollowedRun(client, 'r', from);
  }

  #reply(url: URL): object {
    const query = url.searchParams;
    this.asked.push(`${url.pathname.replace('/v1/runs/r', '') || 'steps'} ${query.get('from_step') ?? ''}`.trim());
    if (url.pathname.endsWith('/alerts')) {
      return { run: 'r', window: 4, steps: this.steps.length, alerts: [], unwatched: [], judge_checks: [] };
    }
    if (url.pathname.endsWith('/rollouts')) return { rollouts: [], next: null };
    const from = Number(query.get('from_step') ?? 0);
    const left = this.steps.filter(({ step }) => (step ?? -1) >= from);
    return {
      id: 'r',
      family: 'refiner',
      created_at: '2026-11-27T00:00:00Z',
      active_at: '2026-11-27T00:00:00Z',
      expires_at: null,
      store_text: true,
      first_step: this.steps[0]?.step ?? null,
      last_step: this.steps.at(-1)?.step ?? null,
      recipes: [],
      rollouts: this.rollouts,
      steps: left.slice(0, PAGE),
      next_step: left[PAGE]?.step ?? null,
    };
  }

  /** What was asked since the last call. */
  since(): readonly string[] {
    return this.asked.splice(0);
  }
}

const COUNTS = (run: { readonly steps: readonly RunStep[] }) => run.steps.map(({ step, rollouts }) => [step, rollouts]);

test('every round but the first asks for the last step, and for alerts and answers if it has changed', async () => {
  const run = new Recorded();
  for (const step of [0, 1, 2, 3, 4]) run.record(step, 8);
  const followed = run.follow();
  const first = await followed.read();
  expect(run.since()).toEqual(['steps', 'steps 2', 'steps 4', '/alerts', '/rollouts']);
  expect(COUNTS(first)).toEqual([0, 1, 2, 3, 4].map((step) => [step, 8]));

  expect(await followed.read()).toBe(first);
  expect(run.since()).toEqual(['steps 4']);

  run.record(4, 8);
  run.record(5, 8);
  const grown = await followed.read();
  expect(run.since()).toEqual(['steps 4', '/alerts', '/rollouts']);
  expect(COUNTS(grown).slice(-2)).toEqual([
    [4, 16],
    [5, 8],
  ]);
  expect(grown.rollouts).toBe(56);
});

test('a change that the last step does not explain loads the whole run again', async () => {
  const run = new Recorded();
  for (const step of [0, 1, 2]) run.record(step, 8);
  const followed = run.follow();
  await followed.read();
  run.since();
  run.record(0, 8);
  expect(COUNTS(await followed.read())[0]).toEqual([0, 16]);
  expect(run.since()).toEqual(['steps 2', 'steps', 'steps 2', '/alerts', '/rollouts']);
});

test('steps before the first one that is followed are not asked for', async () => {
  const run = new Recorded();
  for (const step of [0, 1]) run.record(step, 8);
  const followed = run.follow(7);
  expect(COUNTS(await followed.read())).toEqual([]);
  run.record(7, 8);
  expect(COUNTS(await followed.read())).toEqual([[7, 8]]);
  expect(run.since().filter((asked) => asked.startsWith('steps'))).toEqual(['steps 7', 'steps 7']);
});
