/**
 * Refine and the agent loop against a real LLM server: `citeward serve`, the real vLLM backend, llama-server with the
 * tiny random model, and Python behind the real sandbox. The random model neither cites nor calls tools by itself;
 * where a test needs that, a grammar constrains its text. Tokens, streams, slots and their release are the server's
 * own.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readMetrics } from '../../gpu-backend/check/metrics.ts';
import { LLM_BUILD_TIMEOUT_MS, type LlmServer, startLlmServer } from '../../scripts/llm/local-server.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { agentResponseSchema } from '../../src/wire/agent-reply.ts';
import { refineEventSchemas, refineResponseSchema } from '../../src/wire/refine.ts';
import { SANDBOX_KEY, type SandboxServer, startSandbox } from '../e2e/sandbox-server.ts';
import { type InsistingProxy, startInsistingProxy } from './insisting-proxy.ts';

const CALL =
  '<tool_call>\\n{\\"name\\": \\"code_interpreter\\", \\"arguments\\": {\\"code\\": \\"print(6 * 7)\\"}}\\n</tool_call>';

const GRAMMARS = {
  noise: '',
  // One invented citation, and text that never ends.
  inventing: 'root ::= "<answer>So <snippet id=S9>" more\nmore ::= [a-z ] more',
  endless: 'root ::= "<answer>" more\nmore ::= [a-z ] more',
  calling: `root ::= "Let me compute it.\\n${CALL}"`,
} as const;

type Name = keyof typeof GRAMMARS;

const N = 8;
const LONG_TOKENS = 16_000;
const servers = new Map<Name | 'tools', LlmServer>();
let insisting: InsistingProxy;
let sandbox: SandboxServer;
let worker: LocalWorker;

function serverOf(name: Name | 'tools'): LlmServer {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`no server called ${name}`);
  return server;
}

beforeAll(async () => {
  for (const name of ['noise', 'inventing', 'endless', 'calling'] as const) {
    servers.set(name, await startLlmServer({ grammar: GRAMMARS[name] }));
  }
  servers.set('tools', await startLlmServer({ kind: 'tools' }));
  insisting = await startInsistingProxy(serverOf('tools').url);
  sandbox = await startSandbox();
  const backends = [...servers].map(([name, { url, key, model, slots }]) => ({
    ...{
      kind: 'vllm',
      role: 'generate',
      name,
      base_url: `${name === 'tools' ? insisting.url : url}/v1`,
      api_key: key,
      model,
      slots,
    },
    ...{ context_tokens: 30_000, native_n: false, tools: name === 'tools' ? 'native' : 'text' },
  }));
  worker = await startLocalWorker({
    variables: {
      ALLOW_ANONYMOUS: 'true',
      BACKENDS: JSON.stringify({
        ...{ backends, default_judge: null, default_generator: 'noise' },
        sandbox: { base_url: sandbox.url, api_key: SANDBOX_KEY, runtime: 'development', slots: 4 },
      }),
    },
    deadline_ms: 60_000,
  });
}, LLM_BUILD_TIMEOUT_MS);

afterAll(async () => {
  await worker?.stop();
  await sandbox?.stop();
  insisting?.stop();
  for (const server of servers.values()) await server.stop();
});

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${worker.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

function refine(generator: Name, max_tokens: number, fields: object = {}, signal?: AbortSignal): Promise<Response> {
  const body = {
    ...{ question: 'How long is it?', sources: [{ id: 'S1', text: 'It is 288 km long.' }] },
    ...{ generator, n: N, sampling: { max_tokens, seed: 11 }, stream: true, ...fields },
  };
  return post('/v1/refine', body, signal);
}

type Event = { readonly name: string; readonly data: unknown };

/** Events as they come. */
async function* eventsOf(reply: Response): AsyncGenerator<Event> {
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  let arrived: Event[] = [];
  const parser = createParser({
    onEvent: ({ event = '', data }) => arrived.push({ name: event, data: JSON.parse(data) }),
  });
  if (reply.body === null) throw new Error('no body');
  for await (const text of reply.body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    yield* arrived;
    arrived = [];
  }
}

async function allOf(reply: Response): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of eventsOf(reply)) all.push(event);
  return all;
}

const { delta, done } = refineEventSchemas;

/** Data of the events of a name, under its schema. */
function dataOf<S extends z.ZodType>(events: readonly Event[], name: string, schema: S): z.output<S>[] {
  return events.filter((event) => event.name === name).map(({ data }) => schema.parse(data));
}

/** The server's own metrics: requests in slots and waiting, and tokens since its start. */
async function engine(name: Name | 'tools'): Promise<{ requests: number; tokens: number }> {
  const { url, key } = serverOf(name);
  const metrics = await readMetrics({ url, key, headers: {}, timeout_ms: 10_000 }, null);
  if (metrics === null) throw new Error('the server has no metrics');
  return { requests: metrics.requests, tokens: metrics.generated_tokens ?? Number.NaN };
}

const slotsSchema = z.array(z.object({ is_processing: z.boolean() }));

/** Slots of the server that are taken. */
async function busySlots(name: Name): Promise<number> {
  const { url, key } = serverOf(name);
  const reply = await fetch(`${url}/slots`, { headers: { authorization: `Bearer ${key}` } });
  return slotsSchema.parse(await reply.json()).filter(({ is_processing }) => is_processing).length;
}

async function untilFree(name: Name): Promise<void> {
  const deadline = performance.now() + 10_000;
  while ((await busySlots(name)) > 0 || (await engine(name)).requests > 0) {
    if (performance.now() > deadline) throw new Error('the slots are still taken');
    await pause(20);
  }
}

