/**
 * `POST /v1/verify/stream`: events while the response arrives, and refused requests. test/e2e/verify-stream.test.ts
 * uses sockets.
 */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, it, vi } from 'vitest';
import worker from '../../functions/index.ts';
import { MAX_BODY_BYTES, MAX_CLAIMS, MAX_TEXT_CHARS } from '../../src/limits.ts';
import { problemSchema } from '../../src/wire/problem.ts';
import { verifyStreamEventSchemas } from '../../src/wire/verify-stream.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, TOOL_OUTPUT, wrongFields } from './api.ts';

const PATH = '/v1/verify/stream';
const HEAD = { tool_output: TOOL_OUTPUT };

function request(body: BodyInit, query = ''): Request {
  return new Request(`${ORIGIN}${PATH}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body,
  });
}

/** Sends without a pipe between: one end sees what the other does with the stream itself. */
async function sendHere(incoming: Request): Promise<Response> {
  return worker.fetch(new Request<unknown, IncomingRequestCfProperties>(incoming), env, createExecutionContext());
}

function lines(head: unknown, deltas: readonly string[]): string {
  return [head, ...deltas.map((delta) => ({ delta }))].map((line) => `${JSON.stringify(line)}\n`).join('');
}

function isEventName(name: string | undefined): name is keyof typeof verifyStreamEventSchemas {
  return name !== undefined && Object.hasOwn(verifyStreamEventSchemas, name);
}

/** An event of the stream, checked against the schema of its name. */
function checked({ event, data }: EventSourceMessage) {
  if (!isEventName(event)) throw new Error(`an event called ${event}`);
  return { event, data: verifyStreamEventSchemas[event].parse(JSON.parse(data)) };
}

async function eventsOf(reply: Response) {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  expect(text.startsWith(':')).toBe(true);
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => messages.push(message) }).feed(text);
  return messages.map(checked);
}

async function names(reply: Response): Promise<string[]> {
  return (await eventsOf(reply)).map(({ event }) => event);
}

/** The problem that a stream ends with. */
async function errorOf(reply: Response) {
  const last = (await eventsOf(reply)).at(-1);
  expect(last?.event).toBe('error');
  return problemSchema.parse(last?.data);
}

function bytesOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function verified(reply: Response): Promise<unknown> {
  return reply.json();
}

describe('a response in pieces', () => {
  it.each([
    ['', 7],
    ['', 1],
    ['?evidence=lexical', 50],
  ])('ends with what /v1/verify%s answers, in pieces of %i', async (query, size) => {
    const deltas = ROLLOUT.response.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
    const events = await eventsOf(await send(request(lines({ ...HEAD, question: 'How long?' }, deltas), query)));
    const batch = await send(post(`/v1/verify${query}`, { ...HEAD, response: ROLLOUT.response }));
    expect(events.at(-1)).toEqual({ event: 'done', data: await verified(batch) });
    const told = events.map(({ event }) => event).filter((event) => event !== 'finding');
    expect(told).toEqual(['answer', 'claim', 'claim', 'claim', 'answer', 'answer', 'done']);
    expect(events.find(({ event }) => event === 'finding')?.data).toMatchObject(
      query === '' ? { reason: 'citation_id_unknown' } : { in: 'response' },
    );
  });

  it('may cut characters of UTF-8, and pairs of UTF-16 between lines', async () => {
    const text = '<answer><snippet id=S1>Die Äare 🙂 准点率</snippet></answer>';
    const half = text.indexOf('🙂') + 1;
    const body = new TextEncoder().encode(lines(HEAD, [text.slice(0, half), text.slice(half)]));
    const single = Array.from(body, (byte) => new Uint8Array([byte]));
    const whole = await eventsOf(await send(request(bytesOf(single))));
    expect(whole.find(({ event }) => event === 'claim')?.data).toMatchObject({ text: 'Die Äare 🙂 准点率' });
    expect(await eventsOf(await send(request(body)))).toEqual(whole);
  });

  it('takes any grammar, mode and choice, blank lines, and a last line without its end', async () => {
    const head = { ...HEAD, grammar: 'bracket', answer: 'first', mode: 'answer_only' };
    const body = `\n${lines(head, ['So: <answer>The Aare is long [S1]'])} \r\n{"delta":"."}\r\n{"delta":"</answer>"}`;
    const events = await eventsOf(await send(request(body)));
    expect(events.filter(({ event }) => event === 'claim').map(({ data }) => data)).toMatchObject([
      { text: 'The Aare is long', ids: [{ id: 'S1', source: 0 }] },
    ]);
    expect(events.at(-1)?.data).toMatchObject({ finding_counts: { text_outside_answer: 1 } });
  });

  it('of nothing has no answer', async () => {
    expect(await names(await send(request(lines(HEAD, []))))).toEqual(['answer', 'finding', 'done']);
  });

  it('tells what is wrong with the sources before anything else', async () => {
    const sources = [
      { id: 'S1', text: 'a' },
      { id: 'S1', text: '' },
    ];
    const [first, second] = await eventsOf(await send(request(lines({ sources }, ['<answer>']))));
    expect(first?.data).toMatchObject({ reason: 'source_duplicate_id', in: 'sources' });
    expect(second?.data).toMatchObject({ reason: 'source_empty' });
  });
});

describe('while the body is still coming', () => {
  it('tells an invented id at once, sends comments, and stops when the reader goes', async () => {
    const encoder = new TextEncoder();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const gone = writer.closed.then(
      () => 'closed',
      () => 'gone',
    );
    const replied = sendHere(request(readable));
    await writer.write(encoder.encode(lines(HEAD, ['<answer><snippet id=S9>'])));
    const reader = (await replied).body?.getReader();
    if (reader === undefined) throw new Error('no body');
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('citation_id_unknown')) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`ended with ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    const { value } = await reader.read();
    expect(decoder.decode(value)).toBe(':\n\n');
    await reader.cancel();
    expect(await gone).toBe('gone');
  });
});

