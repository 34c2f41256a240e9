/**
 * What one isolate holds at a time, through the API: while a judged body holds all room, or a judged answer all claims,
 * other requests are refused with `overloaded`, and adapters whose clients hardly retry wait for room. Streams have a
 * room of their own.
 */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { createPlatformFactory, type PlatformParts } from '../../functions/platform.ts';
import { type JudgeBackend, lexicalBackend } from '../../service/backends/judge-backends.ts';
import { mostClaims } from '../../src/citations/answer-limits.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { BODIES, requestOf, TRAINERS } from './adapters-trainers.ts';
import { ORIGIN, post, problemOf, ROLLOUT, TOOL_OUTPUT } from './api.ts';

/** More than any body of these tests. */
const ROOM_BYTES = 100_000;

/** Time limit of 64 KB of a body. */
const STALL_MS = 700;

type Isolate = (request: Request) => Promise<Response>;

let isolate: Isolate;
beforeEach(() => {
  isolate = isolateThat(300);
});

/** An isolate whose patient adapters wait for a time. */
function isolateThat(adapterRetryWindowMs: number, parts: Partial<PlatformParts> = {}): Isolate {
  const app = createApp(createPlatformFactory(parts), {
    maxBodyBytesInFlight: ROOM_BYTES,
    maxStreamBytes: ROOM_BYTES,
    maxArrivingBytes: ROOM_BYTES,
    bodyStallMs: STALL_MS,
    adapterRetryWindowMs,
  });
  return async (request) => app.fetch(request, env, createExecutionContext());
}

/** Backends whose judge waits, at its first call, until the test lets it go on. */
function gatedJudge() {
  const [asked, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const backend: JudgeBackend = {
    ...lexicalBackend,
    judge: {
      ...LEXICAL_JUDGE,
      async judge(request, options) {
        asked.resolve();
        await opened.promise;
        return LEXICAL_JUDGE.judge(request, options);
      },
    },
  };
  const backends = { named: [backend], default: backend, sandbox: null, generators: { named: [], default: null } };
  return { backends, asked: asked.promise, open: opened.resolve };
}

/** An isolate whose room for complete bodies is full, until the judge of that body goes on. */
async function fullIsolate(adapterRetryWindowMs = 300) {
  const { backends, asked, open } = gatedJudge();
  const into = isolateThat(adapterRetryWindowMs, { backendsOf: () => backends });
  const body = JSON.stringify({ ...ROLLOUT, replicate: ++replicates }).padEnd(ROOM_BYTES);
  const judged = into(post('/v1/score', body));
  await asked;
  return {
    into,
    async end() {
      open();
      expect((await judged).status).toBe(200);
    },
  };
}

/** No stored judgment answers a request that fills an isolate. */
let replicates = 10;

/** A verification that is still being written; unless told otherwise its text fills the room of streams. */
async function idleStream(into: Isolate, delta = 'x'.repeat(ROOM_BYTES)) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const send = async (value: unknown): Promise<void> =>
    writer.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
  const written = send({ tool_output: TOOL_OUTPUT }).then(() => send({ delta }));
  const reply = await into(new Request(`${ORIGIN}/v1/verify/stream`, { method: 'POST', body: readable }));
  await written;
  return {
    async end() {
      await writer.close();
      return reply.text();
    },
  };
}

const asLines = (path: string): Request =>
  new Request(`${ORIGIN}${path}`, { method: 'POST', headers: { 'content-type': 'application/jsonl' }, body: '{}\n' });

function upload(): Request {
  const body = new FormData();
  body.set('purpose', 'batch');
  body.set('file', new Blob(['{}\n'.repeat(10_000)]), 'input.jsonl');
  return new Request(`${ORIGIN}/v1/files`, { method: 'POST', body });
}

const REQUESTS: readonly (readonly [string, () => Request, number])[] = [
  ['/v1/verify', () => post('/v1/verify', { response: ROLLOUT.response, tool_output: TOOL_OUTPUT }), 200],
  ['/v1/score', () => post('/v1/score', ROLLOUT), 200],
];

/** A body that is announced, of which a part is sent, and then nothing until the test goes on. */
function unfinished(path: string, announced: number, part: string, headers: Record<string, string> = {}) {
  const { readable, writable } = new FixedLengthStream(announced);
  const writer = writable.getWriter();
  const sent = writer.write(new TextEncoder().encode(part)).catch(() => undefined);
  const all = { 'content-type': 'application/json', 'content-length': String(announced), ...headers };
  return { request: new Request(ORIGIN + path, { method: 'POST', headers: all, body: readable }), writer, sent };
}

