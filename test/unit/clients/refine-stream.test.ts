/** The client's refinement stream: events as they arrive, and exactly one last event in every case. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../clients/typescript/index.ts';

const REQUEST = { question: 'q', tool_output: 't' };
const START = { generator: 'g', model: 'm', prompt_tokens: 1, cut: null, n: 1 };

function text(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A stream of pieces that then ends, or breaks. */
function streamed(pieces: readonly string[], breaks = false) {
  const seen = { cancelled: false, bodies: [] as unknown[] };
  const left = pieces.values();
  const content = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = left.next();
      if (done !== true) controller.enqueue(new TextEncoder().encode(value));
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  const client = createClient({
    url: new URL('http://worker.test/'),
    key: null,
    transport: {
      attempts: 1,
      async fetch(_url, init) {
        seen.bodies.push(JSON.parse(String(init.body)));
        return new Response(content, { headers: { 'content-type': 'text/event-stream' } });
      },
    },
  });
  return { client, seen };
}

async function eventsOf(pieces: readonly string[], breaks = false) {
  const { client } = streamed(pieces, breaks);
  const opened = await client.refineStream(REQUEST);
  if (!opened.ok) throw new Error(JSON.stringify(opened.failure));
  const events = [];
  for await (const event of opened.body) events.push(event);
  return events;
}

const delta = (piece: string): string => text('delta', { candidate: 0, text: piece });

describe('events', () => {
  test('come as they are, however the stream is cut; comments are none', async () => {
    const all = `:\n\n${text('start', START)}${delta('ä')}:\n\n${delta('b')}`;
    const bytewise = await eventsOf(all.split(''));
    expect(bytewise.map(({ event }) => event)).toEqual(['start', 'delta', 'delta', 'lost']);
    expect(bytewise[1]).toEqual({ event: 'delta', data: { candidate: 0, text: 'ä' } });
    expect(await eventsOf([all])).toEqual(bytewise);
  });

  test('end with the problem that the Worker says, and nothing after it', async () => {
    const problem = {
      ...{ type: 'urn:citeward:problem:generator_timeout', title: 't', status: 503, reason: 'generator_timeout' },
      ...{ detail: 'd', retryable: true, request_id: 'r' },
    };
    const events = await eventsOf([delta('a') + text('error', problem) + delta('b')]);
    expect(events.slice(1)).toEqual([{ event: 'error', data: problem }]);
  });

  test.each([
    ['a connection that breaks', [delta('a')], true, { kind: 'unreachable', why: 'terminated' }],
    ['a stream without an end', [delta('a')], false, { kind: 'unreachable', why: expect.stringContaining('ended') }],
    ['an event nobody knows', [text('delta', { reward: 1 })], false, { kind: 'unexpected_reply', status: 200 }],
    ['something else', ['event: delta\ndata: <html>\n\n'], false, { kind: 'unexpected_reply', status: 200 }],
  ])('%s is lost, and no result', async (_, pieces, breaks, failure) => {
    expect((await eventsOf(pieces, breaks)).at(-1)).toMatchObject({ event: 'lost', failure });
  });
});

test('who stops reading closes the connection', async () => {
  const { client, seen } = streamed(Array.from({ length: 100 }, () => delta('a')));
  const opened = await client.refineStream(REQUEST);
  if (!opened.ok) throw new Error('not opened');
  for await (const event of opened.body) if (event.event === 'delta') break;
  expect(seen).toEqual({ cancelled: true, bodies: [{ ...REQUEST, stream: true }] });
});