it('reads no more of the body while a caller leaves too many events unread, nor once he is gone', async () => {
  const LINES = 400;
  const encoder = new TextEncoder();
  const line = encoder.encode(`${JSON.stringify({ delta: '<snippet id=S1>a</snippet>'.repeat(800) })}\n`);
  let asked = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(lines(HEAD, ['<answer>']))),
    // Bounded: the whole of it is 8 MB.
    pull(controller) {
      asked++;
      if (asked > LINES) controller.close();
      else controller.enqueue(line);
    },
    cancel() {
      cancelled = true;
    },
  });
  const reply = await sendHere(request(body));
  for (let before = -1; asked > before; ) {
    before = asked;
    await scheduler.wait(100);
  }
  // Each line causes 140 KB of events; 8 MB of events may wait.
  expect(asked).toBeGreaterThan(30);
  expect(asked).toBeLessThan(LINES / 2);
  await reply.body?.cancel();
  await vi.waitFor(() => expect(cancelled).toBe(true), 20_000);
  expect(asked).toBeLessThan(LINES / 2);
});

describe('what is refused before the stream begins', () => {
  it('a first line that is no JSON, or none at all', async () => {
    for (const body of ['', '\n\n', '{', 'data: x']) await problemOf(await send(request(body)), 400, 'body_not_json');
    await problemOf(await send(new Request(ORIGIN + PATH, { method: 'POST' })), 400, 'body_not_json');
    await problemOf(await send(request(new Uint8Array([0x22, 0xff, 0x22]))), 400, 'body_not_utf8');
  });

  it('a first line with wrong fields, naming each', async () => {
    expect(
      await wrongFields(await send(request(lines({ ...HEAD, sources: [], respons: 1, grammar: 'x' }, [])))),
    ).toEqual(['grammar', 'respons', 'tool_output']);
    const head = { ...HEAD, cited_answer: [], answer_format: 'openai' };
    const vendors = await problemOf(await send(request(lines(head, []))), 422, 'input_invalid');
    const whole = { message: expect.stringContaining('whole as cited_answer to POST /v1/verify') };
    expect(vendors.errors).toMatchObject([whole, whole]);
    const event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It' } };
    const { errors } = await errorOf(await send(request(`${JSON.stringify(HEAD)}\n${JSON.stringify(event)}\n`)));
    expect(errors).toMatchObject([{ path: 'line[2]', message: expect.stringContaining('cited_answer') }]);
    expect(await wrongFields(await send(request('{"delta":"x"}\n')))).toEqual(['delta', 'tool_output']);
    const verifyBody = { ...HEAD, response: 'x' };
    expect(await wrongFields(await send(request(lines(verifyBody, []))))).toEqual(['response']);
  });

  it('byte offsets, saying what to do', async () => {
    const problem = await problemOf(await send(request(lines(HEAD, []), '?offsets=utf8')), 422, 'input_invalid');
    expect(problem.errors).toEqual([
      { path: 'query.offsets', message: expect.stringContaining('POST /v1/verify has other units') },
    ]);
    expect(await names(await send(request(lines(HEAD, []), '?offsets=utf16')))).toContain('done');
  });

  it('a first line longer than any body may be', async () => {
    await problemOf(await send(request(' '.repeat(MAX_BODY_BYTES + 1))), 413, 'body_too_large');
  });

  it('a method that the route does not have', async () => {
    await problemOf(await send(new Request(ORIGIN + PATH)), 405, 'method_not_allowed');
  });
});

