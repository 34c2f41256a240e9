/** A large batch from end to end, beside the same requests one by one, and what memory it takes. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isGroupAlive, type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { begin, openAi, requestLines, rewardsOnce, untilOver } from '../e2e/batch-client.ts';
import { root } from '../e2e/processes.ts';

const AT_ONCE = 8;
const WARMING_REQUESTS = 50;
const SINGLE_REQUESTS = 200;

export type ScaleResult = {
  readonly lines: number;
  readonly batch_lines_per_second: number;
  readonly single_requests_per_second: number;
  /** The batch's rate as a multiple of single requests'. */
  readonly ratio: number;
  /** Peak memory of workerd; `null` where the system does not say. */
  readonly workerd_peak_mb: number | null;
};

/** Scores so many lines in one batch and checks that each came back once. */
export async function scoreManyLines(lines: number, deadline_ms: number): Promise<ScaleResult> {
  const body: object = JSON.parse(await readFile(join(root, 'examples/request.json'), 'utf8'));
  const worker = await startLocalWorker({
    variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' },
    deadline_ms: 60_000,
  });
  try {
    const client = openAi(worker.url);
    await sendOneByOne(worker.url, body, WARMING_REQUESTS, lines + SINGLE_REQUESTS);
    const singleMs = await sendOneByOne(worker.url, body, SINGLE_REQUESTS, lines);
    const ids = Array.from({ length: lines }, (_, n) => `row-${n}`);
    const text = requestLines(ids, body);
    const started = performance.now();
    const { id } = await begin(client, text);
    const batch = await untilOver(client, id, deadline_ms, 250);
    const batchMs = performance.now() - started;
    expect(batch.status).toBe('completed');
    const rewards = await rewardsOnce(client, batch, ids);
    expect(new Set(rewards.values()).size).toBe(1);
    const batchRate = (lines * 1000) / batchMs;
    const singleRate = (SINGLE_REQUESTS * 1000) / singleMs;
    return {
      lines,
      batch_lines_per_second: Math.round(batchRate),
      single_requests_per_second: Math.round(singleRate),
      ratio: Math.round((batchRate / singleRate) * 100) / 100,
      workerd_peak_mb: await peakMemory(worker),
    };
  } finally {
    await worker.stop();
    expect(isGroupAlive(worker.group)).toBe(false);
  }
}

/** @returns how long they took, in milliseconds. */
async function sendOneByOne(url: string, body: object, requests: number, replicate: number): Promise<number> {
  const started = performance.now();
  const left = Array.from({ length: requests }, (_, n) => n).values();
  const work = async (): Promise<void> => {
    for (const n of left) {
      const reply = await fetch(`${url}/v1/score`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, replicate: replicate + n }),
      });
      expect(reply.status, await reply.text()).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return performance.now() - started;
}

/** Peak memory of the largest workerd of the group, in MB (VmHWM of /proc). */
async function peakMemory({ group }: LocalWorker): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const peaks = await Promise.all(
    (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map((pid) => peakOf(pid, group)),
  );
  return Math.max(...peaks);
}

async function peakOf(pid: string, group: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // Behind the name in brackets: state, parent, group.
    const processGroup = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
    if (processGroup !== group || !stat.includes('(workerd)')) return 0;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
  } catch (error) {
    // It ended between the listing and the look.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return 0;
    throw error;
  }
}
