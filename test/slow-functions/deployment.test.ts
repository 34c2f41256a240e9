/**
 * A deployment during which isolates and objects of both versions answer. They differ in the version of their messages
 * alone, which is enough to refuse each other. Wherever among the calls the objects change their version, nothing is
 * lost, recorded twice or judged twice.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BATCH_WATCH_MS, MESSAGE_TRUST_MS } from '../../functions/batches/batch-timing.ts';
import type { Environment } from '../../functions/environment.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { rolloutListSchema } from '../../src/wire/runs.ts';
import { type Detour, detoured } from '../contract/detoured-binding.ts';
import { ORIGIN, post, ROLLOUT, send } from '../functions/api.ts';
import { OVER } from '../functions/batch-api.ts';
import {
  begin,
  benchBackends,
  deliver,
  doctored,
  faults,
  judging,
  linesOnce,
  messages,
  pass,
  resetBench,
  state,
} from '../functions/batch-bench.ts';
import { readPage } from '../functions/open-metrics.ts';
import { replaceParts } from '../functions/worker.ts';

/** 0 = the version before the deployment, 1 = the one after it. */
type Version = 0 | 1;

/** The calls of objects so far; the objects have the new version from the call `switchAt` on. */
const deployment = { calls: 0, switchAt: 0, isolate: 0 as Version };

function objectVersion(): Version {
  return deployment.calls > deployment.switchAt ? 1 : 0;
}

/** The calls of an isolate of a version: an object sees by how much its own version differs. */
function callsFrom(isolate: Version): Detour {
  return (method, args, proceed) => {
    deployment.calls++;
    const [first, ...rest] = args;
    const skew = isolate - objectVersion();
    if (typeof first === 'number' && !WITHOUT_VERSION.has(method)) return proceed([first + skew, ...rest]);
    if (isVersioned(first)) return proceed([{ ...first, v: first.v + skew }, ...rest]);
    return proceed();
  };
}

/** Methods whose first argument is the number of a task. */
const WITHOUT_VERSION: ReadonlySet<string> = new Set(['extend', 'report']);

function isVersioned(value: unknown): value is { readonly v: number } {
  return typeof value === 'object' && value !== null && 'v' in value && typeof value.v === 'number';
}

const isolates = new Map<Version, Environment>();

function environmentOfIsolate(environment: Environment): Environment {
  const { isolate } = deployment;
  const known = isolates.get(isolate);
  if (known !== undefined) return known;
  const made: Environment = {
    ...environment,
    JUDGE_DESK: detoured(environment.JUDGE_DESK, () => callsFrom(isolate)),
    RUN_LEDGER: detoured(environment.RUN_LEDGER, () => callsFrom(isolate)),
  };
  isolates.set(isolate, made);
  return made;
}

replaceParts({
  backendsOf: benchBackends,
  finalStepReads: 2,
  environmentOf: (environment, place) => {
    if (place === 'handlers') return environmentOfIsolate(environment);
    return place === 'Batch' ? doctored(environment) : environment;
  },
});

beforeEach(resetBench);
afterEach(() => vi.useRealTimers());

let replicate = 100_000;

/** Records a run while isolates of both versions answer in turn. */
async function recordRun(run: string, switchAt: number) {
  Object.assign(deployment, { calls: 0, switchAt, isolate: 0 });
  judging.calls = 0;
  const rewards: (number | null)[][] = [];
  for (const group of ['a', 'b']) {
    const { response, ...rollout } = ROLLOUT;
    const responses = [response, `${response} It is long.`];
    const body = { ...rollout, responses, replicate: ++replicate, run: { id: run, step: 0, group } };
    for (let tries = 1; ; tries++) {
      deployment.isolate = deployment.isolate === 0 ? 1 : 0;
      const reply = await send(post('/v1/groups', body));
      if (reply.status === 200) {
        rewards.push([...groupResponseSchema.parse(await reply.json()).rewards]);
        break;
      }
      expect(reply.status, await reply.text()).toBe(503);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(tries).toBeLessThan(4);
    }
  }
  const made = { judged: judging.calls, rewards };
  const { calls } = deployment;
  // After the deployment.
  Object.assign(deployment, { switchAt: 0, isolate: 1 });
  const list = await send(new Request(`${ORIGIN}/v1/runs/${run}/rollouts?attempts=all`));
  const { rollouts } = rolloutListSchema.parse(await list.json());
  const recorded = rollouts.map(({ group, sample, attempt, reward }) => ({ group, sample, attempt, reward }));
  return { calls, found: { ...made, recorded } };
}

it('records and judges each rollout once, whichever call the objects change their version at', async () => {
  const { found } = await recordRun('calm', Number.POSITIVE_INFINITY);
  expect(found.recorded.map(({ group, sample, attempt }) => `${group}${sample}.${attempt}`)).toEqual([
    ...['a0.0', 'a1.0', 'b0.0', 'b1.0'],
  ]);
  expect(found.recorded.map(({ reward }) => reward)).toEqual(found.rewards.flat());
  let switchAt = 0;
  for (; ; switchAt++) {
    const during = await recordRun(`during-${switchAt}`, switchAt);
    expect(during.found, `${switchAt}`).toEqual(found);
    if (during.calls <= switchAt) break;
  }
  console.log(JSON.stringify({ switches_in_a_run: switchAt }));
  expect(switchAt).toBeGreaterThan(4);
});

it('ends a batch with each line once, whichever call its object changes its version at', async () => {
  const lines = 22;
  let switchAt = 0;
  for (; ; switchAt++) {
    resetBench();
    const { id, ids } = await begin(lines);
    Object.assign(deployment, { calls: 0, switchAt });
    judging.calls = 0;
    let isolate: Version = 0;
    while (!OVER.includes((await state(id)).status)) {
      const message = messages.shift();
      // A consumer drops a message of another version; the object sends it again.
      if (message === undefined) await pass(id, MESSAGE_TRUST_MS + BATCH_WATCH_MS);
      else {
        isolate = isolate === 0 ? 1 : 0;
        faults.batch = callsFrom(isolate);
        await deliver({ ...message, v: message.v + objectVersion() - isolate });
      }
    }
    const { calls } = deployment;
    faults.batch = null;
    await linesOnce(await state(id), ids);
    expect(judging.calls, `${switchAt}`).toBe(lines * JUDGMENTS_OF_A_LINE);
    if (calls <= switchAt) break;
  }
  console.log(JSON.stringify({ switches_in_a_batch: switchAt }));
  expect(switchAt).toBeGreaterThan(4);
});

it('loses no count: an object of the other version adds none, and the isolate keeps them', async () => {
  const page = async () => {
    const reply = await send(new Request(`${ORIGIN}/metrics`));
    return { status: reply.status, text: await reply.text() };
  };
  const scored = async () => {
    const { text } = await page();
    return readPage(text).value('citeward_requests_total{route="/v1/verify",status="200",reason=""}');
  };
  Object.assign(deployment, { calls: 0, switchAt: Number.POSITIVE_INFINITY, isolate: 0 });
  const before = await scored();
  deployment.isolate = 1;
  const { response, tool_output } = ROLLOUT;
  expect((await send(post('/v1/verify', { response, tool_output }))).status).toBe(200);
  expect((await page()).status).toBe(503);
  deployment.isolate = 0;
  expect(await scored()).toBe(before + 1);
});

/** Citations and rubric. */
const JUDGMENTS_OF_A_LINE = 2;
