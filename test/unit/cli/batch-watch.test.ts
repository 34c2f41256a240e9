/** Polling a batch: its frequency, its retries, and its end. */

import { describe, expect, test } from 'vitest';
import { msUntilNextPoll, watchBatch } from '../../../cli/commands/batch/watch.ts';
import type { ClientFailure, Reply } from '../../../clients/typescript/index.ts';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { batchOf } from './batch-fixtures.ts';

const NO_ETA = { chunks: { total: 10, done: 2, waiting: 0, dead: 0 }, lines_per_second: null, eta_s: null };
const going = batchOf({ progress: NO_ETA });
const completed = batchOf({ status: 'completed' });
const unreachable: ClientFailure = { kind: 'unreachable', why: 'connection refused' };
const problem = (status: number, reason: string): ClientFailure => ({
  kind: 'problem',
  status,
  problem: { reason, detail: 'd', request_id: 'r' },
});

async function watch(steps: readonly (BatchReply | ClientFailure)[]) {
  const left = [...steps];
  const waits: number[] = [];
  const troubles: string[] = [];
  const seen: string[] = [];
  const watched = await watchBatch({
    async retrieve(): Promise<Reply<BatchReply>> {
      const step = left.shift();
      if (step === undefined) throw new Error('one look too many');
      return 'kind' in step ? { ok: false, failure: step } : { ok: true, body: step };
    },
    async sleep(ms) {
      waits.push(ms);
    },
    onBatch: ({ status }) => seen.push(status),
    onTrouble: (why) => troubles.push(why),
  });
  return { watched, waits, troubles, seen, left };
}

test('polls less and less often until the batch ends', async () => {
  const { watched, waits, seen } = await watch([...Array.from({ length: 9 }, () => going), completed]);
  expect(watched).toEqual({ ok: true, value: completed });
  expect(waits[0]).toBe(1_000);
  expect(waits.at(-1)).toBe(10_000);
  for (const [position, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(waits[position - 1] ?? 0);
  expect(seen.length).toBe(10);
});

test.each([
  [10_000, null, 10_000],
  [10_000, 3_600, 10_000],
  [10_000, 20, 5_000],
  [10_000, 1, 1_000],
  [1_500, 3_600, 1_500],
])('with a wait of %d ms and %j s left it waits %d ms', (wait, eta_s, until) => {
  expect(msUntilNextPoll(wait, eta_s)).toBe(until);
});

test.each(['failed', 'completed', 'expired', 'cancelled'] as const)('ends with %s', async (status) => {
  expect((await watch([batchOf({ status })])).watched).toMatchObject({ ok: true, value: { status } });
});

test('continues while the Worker does not answer or fails', async () => {
  const { watched, troubles } = await watch([
    unreachable,
    unreachable,
    problem(503, 'storage_failed'),
    problem(500, 'internal'),
    problem(429, 'rate_limited'),
    { kind: 'unexpected_reply', status: 502, detail: '502, text/html' },
    going,
    completed,
  ]);
  expect(watched.ok).toBe(true);
  expect(troubles).toEqual([
    'connection refused',
    'connection refused',
    '503 storage_failed',
    '500 internal',
    '429 rate_limited',
    '502, text/html',
  ]);
});

test.each([
  [problem(404, 'batch_not_found')],
  [problem(401, 'key_unknown')],
  [problem(403, 'scope_missing')],
  [{ kind: 'unexpected_reply', status: 200, detail: 'not as expected' } satisfies ClientFailure],
])('ends with a refusal: %j', async (failure) => {
  expect((await watch([going, failure])).watched).toEqual({ ok: false, error: failure });
});

describe('dead letters', () => {
  const dead = (done: number, dead: number, status: BatchReply['status'] = 'in_progress') =>
    batchOf({ status, progress: { ...NO_ETA, chunks: { total: 10, done, waiting: 0, dead } } });

  test('end the polling if nothing else is left', async () => {
    const { watched, left } = await watch([dead(7, 2), dead(8, 2), completed]);
    expect(watched).toMatchObject({ ok: true, value: { status: 'in_progress' } });
    expect(left).toEqual([completed]);
  });

  test('do not end it while other chunks run or the batch is about to end', async () => {
    expect((await watch([dead(7, 2), dead(9, 1, 'finalizing'), completed])).left).toEqual([]);
  });
});