const LARGE = 10 * 1024 * 1024;
const large = (): Request => {
  const sent = JSON.stringify({ response: ROLLOUT.response, tool_output: TOOL_OUTPUT }).padEnd(66_000);
  return post('/v1/verify', sent, { 'content-length': '66000' });
};

describe('a body that was announced and is not sent', () => {
  it.each([
    ['/v1/verify', {}],
    ['/v1/score', {}],
    ['/mcp', {}],
    ['/v1/adapters/slime?recipe=dr-tulu', {}],
    ['/v1/judgments:import', { 'content-type': 'application/jsonl' }],
    ['/v1/runs/r/import', { 'content-type': 'application/jsonl' }],
    ['/v1/files', { 'content-type': 'multipart/form-data; boundary=b' }],
  ] as const)('to %s takes no room from others, and ends with 408', async (path, headers) => {
    for (const announced of [1_000, LARGE]) {
      const start = performance.now();
      const held = Array.from({ length: 20 }, () => isolate(unfinished(path, announced, '{', headers).request));
      for (const [, request] of REQUESTS) expect((await isolate(request())).status).toBe(200);
      expect((await isolate(large())).status).toBe(200);
      for (const reply of held) {
        const { retryable } = await problemOf(await reply, 408, 'body_too_slow');
        expect(retryable).toBe(true);
      }
      expect(performance.now() - start).toBeGreaterThan(STALL_MS - 50);
    }
  });

  it('is not waited for by a stream: its text comes when it is written', async () => {
    const { request, writer } = unfinished(
      '/v1/verify/stream',
      10_000,
      `${JSON.stringify({ tool_output: TOOL_OUTPUT })}\n`,
    );
    const reply = await isolate(request);
    await new Promise((resolve) => setTimeout(resolve, 2 * STALL_MS));
    const sent = `${JSON.stringify({ tool_output: TOOL_OUTPUT })}\n`.length;
    const delta = `${JSON.stringify({ delta: ROLLOUT.response })}`.padEnd(10_000 - sent);
    await writer.write(new TextEncoder().encode(delta));
    await writer.close();
    expect(await reply.text()).toContain('event: done');
  });
});

describe('while bodies that are arriving fill their room', () => {
  it('small requests are answered, larger ones and imports refused at their start, until they have stalled', async () => {
    const held = unfinished('/v1/verify', LARGE, ' '.repeat(128 * 1024));
    const reply = isolate(held.request);
    await held.sent;
    for (const [, request] of REQUESTS) {
      const { url, method, headers, body } = request();
      const text = await new Response(body).text();
      headers.set('content-length', String(new TextEncoder().encode(text).length));
      expect((await isolate(new Request(url, { method, headers, body: text }))).status).toBe(200);
    }
    for (const request of [
      large,
      () => asLines('/v1/judgments:import'),
      () => asLines('/v1/runs/admitted/import'),
      upload,
    ]) {
      const refused = await isolate(request());
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      await problemOf(refused, 503, 'overloaded');
    }
    await problemOf(await reply, 408, 'body_too_slow');
    for (const request of [
      large,
      () => asLines('/v1/judgments:import'),
      () => asLines('/v1/runs/admitted/import'),
      upload,
    ]) {
      const taken = await isolate(request());
      expect(taken.status, await taken.clone().text()).toBe(200);
    }
  });

  it('one that has begun waits for room, and is never refused midway', async () => {
    const text = JSON.stringify({ response: ROLLOUT.response, tool_output: TOOL_OUTPUT }).padEnd(140_000);
    const bodies = Array.from({ length: 4 }, () => unfinished('/v1/verify', text.length, text.slice(0, 66_000)));
    const replies = bodies.map(({ request }) => isolate(request));
    const ends = bodies.map(async ({ writer }) => {
      await writer.write(new TextEncoder().encode(text.slice(66_000)));
      await writer.close();
    });
    await Promise.all(ends);
    for (const reply of replies) expect((await reply).status, await (await reply).clone().text()).toBe(200);
  });
});

