/**
 * A run of 100 steps x 256 rollouts in the D1 of a local Worker, replayed with another citation weight by one command:
 * no judge is called, every reward and advantage is that of scoring again from the kept judgments, and neither the
 * Worker nor the command takes more memory than for a tenth of the run (peaks of their processes; Linux only).
 */
import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { type ResolvedRecipe, resolveRecipe } from '../../src/families/resolve.ts';
import { runImportReportSchema } from '../../src/runs/import-run.ts';
import { advantages } from '../../src/scoring/advantages.ts';
import { replayLineSchema } from '../../src/wire/replay-reply.ts';
import { citeward, type Ended, spawnCiteward } from '../e2e/processes.ts';
import { peakMbOf } from './peak-memory.ts';
import { GROUP, groupName, KeptJudgments, rolloutsOf, runLines } from './scored-run.ts';

const LONG = { steps: 100, perStep: 32 };
const SHORT = { steps: 10, perStep: 32 };
const ROLLOUTS = LONG.steps * LONG.perStep * GROUP;
const BASE = 'refiner-gpt54-instance-rubric';
const VARIABLES = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };

const judgments = new KeptJudgments();
let directory: string;
let worker: LocalWorker;

async function recipeOf(input: string | Record<string, unknown>): Promise<ResolvedRecipe> {
  const resolved = await resolveRecipe(input);
  if (!resolved.ok) throw new Error('no recipe');
  return resolved.value;
}

function fileOf(run: string): string {
  return join(directory, `${run}.jsonl`);
}

async function importFile(run: string, rollouts: number): Promise<void> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body: await openAsBlob(fileOf(run)),
  };
  const reply = await fetch(`${worker.url}/v1/runs/${run}/import`, init);
  const report = runImportReportSchema.parse(await reply.json());
  expect(report).toMatchObject({ imported: rollouts, refused: 0, complete: true });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-replay-'));
  const recipe = await recipeOf(BASE);
  await pipeline(runLines('long', LONG, recipe, judgments), createWriteStream(fileOf('long')));
  await pipeline(runLines('short', SHORT, recipe, judgments), createWriteStream(fileOf('short')));
  const state = join(directory, 'state');
  worker = await startLocalWorker({ variables: VARIABLES, deadline_ms: 120_000, state });
  await importFile('long', ROLLOUTS);
  await importFile('short', SHORT.steps * SHORT.perStep * GROUP);
  await worker.stop();
  // A Worker that has done nothing yet: what the import took says nothing about the replay.
  worker = await startLocalWorker({ variables: VARIABLES, deadline_ms: 120_000, state });
}, 1_500_000);

afterAll(async () => {
  await worker?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Peak resident memory of this process, which it reports at its end. */
const REPORT_PEAK = 'process.on("exit",()=>console.error("maxrss",process.resourceUsage().maxRSS))';

async function replayPeakMb(...args: string[]): Promise<{ readonly ended: Ended; readonly mb: number }> {
  const ended = await spawnCiteward({
    nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(REPORT_PEAK)}`],
    args: ['replay', ...args, '--set', 'citation_weight=0.5'],
  });
  expect(ended.code, ended.stderr).toBe(0);
  return { ended, mb: Number(/maxrss (\d+)/.exec(ended.stderr)?.[1]) / 1024 };
}

describe.runIf(process.platform === 'linux')('a run of 25,600 rollouts', () => {
  it('takes no more memory than a tenth of it, in the Worker and in the command', async () => {
    const url = ['--url', worker.url];
    const small = { worker: 0, command: 0 };
    // Several runs, because the allocator's peak needs some runs to settle.
    for (let i = 0; i < 3; i++) small.command = Math.max(small.command, (await replayPeakMb('short', ...url)).mb);
    small.worker = peakMbOf(worker);
    const long = await replayPeakMb('long', ...url);
    const large = { worker: peakMbOf(worker), command: long.mb };
    const file = {
      small: (await replayPeakMb('--file', fileOf('short'))).mb,
      large: (await replayPeakMb('--file', fileOf('long'))).mb,
    };
    const [said] = long.ended.stderr.split('\n').filter((line) => line.includes('rollouts/s'));
    console.log(JSON.stringify({ peak_mb: { small, large, file }, said }));
    expect(long.ended.stderr).toContain(`${ROLLOUTS.toLocaleString('en-US')} rollouts in 3,200 groups`);
    expect(long.ended.stderr).toContain('0 judge calls');
    expect(large.worker / small.worker).toBeLessThanOrEqual(1.5);
    expect(large.command / small.command).toBeLessThanOrEqual(1.5);
    expect(file.large / file.small).toBeLessThanOrEqual(1.5);
  }, 600_000);

  it('has the rewards and advantages of scoring again from the kept judgments, bit for bit', async () => {
    const ended = await citeward('replay', 'long', '--url', worker.url, '--set', 'citation_weight=0.5', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    const other = await recipeOf({ base: BASE, citation_weight: 0.5 });
    const recorded = await recipeOf(BASE);
    const seen = { groups: 0, rewards: new Set<number | null>(), changed: 0 };
    for await (const text of createInterface(Readable.from([ended.stdout]))) {
      const line = replayLineSchema.parse(JSON.parse(text));
      if (line.kind === 'summary') {
        expect(line).toMatchObject({ rollouts: ROLLOUTS, groups: 3_200, judge_calls: 0 });
        expect(line.figures?.recorded).toEqual({ equal: ROLLOUTS, alone: 0, different: 0 });
      }
      if (line.kind !== 'group') continue;
      expect(line.group).toBe(groupName(seen.groups));
      const rollouts = rolloutsOf(seen.groups);
      const again = (await judgments.score(rollouts, other, 'only')).map(({ reply }) => reply.reward);
      const before = (await judgments.score(rollouts, recorded, 'only')).map(({ reply }) => reply.reward);
      expect(line.after.rewards).toEqual(again);
      expect(line.before.rewards).toEqual(before);
      const centred = advantages(again);
      expect(line.after.advantages).toEqual(centred.ok ? centred.value.advantages.map((one) => one.advantage) : null);
      for (const [position, reward] of again.entries()) {
        seen.rewards.add(reward);
        if (reward !== before[position]) seen.changed++;
      }
      seen.groups++;
    }
    expect(seen.groups).toBe(3_200);
    // It could fail: rewards differ, and most change with the weight.
    expect(seen.rewards.size).toBeGreaterThan(50);
    expect(seen.changed).toBeGreaterThan(ROLLOUTS / 2);
  }, 900_000);
});
