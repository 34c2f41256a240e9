/**
 * Simulates power losses of a Worker while it scores a batch: all processes are killed at random moments and restarted
 * on the same state. The batch must finish without any other intervention.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type OpenAI from 'openai';
import { expect } from 'vitest';
import { BATCH_WATCH_MS, TASK_LEASE_MS } from '../../functions/batches/batch-timing.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { begin, OVER, openAi, rewardsOnce, untilOver } from '../e2e/batch-client.ts';
import { root } from '../e2e/processes.ts';

const START_MS = 60_000;
/** Latest kill after a start: while the object looks for lost tasks, or during the work. */
const MAX_LIFE_MS = 1_000;
/** Allows for slow scoring on a slow machine. */
const SLACK_MS = 10_000;

export type CrashOptions = { readonly kills: number; readonly lines: number; readonly seed: number };

/** The faults injected into the Worker, for the report of a failure. */
export type CrashLog = { readonly life_ms: number; readonly status: string; readonly completed: number }[];

/** Scores the lines undisturbed and then with kills; more batches follow where one ends before all kills are done. */
export async function crashDuringBatch({ kills, lines, seed }: CrashOptions, log: CrashLog): Promise<void> {
  const state = await mkdtemp(join(tmpdir(), 'citeward-state-'));
  const random = randomFrom(seed);
  const start = (): Promise<LocalWorker> =>
    startLocalWorker({
      variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' },
      deadline_ms: START_MS,
      state,
    });
  let worker = await start();
  try {
    const ids = Array.from({ length: lines }, (_, n) => `row-${n}`);
    const began = performance.now();
    const calm = await scored(openAi(worker.url), await begin(openAi(worker.url), await rolloutLines(ids, 0)), ids);
    const calmMs = performance.now() - began;
    expect(calm.size).toBe(lines);

    for (let round = 1; log.length < kills; round++) {
      const { id } = await begin(openAi(worker.url), await rolloutLines(ids, round * lines));
      let over = false;
      let up = performance.now();
      while (!over && log.length < kills) {
        const life_ms = Math.round(random() * MAX_LIFE_MS);
        await pause(Math.max(0, life_ms - (performance.now() - up)));
        const { status, request_counts } = await openAi(worker.url).batches.retrieve(id);
        over = OVER.includes(status);
        if (over) break;
        await worker.kill();
        log.push({ life_ms, status, completed: request_counts?.completed ?? 0 });
        worker = await start();
        up = performance.now();
      }
      const client = openAi(worker.url);
      const recovery_ms = TASK_LEASE_MS + BATCH_WATCH_MS + 3 * calmMs + SLACK_MS;
      const batch = await untilOver(client, id, recovery_ms);
      expect(batch.status).toBe('completed');
      expect(await rewardsOnce(client, batch, ids)).toEqual(calm);
      const recovered_ms = Math.round(performance.now() - up);
      console.log(JSON.stringify({ round, calm_ms: Math.round(calmMs), recovered_ms, log }));
    }
  } finally {
    await worker.stop();
    await rm(state, { recursive: true, force: true });
  }
}

async function scored(client: OpenAI, { id }: OpenAI.Batch, ids: readonly string[]): Promise<Map<string, number>> {
  return rewardsOnce(client, await untilOver(client, id, 120_000), ids);
}

/** The example rollouts in turn; `replicate` makes each a judgment of its own. */
async function rolloutLines(ids: readonly string[], replicate: number): Promise<string> {
  const rollouts = (await readFile(join(root, 'examples/rollouts.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line): object => JSON.parse(line));
  return ids
    .map((custom_id, n) => {
      const rollout = { ...rollouts[n % rollouts.length], id: undefined, note: undefined };
      const body = { ...rollout, recipe: 'refiner-gpt54-instance-rubric', replicate: replicate + n };
      return `${JSON.stringify({ custom_id, method: 'POST', url: '/v1/score', body })}\n`;
    })
    .join('');
}

/** Numbers from 0 to 1 that follow from the seed: a linear congruential generator (Numerical Recipes, section 7.1). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
