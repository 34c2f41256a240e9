/**
 * Parallel large bodies against a Worker with the heap of the platform, while a slow model server judges: the Worker
 * answers all of them, and stays up.
 */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { MAX_CLAIMS, MAX_GROUP } from '../../src/limits.ts';
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

const row = {
  question: 'How long is the Aare?',
  positive_rubrics: ['States that the Aare is 288 km long'],
  recipe: 'refiner-gpt54-instance-rubric',
};
const GOOD = '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet></answer>';

function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${worker.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

function score(words: number, n: number): Promise<Response> {
  const tool_output = `<snippet id=S1>Request ${n}: ${'The Aare is 288 kilometres long. '.repeat(words)}</snippet>`;
  return post('/v1/score', { ...row, tool_output, response: GOOD });
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

const SOURCES = 20;

/** A group of the largest size, whose last sample is a normal answer and whose others make many claims. */
function groupOf(claims: number, n: number): object {
  const tool_output = Array.from(
    { length: SOURCES },
    (_, id) => `<snippet id=S${id + 1}>Group ${n}, ${id}: ${'The Aare is 288 kilometres long. '.repeat(20)}</snippet>`,
  ).join('\n');
  const claim = (sample: number, at: number): string =>
    `<snippet id=S${1 + (at % SOURCES)}>${sample} ${at} is a length of it.</snippet>`;
  const responses = Array.from({ length: MAX_GROUP - 1 }, (_, sample) => {
    const all = Array.from({ length: claims }, (_, at) => claim(sample, at));
    return `<answer>${all.join(' ')}</answer>`;
  });
  return { ...row, tool_output, responses: [...responses, GOOD] };
}

type Member = { readonly reward: number | null; readonly finding_counts: Readonly<Record<string, number>> };

it.each([
  { claims: 1_000, oversized: true },
  { claims: (MAX_CLAIMS * 8) / MAX_GROUP, oversized: false },
])('scores a group of 64 samples with $claims claims each with a heap of 128 MB', async ({ claims, oversized }) => {
  const reply = await post('/v1/groups', groupOf(claims, claims));
  const text = await reply.text();
  console.log(JSON.stringify({ claims, status: reply.status, reply_bytes: text.length }));
  expect(reply.status).toBe(200);
  const { members }: { members: Member[] } = JSON.parse(text);
  expect(members.at(-1)?.reward).toBeTypeOf('number');
  const many = members.slice(0, -1).map(({ finding_counts }) => finding_counts['answer_oversized'] ?? 0);
  expect(new Set(many)).toEqual(new Set([oversized ? 1 : 0]));
  expect((await score(1, 1_000 + claims)).status).toBe(200);
});

const batchSchema = z.object({
  id: z.string(),
  status: z.string(),
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
});

it('answers a batch of the largest groups with a heap of 128 MB, and requests beside it', async () => {
  const groups = Array.from({ length: 8 }, (_, n) => groupOf((MAX_CLAIMS * 8) / MAX_GROUP, 10_000 + n));
  const lines = groups.map((body, n) =>
    JSON.stringify({ custom_id: `g${n}`, method: 'POST', url: '/v1/groups', body }),
  );
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([`${lines.join('\n')}\n`]), 'groups.jsonl');
  const file = await fetch(`${worker.url}/v1/files`, { method: 'POST', body: form });
  const { id: input_file_id } = z.object({ id: z.string() }).parse(await file.json());
  const asked = { input_file_id, endpoint: '/v1/groups', completion_window: '24h' };
  const { id } = batchSchema.parse(await (await post('/v1/batches', asked)).json());
  for (let n = 0; ; n++) {
    const batch = batchSchema.parse(await (await fetch(`${worker.url}/v1/batches/${id}`)).json());
    if (batch.status === 'completed') {
      expect(batch.request_counts).toEqual({ total: 8, completed: 8, failed: 0 });
      return;
    }
    expect(['validating', 'in_progress', 'finalizing']).toContain(batch.status);
    expect((await score(1, 20_000 + n)).status).toBe(200);
    await pause(1_000);
  }
}, 900_000);

it('answers 12 of the largest groups in parallel with a heap of 128 MB', async () => {
  const replies = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const reply = await post('/v1/groups', groupOf((MAX_CLAIMS * 8) / MAX_GROUP, 30_000 + n));
      await reply.arrayBuffer();
      return `${reply.status} ${reply.headers.has('retry-after') ? 'retry' : ''}`.trim();
    }),
  );
  console.log(JSON.stringify(replies));
  expect(replies.filter((one) => one !== '200' && one !== '503 retry')).toEqual([]);
  expect(replies).toContain('200');
  expect((await score(1, 40_000)).status).toBe(200);
});

it.each([
  ['refiner-gpt54-instance-rubric', 'snippet'],
  ['dr-tulu', 'cite'],
  ['dr-tulu-exact', 'cite'],
] as const)('scores an answer of 10 MB with 200,000 claims with a heap of 128 MB: %s', async (recipe, tag) => {
  const claim = (n: number): string => `<${tag} id="S1">It is ${n} km long.</${tag}>`;
  const answer = `<answer>${Array.from({ length: 200_000 }, (_, n) => claim(n)).join(' ')}</answer>`;
  const tool_output = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>';
  const isTranscript = tag === 'cite';
  const { question, positive_rubrics } = row;
  const reply = await post('/v1/score', {
    question,
    recipe,
    judgments: 'skip',
    ...(isTranscript
      ? {
          response: `<tool_output>${tool_output}</tool_output>${answer}`,
          rubrics: positive_rubrics.map((description) => ({ description, weight: 1 })),
        }
      : { response: answer, tool_output, positive_rubrics }),
  });
  const text = await reply.text();
  expect(reply.status, text.slice(0, 300)).toBe(200);
  const { reward, components } = z
    .object({ reward: z.number(), components: z.record(z.string(), z.object({ value: z.number().nullable() })) })
    .parse(JSON.parse(text));
  console.log(JSON.stringify({ recipe, reward, components }));
  expect(components['citation']?.value).toBe(0);
  expect((await score(1, 50_000)).status).toBe(200);
});

it('answers eight of them in parallel with a heap of 128 MB', async () => {
  const claims = Array.from({ length: 200_000 }, (_, n) => `<snippet id=S1>It is ${n} km long.</snippet>`);
  const tool_output = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>';
  const body = { ...row, response: `<answer>${claims.join(' ')}</answer>`, tool_output, judgments: 'skip' };
  const replies = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const reply = await post('/v1/score', body);
      await reply.arrayBuffer();
      return `${reply.status} ${reply.headers.has('retry-after') ? 'retry' : ''}`.trim();
    }),
  );
  console.log(JSON.stringify(replies));
  expect(replies.filter((one) => one !== '200' && one !== '503 retry')).toEqual([]);
  expect((await score(1, 70_000)).status).toBe(200);
});

it('refuses to verify an answer of 10 MB with 200,000 claims with a heap of 128 MB', async () => {
  const claims = Array.from({ length: 200_000 }, (_, n) => `<snippet id=S1>Claim ${n} is a length.</snippet>`);
  const tool_output = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>';
  const reply = await post('/v1/verify', { response: `<answer>${claims.join(' ')}</answer>`, tool_output });
  expect(reply.status).toBe(422);
  expect(await reply.text()).toContain('200000 claims; at most 2000');
  expect((await score(1, 60_000)).status).toBe(200);
});
