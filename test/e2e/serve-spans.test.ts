/** `citeward serve` sends spans of requests and judge calls to a collector (OTLP over HTTP, JSON). */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { readSpanExport, SpanExport } from '../../serve/span-export.ts';
import { favourableCompletion } from './favourable-judge.ts';
import { jsonLines } from './processes.ts';
import { ended, serverFolder, startServe } from './serve-process.ts';

const { folder } = serverFolder();

afterEach(() => {
  vi.unstubAllEnvs();
});

const attributeSchema = z.object({ key: z.string(), value: z.record(z.string(), z.string()) });
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(attributeSchema),
  status: z.object({ code: z.int(), message: z.string() }).optional(),
});
const requestSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attributeSchema) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});
type Span = z.infer<typeof spanSchema>;

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of incoming.setEncoding('utf8')) text += piece;
  return text;
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function attributeOf({ attributes }: Pick<Span, 'attributes'>, name: string): string | undefined {
  return Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const ROLLOUT = {
  recipe: 'refiner-gpt54-instance-rubric',
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response: '<answer><snippet id=S1>It is 288 kilometres long.</snippet></answer>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
};

it('a collector gets the spans of a request and its judge calls, and of those that fail', async () => {
  const asked: { readonly path: string | undefined; readonly key: unknown; readonly body: string }[] = [];
  // The collector is busy at first: the spans come again.
  const collector = createServer(async (incoming, reply) => {
    asked.push({ path: incoming.url, key: incoming.headers['x-key'], body: await bodyOf(incoming) });
    reply.writeHead(asked.length === 1 ? 503 : 200).end('{}');
  });
  const parents: unknown[] = [];
  const judge = createServer(async (incoming, reply) => {
    parents.push(incoming.headers['traceparent']);
    const completion = JSON.parse(favourableCompletion(await bodyOf(incoming), 'judge-1'));
    const usage = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 };
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ ...completion, usage }));
  });
  const common = { kind: 'vllm', model: 'judge-1', slots: 4, context_tokens: 32_768 };
  const backends = [
    { ...common, name: 'up', base_url: `${await listening(judge)}/v1` },
    { ...common, name: 'gone', base_url: 'http://127.0.0.1:9/v1', model: 'judge-2' },
  ];
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${await listening(collector)}/`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=a%20b');
  const { child, url, log } = await startServe(
    ...['--state', join(folder, 'one'), '--var', `BACKENDS=${JSON.stringify({ backends, default_judge: 'up' })}`],
  );
  const score = (body: unknown, headers: Readonly<Record<string, string>>) =>
    fetch(`${url}/v1/score`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const given = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
  expect((await score(ROLLOUT, given)).status).toBe(200);
  expect((await score({ ...ROLLOUT, judge: 'gone' }, {})).status).toBe(503);
  const unsampled = { traceparent: `00-${'c'.repeat(32)}-b7ad6b7169203331-00` };
  expect((await score(ROLLOUT, unsampled)).status).toBe(200);
  // The end sends what waits once, and the first request is refused.
  await expect.poll(() => asked.length, { timeout: 10_000 }).toBeGreaterThan(0);
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(0);

  for (const { path, key } of asked) expect([path, key]).toEqual(['/v1/traces', 'a b']);
  const [first, ...sent] = asked.map(({ body }) => requestSchema.parse(JSON.parse(body)).resourceSpans);
  const resource = first?.[0]?.resource;
  expect(resource === undefined ? null : attributeOf(resource, 'service.name')).toBe('citeward');
  const spans = sent.flat().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  // Each once, although the first request was refused.
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  expect(spans.map(({ traceId }) => traceId)).not.toContain('c'.repeat(32));

  const own = spans.filter(({ traceId }) => traceId === TRACE);
  const request = own.find(({ kind }) => kind === 2);
  expect(request).toMatchObject({ name: 'POST /v1/score', parentSpanId: 'b7ad6b7169203331' });
  const call = own.find(({ kind }) => kind === 3);
  expect(call).toMatchObject({ name: 'chat judge-1', parentSpanId: request?.spanId });
  expect(parents).toContain(`00-${TRACE}-${call?.spanId}-01`);
  expect(BigInt(call?.endTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(BigInt(call?.startTimeUnixNano ?? 1));
  const named = (name: string) => (call === undefined ? undefined : attributeOf(call, name));
  expect(named('gen_ai.operation.name')).toBe('chat');
  expect(named('gen_ai.provider.name')).toBe('up');
  expect([named('gen_ai.usage.input_tokens'), named('gen_ai.usage.output_tokens')]).toEqual(['40', '2']);

  const failed = spans.find(({ name }) => name === 'chat judge-2');
  expect(failed?.status).toMatchObject({ code: 2, message: expect.stringMatching(/^judge_/) });
  const refused = spans.find(({ spanId }) => spanId === failed?.parentSpanId);
  expect(refused).toMatchObject({ name: 'POST /v1/score', kind: 2, status: { code: 2 } });
  expect(refused?.parentSpanId).toBeUndefined();
  // Spans are no lines of the log, and nothing of an answer is in one.
  expect(jsonLines(log()).filter(({ event }) => event === 'span')).toEqual([]);
  expect(asked.map(({ body }) => body).join()).not.toContain('Aare');
  for (const server of [collector, judge]) server.close();
});

it('reads the standard variables', () => {
  const read = (settings: Readonly<Record<string, string>>) =>
    readSpanExport(settings, {}, (message) => expect.fail(message));
  expect(read({})).toBeNull();
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/base' };
  expect(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  expect(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
  expect(read({ ...endpoint, OTEL_SERVICE_NAME: 's', OTEL_RESOURCE_ATTRIBUTES: 'a=1, b=2' })).toEqual({
    url: 'http://c:4318/base/v1/traces',
    headers: {},
    resource: { 'service.name': 's', a: '1', b: '2' },
  });
  expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/t' })?.url).toBe('https://c/t');
  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a key=1'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key=a%0Ab'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@c:4318'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%'],
  ] as const) {
    expect(() => read({ ...endpoint, [name]: value })).toThrow(`${name}: `);
    // In the environment it may be meant for another program.
    const warnings: string[] = [];
    const { [name]: _, ...others }: Readonly<Record<string, string>> = endpoint;
    expect(readSpanExport(others, { ...endpoint, [name]: value }, (message) => warnings.push(message))).toBeNull();
    expect(warnings).toEqual([expect.stringContaining(`spans are not exported: ${name}: `)]);
  }
});

it('says how many spans are lost when the collector takes spans again, and at the end', async () => {
  const statuses = [400, 200];
  const collector = createServer((_incoming, reply) => {
    reply.writeHead(statuses.shift() ?? 503).end();
  });
  const warnings: string[] = [];
  const options = { url: await listening(collector), headers: {}, resource: {} };
  const spans = new SpanExport(options, (message) => warnings.push(message));
  const ids = { trace_id: 'a', span_id: 'b', parent_id: null, began_ms: 1, ended_ms: 2 };
  const event = { event: 'span', ...ids, name: 'n', kind: 'server', error: null, attributes: {} };
  const add = () => spans.take({ time: '', level: 'info', message: '', event });
  for (const expected of ['answers 400', 'again: 1 are lost']) {
    add();
    await vi.waitFor(() => expect(warnings.at(-1)).toContain(expected), 5_000);
  }
  add();
  await spans.end();
  expect(warnings.slice(2)).toEqual([expect.stringContaining('answers 503'), '2 spans are lost']);
  collector.close();
});
