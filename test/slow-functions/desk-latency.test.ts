/**
 * Live calls beside a batch: a judge of 8 slots and a fixed delay, first idle, then with far more batch calls waiting
 * than it has slots. Ratios of one run, no absolute times.
 */
import { abortAllDurableObjects } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import type { CallClass } from '../../src/judgments/desk.ts';
import { judgmentKey, judgmentPreimage } from '../../src/judgments/key.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { COUNTING, counting, countingBackends, countingDesks, lexically } from '../functions/desk-judge.ts';
import { replaceParts } from '../functions/worker.ts';

replaceParts({ backendsOf: countingBackends });

const SLOTS = 8;
const DELAY_MS = 200;
const LIVE_CALLERS = 2;
const LIVE_CALLS = 40;
const BATCH_CALLERS = 64;

let number = 0;

async function call(callClass: CallClass): Promise<void> {
  const request: JudgmentRequest = {
    kind: 'rubric',
    question: `question ${number++}`,
    sources: [],
    criteria: [{ description: 'Says something' }],
    answer: 'an answer',
  };
  const preimage = judgmentPreimage(request, { model: 'counting-1', template: 't1', sampling: { temperature: 0 } }, 0);
  const key = judgmentKey(preimage);
  const message = { judge: COUNTING, key, preimage, request, class: callClass, deadline_ms: 20_000 };
  const reply = await countingDesks().judge(message);
  expect(reply).toMatchObject({ ok: true, cached: false });
}

/** 95th percentile of the latency of live calls, a few callers one call after the other. */
async function liveP95(): Promise<number> {
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: LIVE_CALLERS }, async () => {
      for (let i = 0; i < LIVE_CALLS / LIVE_CALLERS; i++) {
        const started = performance.now();
        await call('live');
        times.push(performance.now() - started);
      }
    }),
  );
  times.sort((a, b) => a - b);
  return times[Math.ceil(0.95 * times.length) - 1] ?? Number.NaN;
}

describe('a judge of 8 slots under a batch', () => {
  it('answers live calls within twice the idle p95, and the batch goes on', async () => {
    counting.slots = SLOTS;
    await abortAllDurableObjects();
    counting.answer = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
      return lexically(request);
    };
    const idle = await liveP95();

    let batchDone = 0;
    let stopped = false;
    const batch = Array.from({ length: BATCH_CALLERS }, async () => {
      while (!stopped) {
        await call('batch');
        batchDone++;
      }
    });
    await vi.waitFor(() => expect(batchDone).toBeGreaterThan(0), 20_000);
    counting.peak = 0;
    const doneBefore = batchDone;
    const loaded = await liveP95();
    const batchMeanwhile = batchDone - doneBefore;
    stopped = true;
    await Promise.all(batch);

    console.log(
      JSON.stringify({
        idle_p95: Math.round(idle),
        loaded_p95: Math.round(loaded),
        batch: batchMeanwhile,
        peak: counting.peak,
      }),
    );
    expect(loaded / idle).toBeLessThanOrEqual(2);
    // At least a quarter of what three quarters of the slots could do in as many rounds as the live calls took.
    expect(batchMeanwhile).toBeGreaterThanOrEqual(LIVE_CALLS / LIVE_CALLERS);
    expect(counting.peak).toBeLessThanOrEqual(SLOTS);
  });
});
