/**
 * The ledger of a run in a real Worker process: a run of 100,000 rollouts (or RUN_ROLLOUTS) is recorded, sealed,
 * displayed, exported, replayed and deleted without taking more memory than a tenth of it, and a power loss during the
 * recording loses nothing that was acknowledged.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { runImportReportSchema } from '../../src/runs/import-run.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { rolloutListSchema, runDetailSchema } from '../../src/wire/runs.ts';
import { syntheticRunLines } from '../unit/runs/synthetic-rows.ts';
import { ageLedgers, ledgerState } from './object-files.ts';
import { peakMbOf } from './peak-memory.ts';

const ROLLOUTS = Number(process.env['RUN_ROLLOUTS'] ?? 100_000);
const STEPS = 100;
const KILLS = 3;
const GROUP = 4;

type Times = Readonly<Record<string, number>>;

let state: string;
let worker: LocalWorker;

async function start(): Promise<void> {
  const variables = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };
  worker = await startLocalWorker({ variables, deadline_ms: 120_000, state });
}

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'citeward-ledger-'));
  await start();
}, 180_000);

afterAll(async () => {
  await worker?.stop();
  await rm(state, { recursive: true, force: true });
});

/** Imports a generated run, which no process holds as a whole. */
async function importRun(run: string, rollouts: number, perStep: number, counts: object): Promise<void> {
  const lines = syntheticRunLines({ run, rollouts, perStep });
  const headers = { 'content-type': 'application/jsonl' };
  const init = { method: 'POST', headers, body: Readable.toWeb(Readable.from(lines)), duplex: 'half' };
  const reply = await fetch(`${worker.url}/v1/runs/${run}/import`, Object.assign<object, RequestInit>(init, {}));
  const report = runImportReportSchema.parse(await reply.json());
  expect(report).toMatchObject({ ...counts, refused: 0, complete: true });
}

/** Reads a reply to its end. Returns its last line. */
async function lastLine(path: string, body?: object): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const reply = await fetch(`${worker.url}${path}`, body === undefined ? {} : init);
  expect(reply.status).toBe(200);
  let tail = '';
  for await (const text of (reply.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
    tail = (tail + text).slice(-200_000);
  }
  return tail.trimEnd().split('\n').at(-1) ?? '';
}

/**
 * Lets all records of all runs move into segments. The files of objects can be read only while the Worker is stopped,
 * which also interrupts its sealers; so each round gives them more time.
 */
async function seal(run: string, rollouts: number): Promise<void> {
  for (let round = 1; ; round++) {
    await worker.stop();
    const { inline } = ledgerState(state);
    ageLedgers(state);
    await start();
    if (inline === 0) return;
    // Repeated rollouts are recognised, and the recording sets the alarm again.
    await importRun(run, 8, rollouts / STEPS, { imported: 0, already_there: 8 });
    await pause(1_000 * round);
  }
}

/** Everything that is done with a run. Returns the times in seconds, and the highest memory of the Worker in MB. */
async function use(run: string, rollouts: number): Promise<{ readonly times: Times; readonly peak: number }> {
  const times: Record<string, number> = {};
  const timed = async (name: string, work: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    await work();
    times[name] = Math.round(performance.now() - started) / 1000;
  };
  await timed('import', () => importRun(run, rollouts, rollouts / STEPS, { imported: rollouts }));
  const peak = peakMbOf(worker);
  await timed('seal', () => seal(run, rollouts));
  for (const name of ['first page', 'page']) {
    await timed(name, async () => {
      const detail = runDetailSchema.parse(await (await fetch(`${worker.url}/v1/runs/${run}`)).json());
      expect([detail.rollouts, detail.steps.length, detail.next_step]).toEqual([rollouts, STEPS, null]);
      expect(detail.steps.reduce((sum, step) => sum + step.rollouts, 0)).toBe(rollouts);
    });
  }
  await timed('export', async () => {
    expect(await lastLine(`/v1/runs/${run}/export`)).toBe(`{"end":{"v":1,"rollouts":${rollouts}}}`);
  });
  await timed('replay', async () => {
    const last = JSON.parse(await lastLine(`/v1/runs/${run}/replay`, { recipe: { set: { citation_weight: 0.5 } } }));
    expect(last).toMatchObject({ kind: 'summary', rollouts, judge_calls: 0 });
  });
  await timed('delete', async () => {
    const deleted = await fetch(`${worker.url}/v1/runs/${run}`, { method: 'DELETE' });
    expect(await deleted.json()).toEqual({ id: run, deleted: true, complete: true });
    expect((await fetch(`${worker.url}/v1/runs/${run}`)).status).toBe(404);
  });
  return { times, peak: Math.max(peak, peakMbOf(worker)) };
}

describe.runIf(process.platform === 'linux')('a long run', () => {
  it('is recorded, sealed, displayed, exported, replayed and deleted with the memory of a tenth of it', async () => {
    await use('warm', ROLLOUTS / 10);
    const { peak: small } = await use('short', ROLLOUTS / 10);
    const { peak: large, times } = await use('long', ROLLOUTS);
    console.log(JSON.stringify({ rollouts: ROLLOUTS, peak_mb: { small, large }, seconds: times }));
    expect(large / small).toBeLessThanOrEqual(1.75);
  }, 3_600_000);
});

describe('a power loss while a run is recorded', () => {
  const bodyOf = (group: number) => ({
    recipe: 'refiner-gpt54-instance-rubric',
    question: 'How long is the Aare?',
    tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
    responses: Array.from({ length: GROUP }, (_, n) => `<answer>It is ${n} km long, says group ${group}.</answer>`),
    positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
    run: { id: 'crash', step: 0, group },
  });
  const record = async (group: number) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(bodyOf(group)) };
    const reply = await fetch(`${worker.url}/v1/groups`, init);
    return reply.status === 200 ? groupResponseSchema.parse(await reply.json()) : null;
  };

  it('loses no acknowledged rollout, and a repeated request records none twice', async () => {
    const acknowledged = new Map<number, readonly (number | null)[]>();
    let sent = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      let isUp = true;
      const work = async (): Promise<void> => {
        while (isUp) {
          const group = sent++;
          try {
            const reply = await record(group);
            if (reply !== null) acknowledged.set(group, reply.rewards);
          } catch {
            // The connection broke: it is unknown whether the group was recorded.
          }
        }
      };
      const workers = Array.from({ length: 4 }, work);
      await pause(1_500 + 400 * kill);
      const killed = worker.kill();
      isUp = false;
      await killed;
      await Promise.all(workers);
      await start();
    }
    expect(acknowledged.size).toBeGreaterThan(KILLS);
    for (const [group, rewards] of acknowledged) {
      const url = `${worker.url}/v1/runs/crash/rollouts?step=0&group=${group}`;
      const { rollouts } = rolloutListSchema.parse(await (await fetch(url)).json());
      expect(rollouts.map(({ reward }) => reward)).toEqual(rewards);
    }
    for (let group = 0; group < sent; group++) {
      const members = (await record(group))?.members ?? [];
      expect(members.map(({ run }) => run?.attempt)).toEqual(Array(GROUP).fill(0));
      if (acknowledged.has(group)) {
        expect(members.map(({ run }) => run?.status)).toEqual(Array(GROUP).fill('unchanged'));
      }
    }
    const detail = runDetailSchema.parse(await (await fetch(`${worker.url}/v1/runs/crash`)).json());
    expect(detail).toMatchObject({
      rollouts: sent * GROUP,
      steps: [{ step: 0, groups: sent, rollouts: sent * GROUP }],
    });
  }, 300_000);
});
