/**
 * The desk in a real Worker process before a real HTTP model server: many concurrent callers, and one that disconnects
 * during a call. Tests inside workerd cannot test sockets.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { replyText } from '../contract/stub-replies.ts';

const MODEL = 'slow-judge';
const DELAY_MS = 2_000;
const CALLERS = 200;

const calls: string[] = [];
/** A chat-completions server that thinks for a while. */
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts).toString('utf8');
    calls.push(body);
    setTimeout(() => {
      const message = { role: 'assistant', content: replyText('vllm', body) };
      const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
      const whole = { id: 'x', object: 'chat.completion', model: MODEL, usage };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...whole, choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    }, DELAY_MS);
  });
});

let worker: LocalWorker;
let state: string;
let start: () => Promise<LocalWorker>;
beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'citeward-desk-'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const backend = {
    kind: 'vllm',
    name: 'slow',
    model: MODEL,
    base_url: `http://127.0.0.1:${address.port}/v1`,
    slots: 64,
    context_tokens: 32_768,
  };
  const BACKENDS = JSON.stringify({ backends: [backend], default_judge: 'slow' });
  const variables = { ALLOW_ANONYMOUS: 'true', BACKENDS };
  start = () => startLocalWorker({ variables, state, deadline_ms: 60_000 });
  worker = await start();
});

afterAll(async () => {
  await worker?.stop();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(state, { recursive: true, force: true });
});

function score(
  replicate: number,
  signal?: AbortSignal,
  judgments: 'use' | 'only' = 'use',
  more: { readonly deadline_s?: number } = {},
): Promise<Response> {
  const body = {
    ...more,
    judgments,
    question: 'How long is the Aare?',
    tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
    response:
      '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet> It is a popular place to swim in summer.</answer>',
    positive_rubrics: ['States that the Aare is 288 km long'],
    recipe: 'refiner-gpt54-instance-rubric',
    replicate,
  };
  return fetch(`${worker.url}/v1/score`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

const replySchema = z.object({ reward: z.number(), judgments: z.array(z.object({ stored: z.boolean() })) });

async function rewardOf(reply: Response): Promise<number> {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const { reward, judgments } = replySchema.parse(JSON.parse(text));
  expect(judgments).toEqual([{ stored: true }, { stored: true }]);
  return reward;
}

describe('a Worker process with a slow judge', () => {
  it('tells a caller that the judge is still running, before its deadline ends the request, and scores the retry', async () => {
    calls.length = 0;
    const early = await score(10, undefined, 'use', { deadline_s: DELAY_MS / 2_000 });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await early.json()).toMatchObject({ reason: 'judge_running', retryable: true });
    expect(await rewardOf(await score(10))).toBeGreaterThan(0);
    expect(calls).toHaveLength(2);
  });

  it(`answers ${CALLERS} concurrent identical requests with one judge call a kind`, async () => {
    calls.length = 0;
    const replies = await Promise.all(Array.from({ length: CALLERS }, () => score(1)));
    const rewards = await Promise.all(replies.map(rewardOf));
    expect(calls).toHaveLength(2);
    expect(new Set(rewards).size).toBe(1);
  });

  it('finishes what a caller began whose connection broke, and a retry joins it', async () => {
    calls.length = 0;
    const leaving = new AbortController();
    const left = score(2, leaving.signal).then(
      () => 'answered',
      () => 'gone',
    );
    while (calls.length < 2) await pause(20);
    leaving.abort();
    expect(await left).toBe('gone');
    await pause(300);
    expect(await rewardOf(await score(2))).toBeGreaterThanOrEqual(0);
    expect(calls).toHaveLength(2);
  });

  it('stores what nobody waited for', async () => {
    calls.length = 0;
    const leaving = new AbortController();
    const left = score(3, leaving.signal).catch(() => 'gone');
    while (calls.length < 2) await pause(20);
    leaving.abort();
    expect(await left).toBe('gone');
    await pause(DELAY_MS + 1_000);
    await rewardOf(await score(3));
    expect(calls).toHaveLength(2);
  });

  it('has a judgment that it called stored, although it was killed right after the reply', async () => {
    calls.length = 0;
    const reward = await rewardOf(await score(4));
    await worker.kill();
    worker = await start();
    expect(await rewardOf(await score(4, undefined, 'only'))).toBe(reward);
    expect(calls).toHaveLength(2);
  });
});