describe('refining', () => {
  it('streams eight candidates at a time, and says in the end what it streamed', async () => {
    const events = await allOf(await refine('noise', 120));
    const [whole] = dataOf(events, 'done', done);
    expect(whole?.candidates).toHaveLength(N);
    const texts = Array.from({ length: N }, () => '');
    for (const { candidate, text } of dataOf(events, 'delta', delta)) texts[candidate] += text;
    for (const { index, response } of whole?.candidates ?? []) expect(texts[index]).toBe(response);
    // Different seeds give different texts.
    expect(new Set(texts).size).toBe(N);
    // The candidates are generated concurrently: another one begins before the first has ended.
    const order = dataOf(events, 'delta', delta).map(({ candidate }) => candidate);
    expect(order.findIndex((candidate) => candidate !== order[0])).toBeLessThan(order.lastIndexOf(order[0] ?? -1));
    expect(whole?.usage?.completion_tokens).toBeGreaterThan(N);
    await untilFree('noise');
  });

  it('gives the same candidates for the same seed, streamed or not', async () => {
    const replies = await Promise.all(
      [0, 1].map(async () => refineResponseSchema.parse(await (await refine('noise', 60, { stream: false })).json())),
    );
    const texts = replies.map(({ candidates }) =>
      candidates.toSorted((a, b) => a.index - b.index).map(({ response }) => response),
    );
    expect(texts[0]).toEqual(texts[1]);
  });

  it('stops what invents a citation: its slots are free at once', async () => {
    const before = await engine('inventing');
    const events = await allOf(await refine('inventing', LONG_TOKENS, { on_invented_citation: 'abort' }));
    const [whole] = dataOf(events, 'done', done);
    expect(whole?.candidates.map(({ aborted }) => aborted?.id)).toEqual(Array.from({ length: N }, () => 'S9'));
    await untilFree('inventing');
    const written = (await engine('inventing')).tokens - before.tokens;
    expect(written).toBeGreaterThan(N);
    expect(written).toBeLessThan((N * LONG_TOKENS) / 20);
  });

  it('lets what invents a citation go on where it is only flagged', async () => {
    const events = await allOf(await refine('inventing', 200));
    const [whole] = dataOf(events, 'done', done);
    expect(whole?.candidates.map(({ finish_reason }) => finish_reason)).toEqual(
      Array.from({ length: N }, () => 'length'),
    );
    expect(whole?.usage?.completion_tokens).toBe(N * 200);
  });

  it('ends with its caller: its slots are free', async () => {
    const before = await engine('endless');
    const caller = new AbortController();
    const reply = await refine('endless', LONG_TOKENS, {}, caller.signal);
    for await (const { name } of eventsOf(reply)) if (name === 'delta' && (await busySlots('endless')) > 1) break;
    caller.abort();
    await untilFree('endless');
    const written = (await engine('endless')).tokens - before.tokens;
    expect(written).toBeGreaterThan(1);
    expect(written).toBeLessThan((N * LONG_TOKENS) / 2);
  });
});

describe('the agent', () => {
  const question = { messages: [{ role: 'user', content: 'What is 6 times 7?' }] };

  it('runs the calls that it reads from the text in a real Python, and shows the policy what it printed', async () => {
    const fields = { generator: 'calling', max_turns: 3, reference: '42' };
    const reply = await post('/v1/agent', { ...question, ...fields });
    const { trajectory, stop, num_turns, token_counts } = agentResponseSchema.parse(await reply.json());
    // The grammar forces a call in every turn; the last turn's call is not run.
    expect({ stop, num_turns, token_counts }).toEqual({ stop: 'max_turns', num_turns: 6, token_counts: 'server' });
    const tools = trajectory.messages.filter((message) => message.role === 'tool');
    expect(tools).toMatchObject([
      { turn: 1, content: '42\n', outcome: 'finished', shown: true },
      { turn: 2, content: '42\n', outcome: 'finished', shown: true },
    ]);
  });

  it("runs the server's own tool calls, whose code is noise: Python says so", async () => {
    const fields = { generator: 'tools', max_turns: 3, sampling: { seed: 3 } };
    const reply = await post('/v1/agent', { ...question, ...fields });
    const { trajectory, native_tools, stop, failure } = agentResponseSchema.parse(await reply.json());
    expect({ native_tools, stop, failure }).toEqual({ native_tools: true, stop: 'max_turns', failure: null });
    const turns = trajectory.messages.filter((message) => message.role === 'assistant');
    expect(turns.map(({ tool_calls }) => tool_calls.map(({ name }) => name))).toEqual([
      ['code_interpreter'],
      ['code_interpreter'],
      ['code_interpreter'],
    ]);
    const tools = trajectory.messages.filter((message) => message.role === 'tool');
    expect(tools.map(({ call_id }) => call_id)).toEqual(turns.slice(0, 2).map(({ tool_calls }) => tool_calls[0]?.id));
    for (const { content, outcome } of tools) {
      if (outcome === 'failed') expect(content).toContain('Error');
      else expect(outcome).toBe('finished');
    }
    // Noise is hardly ever a program.
    expect(tools.some(({ outcome }) => outcome === 'failed')).toBe(true);
  });

  it('ends with its caller', async () => {
    const caller = new AbortController();
    const fields = { generator: 'endless', stream: true, max_response_tokens: LONG_TOKENS };
    const reply = await post('/v1/agent', { ...question, ...fields }, caller.signal);
    while ((await busySlots('endless')) < 1) await pause(20);
    for await (const { name } of eventsOf(reply)) if (name !== 'start') break;
    caller.abort();
    await untilFree('endless');
  });
});
