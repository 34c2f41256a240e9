/** The trace of a request reaches every server that its work calls, through desks, streams and webhooks. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ORIGIN, post, ROLLOUT, send } from './api.ts';
import { endWebhooks, receiver, register, signedScore, startWebhooks, work } from './webhook-parts.ts';
import { replaceParts } from './worker.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: 'vendor=1' };

/** A judge, a generator and a sandbox behind one binding; it notes who was called with which trace, and fails. */
const called: { readonly path: string; readonly model: unknown; readonly traceparent: string | null }[] = [];
const server = {
  async fetch(url: string, init: RequestInit): Promise<Response> {
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : null;
    const model: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'model') : null;
    called.push({ path: new URL(url).pathname, model, traceparent: new Headers(init.headers).get('traceparent') });
    return Response.json({ error: { message: 'as the test wants' } }, { status: 400 });
  },
};
const common = { kind: 'vllm', slots: 4, context_tokens: 32_768, transport: 'vpc', vpc_binding: 'GPU' };
const BACKENDS = JSON.stringify({
  backends: [
    { ...common, name: 'judge', base_url: 'http://judge.internal/v1', model: 'judge-1' },
    { ...common, name: 'generator', role: 'generate', base_url: 'http://generator.internal/v1', model: 'generator-1' },
  ],
  default_judge: 'judge',
  default_generator: 'generator',
  sandbox: { base_url: 'http://sandbox.internal', runtime: 'r', slots: 2, transport: 'vpc', vpc_binding: 'GPU' },
});

replaceParts({ environmentOf: (environment) => ({ ...environment, BACKENDS, GPU: server }) });

beforeEach(() => {
  called.length = 0;
});

afterEach(endWebhooks);

/** The calls of a model; fails if there were none or one was not in the trace. */
function expectTraced(model: string): void {
  const own = called.filter((one) => one.model === model);
  expect(own.length, model).toBeGreaterThan(0);
  for (const { traceparent } of own) expect(traceparent).toBe(headers.traceparent);
}

const QUESTION = { question: ROLLOUT.question, tool_output: ROLLOUT.tool_output };

describe('a trace reaches', () => {
  it('the judge, through its desk', async () => {
    await (await send(post('/v1/score', ROLLOUT, headers))).arrayBuffer();
    expectTraced('judge-1');
  });

  it('the generator, also of a stream', async () => {
    await (await send(post('/v1/refine', QUESTION, headers))).arrayBuffer();
    expectTraced('generator-1');
    called.length = 0;
    await (await send(post('/v1/refine', { ...QUESTION, stream: true }, headers))).arrayBuffer();
    expectTraced('generator-1');
  });

  it('every server that /readyz asks', async () => {
    await (await send(new Request(`${ORIGIN}/readyz`, { headers }))).arrayBuffer();
    expect(new Set(called.map(({ path }) => path)).size).toBeGreaterThan(1);
    for (const { traceparent } of called) expect(traceparent).toContain(TRACE);
  });

  it('the receiver of a webhook, and the judge of its job', async () => {
    startWebhooks();
    const endpoint = await register();
    const body = JSON.stringify({ ...ROLLOUT, replicate: 7, judge: 'judge' });
    expect((await send(signedScore(endpoint, { body, headers }))).status).toBe(202);
    await work(endpoint.id);
    await work(endpoint.id);
    expectTraced('judge-1');
    expect(receiver.received[0]?.headers.get('traceparent')).toContain(TRACE);
  });
});

it('the log line has the trace, and a request without one begins its own', async () => {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line));
  await (await send(new Request(`${ORIGIN}/healthz`, { headers }))).arrayBuffer();
  await (await send(new Request(`${ORIGIN}/healthz`))).arrayBuffer();
  const [given, begun] = lines.map((line): { trace_id?: unknown } => JSON.parse(line));
  expect(given?.trace_id).toBe(TRACE);
  expect(begun?.trace_id).toMatch(/^[\da-f]{32}$/);
  expect(begun?.trace_id).not.toBe(TRACE);
});

it('an endpoint that was stored before traces were gets the column', async () => {
  startWebhooks();
  const { id } = await register();
  const object = env.DELIVERIES.getByName(`default/${id}`);
  const columns = () =>
    runInDurableObject(object, (_, { storage: { sql } }) =>
      sql
        .exec("SELECT name FROM pragma_table_info('jobs_v1')")
        .toArray()
        .map(({ name }) => name),
    );
  await runInDurableObject(object, (_, { storage: { sql } }) => {
    for (const table of ['jobs_v1', 'deliveries_v1']) sql.exec(`ALTER TABLE ${table} DROP COLUMN trace`);
  });
  expect(await columns()).not.toContain('trace');
  await evictDurableObject(object);
  expect(await columns()).toContain('trace');
});
