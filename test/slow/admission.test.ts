/**
 * Parallel large bodies against a Worker with the heap of the platform, while a slow model server judges: the Worker
 * answers all of them, and stays up.
 */
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { replyText } from '../contract/stub-replies.ts';

/** Of the platform, in MB. */
const HEAP_MB = 128;
const BODIES = 128;

const MODEL = 'slow-judge';
const DELAY_MS = 3_000;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const content = replyText('vllm', Buffer.concat(parts).toString('utf8'));
    setTimeout(() => {
      const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: MODEL, usage, choices }));
    }, DELAY_MS);
  });
});

let worker: LocalWorker;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const base_url = `http://127.0.0.1:${address.port}/v1`;
  const backend = { kind: 'vllm', name: 'slow', model: MODEL, base_url, slots: 256, context_tokens: 500_000 };
  const BACKENDS = JSON.stringify({ backends: [backend], default_judge: 'slow' });
  const variables = { ALLOW_ANONYMOUS: 'true', BACKENDS };
  process.env['MINIFLARE_WORKERD_V8_FLAGS'] = `--max-old-space-size=${HEAP_MB}`;
  worker = await startLocalWorker({ variables, deadline_ms: 100_000 });
});
afterAll(async () => {
  await worker?.stop();
  server.closeAllConnections();
  server.close();
});

function score(words: number, n: number): Promise<Response> {
  const body = {
    question: 'How long is the Aare?',
    tool_output: `<snippet id=S1>Request ${n}: ${'The Aare is 288 kilometres long. '.repeat(words)}</snippet>`,
    response: '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet></answer>',
    positive_rubrics: ['States that the Aare is 288 km long'],
    recipe: 'refiner-gpt54-instance-rubric',
  };
  const headers = { 'content-type': 'application/json' };
  return fetch(`${worker.url}/v1/score`, { method: 'POST', headers, body: JSON.stringify(body) });
}

it(`answers ${BODIES} parallel bodies of 1 MB and small ones beside them with a heap of ${HEAP_MB} MB`, async () => {
  const sent = Array.from({ length: BODIES }, (_, n) => score(n % 8 === 0 ? 1 : 32_000, n));
  const replies = await Promise.all(
    sent.map(async (reply) => {
      const { status, headers } = await reply;
      await (await reply).arrayBuffer();
      return `${status} ${headers.has('retry-after') ? 'retry' : ''}`.trim();
    }),
  );
  const counts = Object.fromEntries([...Map.groupBy(replies, (one) => one)].map(([one, all]) => [one, all.length]));
  console.log(JSON.stringify(counts));
  expect(replies.filter((one) => one !== '200' && one !== '503 retry')).toEqual([]);
  expect(counts['200']).toBeGreaterThan(0);
  expect((await score(1, BODIES)).status).toBe(200);
});