describe('while a judged body fills the isolate', () => {
  it.each(REQUESTS)('%s is refused with a retryable 503, and is taken afterwards', async (_path, request, status) => {
    const { into, end } = await fullIsolate();
    const refused = await into(request());
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await problemOf(refused, 503, 'overloaded')).retryable).toBe(true);
    await end();
    const taken = await into(request());
    expect(taken.status, await taken.clone().text()).toBe(status);
  });

  it('a stream is verified', async () => {
    const { into, end } = await fullIsolate();
    expect(await (await into(streamed(ROLLOUT.response))).text()).toContain('event: done');
    await end();
  });

  it.each(TRAINERS)('the adapter of %s answers no reward, and 503', async (trainer) => {
    const { into, end } = await fullIsolate();
    await problemOf(await into(requestOf(trainer, {}, BODIES[trainer])), 503, 'overloaded');
    await end();
  });

  it.each(['openrlhf', 'nemo-gym'] as const)('the adapter of %s waits for room', async (trainer) => {
    const { into, end } = await fullIsolate(60_000);
    const reply = into(requestOf(trainer, {}, BODIES[trainer]));
    // Not refused while small requests come and go.
    await problemOf(await into(post('/v1/score', ROLLOUT)), 503, 'overloaded');
    await end();
    expect((await reply).status, await (await reply).clone().text()).toBe(200);
  });
});

it('many small bodies whose connections break leave their room, though the judge still has them', async () => {
  const { backends, open } = gatedJudge();
  const into = isolateThat(300, { backendsOf: () => backends });
  const caller = new AbortController();
  const bytes = 5_000;
  const held = Array.from({ length: ROOM_BYTES / bytes }, () => {
    const text = JSON.stringify({ ...ROLLOUT, replicate: ++replicates });
    const body = text + ' '.repeat(bytes - new TextEncoder().encode(text).length);
    return into(new Request(post('/v1/score', body, { 'content-length': String(bytes) }), { signal: caller.signal }));
  });
  const verify = async (): Promise<number> =>
    (await into(post('/v1/verify', { response: ROLLOUT.response, tool_output: TOOL_OUTPUT }))).status;
  await expect.poll(verify).toBe(503);
  caller.abort();
  await expect.poll(verify).toBe(200);
  open();
  await Promise.allSettled(held);
});

/** A verification in pieces of one character, each in a line and a chunk of its own. */
function streamed(response: string): Request {
  const lines = [{ tool_output: TOOL_OUTPUT }, ...Array.from(response, (delta) => ({ delta }))];
  const chunks = lines.map((line) => new TextEncoder().encode(`${JSON.stringify(line)}\n`)).values();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Request(`${ORIGIN}/v1/verify/stream`, { method: 'POST', body });
}

describe('while an idle stream fills the room of streams', () => {
  it.each(REQUESTS)('%s is answered', async (_path, request, status) => {
    const stream = await idleStream(isolate);
    expect((await isolate(request())).status).toBe(status);
    expect((await isolate(large())).status).toBe(200);
    expect(await stream.end()).toContain('event: done');
  });

  it('another stream is refused with a retryable 503, and is taken afterwards', async () => {
    const stream = await idleStream(isolate);
    const refused = await isolate(streamed(ROLLOUT.response));
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await problemOf(refused, 503, 'overloaded')).retryable).toBe(true);
    await stream.end();
    expect(await (await isolate(streamed(ROLLOUT.response))).text()).toContain('event: done');
  });
});

it('a stream counts its text, not the lines around it', async () => {
  const idle = await idleStream(isolate, 'x'.repeat(ROOM_BYTES - 20_000));
  // Its lines have 70,000 bytes.
  expect(await (await isolate(streamed('x'.repeat(5_000)))).text()).toContain('event: done');
  await idle.end();
});

describe('while an answer with as many claims as fit is judged', () => {
  const claims = mostClaims(ROLLOUT.response, 1, 'recipes');

  it('other answers are refused, or wait, and no judge call is paid for them', async () => {
    const { backends, asked, open } = gatedJudge();
    const app = createApp(createPlatformFactory({ backendsOf: () => backends }), {
      maxClaimsInFlight: claims,
      adapterRetryWindowMs: 60_000,
    });
    const into: Isolate = async (request) => app.fetch(request, env, createExecutionContext());
    const judged = into(post('/v1/score', { ...ROLLOUT, replicate: 1 }));
    await asked;
    await problemOf(await into(post('/v1/score', { ...ROLLOUT, replicate: 2 })), 503, 'overloaded');
    const { response, ...shared } = ROLLOUT;
    await problemOf(await into(post('/v1/groups', { ...shared, responses: [response] })), 503, 'overloaded');
    await problemOf(await into(post('/v1/verify', { response, tool_output: TOOL_OUTPUT })), 503, 'overloaded');
    await problemOf(await into(requestOf('slime')), 503, 'overloaded');
    const patient = into(requestOf('openrlhf'));
    open();
    for (const reply of [await judged, await patient]) expect(reply.status, await reply.clone().text()).toBe(200);
  });
});
