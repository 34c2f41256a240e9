/**
 * `POST /v1/verify/stream` over real sockets: events while the body is still being sent, a slow reader, a caller that
 * disconnects, and the typed client sending and reading at the same time.
 */
import { createHash } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createClient } from '../../clients/typescript/index.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';

const KEY = 'k'.repeat(43);
const HEAD = { sources: [{ id: 'S1', text: 'The bridge opened in 1937.' }] };
let worker: LocalWorker;

beforeAll(async () => {
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  const API_KEYS = JSON.stringify({ tester: { sha256, scopes: ['verify'] } });
  worker = await startLocalWorker({ variables: { API_KEYS }, deadline_ms: 60_000 });
});

afterAll(async () => {
  await worker?.stop();
});

type Exchange = { readonly request: ClientRequest; readonly reply: IncomingMessage };

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Opens a request whose body stays open, with a first piece of it. */
function open(requestId: string, first: string, key: string | null = KEY): Promise<Exchange> {
  return new Promise((opened, failed) => {
    const request = httpRequest(`${worker.url}/v1/verify/stream`, {
      method: 'POST',
      headers: {
        'content-type': 'application/jsonl',
        'x-request-id': requestId,
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
    });
    request.once('response', (reply) => opened({ request, reply }));
    request.once('error', failed);
    request.write(first);
  });
}

/** Reads until the text holds `wanted`, or to the end. */
async function readUntil(reply: AsyncIterable<Buffer>, wanted: string): Promise<string> {
  let text = '';
  for await (const chunk of reply) {
    text += chunk.toString('utf8');
    if (text.includes(wanted)) return text;
  }
  return text;
}

const endSchema = z.object({ end: z.enum(['done', 'failed', 'gone']) });

/** Waits for the Worker's log line about the end of a stream. */
async function endOf(requestId: string): Promise<z.output<typeof endSchema>> {
  for (let waited = 0; waited < 8_000; waited += 50) {
    const entry = worker.log.find((line) => line.includes('"stream_ended"') && line.includes(`"${requestId}"`));
    if (entry !== undefined) return endSchema.parse(JSON.parse(entry));
    await pause(50);
  }
  throw new Error('the stream did not end');
}

describe('while the body is being sent', () => {
  it('events arrive, and comments in every pause', async () => {
    const { request, reply } = await open('early', line(HEAD) + line({ delta: '<answer><snippet id=S9>It is' }));
    expect(reply.headers['content-type']).toBe('text/event-stream');
    // One reader for all of it: leaving a loop over the reply would close it.
    const chunks = reply.iterator({ destroyOnReturn: false });
    expect(await readUntil(chunks, 'citation_id_unknown')).toContain('event: finding');
    expect(await readUntil(reply.iterator({ destroyOnReturn: false }), ':\n\n')).toBe(':\n\n');
    request.write(line({ delta: ' red.</snippet>' }));
    expect(await readUntil(reply.iterator({ destroyOnReturn: false }), 'event: claim')).not.toContain('event: done');
    request.end(line({ delta: '</answer>' }));
    expect(await readUntil(reply, 'no such text')).toMatch(/event: done\ndata: [^\n]+\n\n$/u);
    expect(await endOf('early')).toMatchObject({ end: 'done' });
  });

  it('a refusal arrives: of the key, of the first line, of a later one', async () => {
    // Both wait a while for the rest of the body.
    const refused = await Promise.all([
      open('stranger', line(HEAD), null),
      open('wrong', line({ ...HEAD, grammar: 'x' })),
    ]);
    expect(refused.map(({ reply }) => reply.statusCode)).toEqual([401, 422]);
    for (const { request } of refused) request.destroy();
    const later = await open('later', line(HEAD) + line({ delta: 3 }));
    expect(await readUntil(later.reply, 'event: error')).toContain('"path":"line[2].delta"');
    later.request.destroy();
  });
});

it('a caller who sends everything and reads later misses nothing', async () => {
  const LINES = 100;
  const CLAIMS_PER_LINE = 800;
  const { request, reply } = await open('late', line(HEAD) + line({ delta: '<answer>' }));
  reply.pause();
  for (let n = 0; n < LINES; n++) request.write(line({ delta: '<snippet id=S1>a</snippet>'.repeat(CLAIMS_PER_LINE) }));
  request.end();
  // 18 MB of events wait: in the Worker, in transit, and as lines that the Worker has not read.
  await pause(500);
  const text = Buffer.concat(await reply.toArray()).toString('utf8');
  expect(text.split('event: claim\n').length - 1).toBe(LINES * CLAIMS_PER_LINE);
  expect(text.slice(text.lastIndexOf('event: '))).toMatch(/^event: done\ndata: [^\n]+\n\n$/u);
});

it('a caller who goes while nothing happens is noticed', async () => {
  const { request, reply } = await open('idle', line(HEAD) + line({ delta: '<answer>' }));
  await readUntil(reply.iterator({ destroyOnReturn: false }), 'event: answer');
  request.on('error', () => undefined).destroy();
  // Either end of the connection may be the first that is missed.
  expect(['gone', 'failed']).toContain((await endOf('idle')).end);
});

describe('the typed client', () => {
  const client = (key: string | null = KEY) =>
    createClient({ url: new URL(worker.url), key, transport: { attempts: 1 } });

  it('takes events while it sends: here the next piece waits for the events of the last', async () => {
    const seen: string[] = [];
    let told = Promise.withResolvers<void>();
    async function* pieces() {
      yield '<answer><snippet id=S1>It opened in 1937.';
      await told.promise;
      told = Promise.withResolvers();
      yield '</snippet>';
      await told.promise;
      yield '</answer>';
    }
    const reply = await client().verifyStream(HEAD, pieces(), { evidence: 'lexical' });
    if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
    for await (const event of reply.body) {
      seen.push(event.event);
      if (event.event === 'answer' || event.event === 'claim') told.resolve();
      if (event.event === 'done') expect(event.data.format).toEqual({ answer_only: 1, full: 1 });
    }
    expect(seen.filter((name) => name !== 'finding')).toEqual(['answer', 'claim', 'answer', 'answer', 'done']);
  });

  it('takes no more pieces once nobody reads its events', async () => {
    let ended = false;
    async function* endless() {
      try {
        for (;;) {
          yield '<answer> so';
          await pause(20);
        }
      } finally {
        ended = true;
      }
    }
    const reply = await client().verifyStream(HEAD, endless());
    if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
    for await (const { event } of reply.body) if (event === 'answer') break;
    await vi.waitFor(() => expect(ended).toBe(true), 20_000);
  });

  it('says what was refused', async () => {
    expect(await client(null).verifyStream(HEAD, ['<answer>'])).toMatchObject({
      ok: false,
      failure: { kind: 'problem', status: 401, problem: { reason: 'key_missing' } },
    });
  });
});