describe('what ends the stream with an error', () => {
  it('a later line that is none, by its number', async () => {
    const refused = async (line: string) =>
      (await errorOf(await send(request(`${lines(HEAD, ['<answer>A'])}${line}\n{"delta":"</answer>"}`)))).errors;
    expect(await refused('{"delta"')).toEqual([{ path: 'line[3]', message: 'expected JSON' }]);
    expect(await refused('{"delta":3}')).toEqual([
      { path: 'line[3].delta', message: 'expected a string, got an integer' },
    ]);
    expect(await refused('{"delta":"x","n":1}')).toEqual([{ path: 'line[3].n', message: 'unknown field' }]);
    expect(await refused('[]')).toEqual([{ path: 'line[3]', message: 'expected an object, got an array' }]);
  });

  it('bytes that are not UTF-8', async () => {
    const head = new TextEncoder().encode(lines(HEAD, []));
    const problem = await errorOf(await send(request(bytesOf([head, new Uint8Array([0xff, 0x0a])]))));
    expect(problem).toMatchObject({ reason: 'body_not_utf8', status: 400 });
  });

  it('a response or a body that is too long', async () => {
    const piece = `${JSON.stringify({ delta: 'x'.repeat(1024 * 1024) })}\n`;
    const long = await errorOf(await send(request(lines(HEAD, []) + piece.repeat(MAX_TEXT_CHARS / 1024 / 1024 + 1))));
    expect(long).toMatchObject({ reason: 'input_invalid', errors: [{ path: 'response' }] });
    const blank = ' '
      .repeat(1024 * 1024 - 1)
      .concat('\n')
      .repeat(MAX_BODY_BYTES / 1024 / 1024);
    expect(await errorOf(await send(request(lines(HEAD, []) + blank)))).toMatchObject({
      reason: 'body_too_large',
      status: 413,
    });
  });

  it('more claims than a reply may hold, as /v1/verify refuses them', async () => {
    const response = `<answer>${'<snippet id=S1>The Aare.</snippet>'.repeat(MAX_CLAIMS + 1)}</answer>`;
    const problem = await errorOf(await send(request(lines(HEAD, [response]))));
    const batch = await problemOf(await send(post('/v1/verify', { ...HEAD, response })), 422, 'input_invalid');
    expect(problem.errors).toEqual(batch.errors);
  });

  it('a body that breaks off', async () => {
    const head = new TextEncoder().encode(lines(HEAD, ['<answer>']));
    let sent = false;
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent) controller.error(new Error('gone'));
        else controller.enqueue(head);
        sent = true;
      },
    });
    expect(await errorOf(await sendHere(request(broken)))).toMatchObject({
      reason: 'body_interrupted',
      retryable: true,
    });
  });
});
