/**
 * The connections of a desk: a Durable Object has six, and a call over them would wait unseen while its time runs. The
 * judges are the real ones, on transports that the test holds back.
 */

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { ConnectionGate } from '../../functions/desk/connection-gate.ts';
import { layoutOf } from '../../functions/desk/desk-layout.ts';
import { DESK_MESSAGE_VERSION } from '../../functions/desk/desk-messages.ts';
import type { JudgeDesk } from '../../functions/judge-desk.ts';
import { NO_BUDGETS } from '../../functions/projects/budgets.ts';
import type { Transport } from '../../lib/model-servers/calls/transport.ts';
import { createVllmBackend } from '../../lib/model-servers/vllm/vllm-chat.ts';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import { lexicalBackend } from '../../service/backends/judge-backends.ts';
import { createSandboxJudge } from '../../service/backends/sandbox/sandbox-judge.ts';
import type { JudgmentCall } from '../../src/judgments/desk.ts';
import { judgmentKey, judgmentPreimage } from '../../src/judgments/key.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import { replyText } from '../contract/stub-replies.ts';
import { eventually } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

/** A model server that holds back the headers of its replies, and then their bodies. */
const server = { asked: 0, headers: [] as (() => void)[], bodies: [] as (() => void)[] };

const transport: Transport = async (_url, { body }) => {
  server.asked++;
  await new Promise<void>((resolve) => server.headers.push(resolve));
  const message = { role: 'assistant', content: replyText('vllm', String(body)) };
  const reply = { id: 'x', object: 'chat.completion', model: 'held', usage: null };
  const text = JSON.stringify({ ...reply, choices: [{ index: 0, message, finish_reason: 'stop' }] });
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise<void>((resolve) => server.bodies.push(resolve));
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
  return new Response(stream, { headers: { 'content-type': 'application/json' } });
};

const ADDRESS = { base_url: 'https://held.example.com/v1', vpc_binding: null, api_key: null, access: null };
const vllm = createVllmBackend(
  {
    kind: 'vllm',
    name: 'held',
    model: 'held',
    identity: null,
    answers_as: null,
    slots: 64,
    context_tokens: 32_768,
    length_field: 'max_tokens',
    ...ADDRESS,
  },
  transport,
  () => Date.now(),
);
const held: JudgeBackend = {
  judge: createModelJudge(vllm, () => performance.now()),
  runs_in: 'desk',
  timeout_ms: 60_000,
  slots: 64,
  health: lexicalBackend.health,
};

replaceParts({
  backendsOf: () => ({ named: [held], default: held, sandbox: null, generators: { named: [], default: null } }),
});

const ONE_DESK = layoutOf(1, [held]);

function callOf(number: number): JudgmentCall {
  const request: JudgmentRequest = {
    kind: 'rubric',
    question: `question ${number}`,
    sources: [],
    criteria: [{ description: 'Says something' }],
    answer: 'an answer',
  };
  const preimage = judgmentPreimage(request, held.judge.identityFor('rubric'), 0);
  const key = judgmentKey(preimage);
  return { judge: 'held', key, preimage, request, class: 'live', deadline_ms: 10_000 };
}

beforeEach(async () => {
  await abortAllDurableObjects();
  Object.assign(server, { asked: 0, headers: [], bodies: [] });
});

describe('a desk with 64 slots', () => {
  it('lets five calls wait for headers, and more as headers arrive, although no reply is complete', async () => {
    // Inside the object, because its streams are of no other.
    await runInDurableObject(env.JUDGE_DESK.getByName('desk-0'), async (desk: JudgeDesk) => {
      const payer = { project: 'default', budgets: NO_BUDGETS };
      const calls = Array.from({ length: 12 }, (_, number) => callOf(number));
      const replies = desk.judge({ v: DESK_MESSAGE_VERSION, payer, place: { desk: 0, layout: ONE_DESK }, calls });
      await eventually(() => expect(server.asked).toBe(5));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(server.asked).toBe(5);
      for (const arrived of server.headers.splice(0, 3)) arrived();
      await eventually(() => expect(server.asked).toBe(8));
      for (const arrived of server.headers.splice(0)) arrived();
      await eventually(() => expect(server.asked).toBe(12));
      for (const arrived of server.headers.splice(0)) arrived();
      await eventually(() => expect(server.bodies).toHaveLength(12));
      for (const finished of server.bodies) finished();
      expect(await replies).toEqual(calls.map(() => expect.objectContaining({ ok: true, stored: true })));
    });
  });
});

describe('the time limit of a call', () => {
  it('starts when the call has its connection', async () => {
    const gate = new ConnectionGate(1);
    const leave = await gate.enter();
    const request = callOf(1).request;
    const waiting = held.judge.judge(request, { deadline_ms: 3_000, connections: gate });
    await new Promise((resolve) => setTimeout(resolve, 3_100));
    expect(server.asked).toBe(0);
    leave();
    await eventually(() => expect(server.headers).toHaveLength(1));
    server.headers[0]?.();
    await eventually(() => expect(server.bodies).toHaveLength(1));
    server.bodies[0]?.();
    expect(await waiting).toMatchObject({ ok: true });
  });
});

describe('a program that loops on eight tests', () => {
  const RUN_MS = 1_000;
  let running = 0;
  let peak = 0;
  /** A sandbox that ends each run at its time limit. */
  const sandbox: Transport = async (_url, { body, signal }) => {
    peak = Math.max(peak, ++running);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RUN_MS);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    running--;
    if (signal?.aborted) throw new DOMException('aborted', 'AbortError');
    const run: unknown = JSON.parse(String(body));
    const stdin = typeof run === 'object' && run !== null ? String(Reflect.get(run, 'stdin')) : '';
    const task: unknown = JSON.parse(stdin);
    const nonce = typeof task === 'object' && task !== null ? String(Reflect.get(task, 'nonce')) : '';
    const run_result = { status: 'TimeLimitExceeded', stdout: `${nonce} {"event":"running"}\n` };
    return Response.json({ status: 'Failed', run_result });
  };

  it('reaches its own time limit on all of them, although five run at once', async () => {
    const clock = {
      now: () => performance.now(),
      date: () => Date.now(),
      sleep: async () => undefined,
      random: () => 0,
    };
    const config = { name: 'sandbox', runtime: 'python', slots: 8, ...ADDRESS };
    const judge = createSandboxJudge(config, sandbox, clock);
    const request = {
      kind: 'execution',
      language: 'python',
      program: 'while True: pass',
      tests: Array.from({ length: 8 }, () => ({ stdin: '', stdout: '' })),
      time_limit_s: 1,
      memory_limit_mb: 64,
    } as const;
    // Enough for one run, too little for two one after the other.
    const options = { deadline_ms: 1.75 * RUN_MS, connections: new ConnectionGate(5) };
    const reply = await judge.judge(request, options);
    const looped = Array.from({ length: 8 }, () => 'time_limit');
    expect(reply).toEqual({ ok: true, verdicts: { kind: 'execution', tests: looped }, usage: null });
    expect(peak).toBe(5);
  });
});
