/** The client's verification stream: the errors that it reports for malformed streams. */
import { expect, test } from 'vitest';
import { createClient, type VerifyStreamEvent } from '../../../clients/typescript/index.ts';

const OPENED = 'event: answer\ndata: {"state":"opened","answer":0,"start":8}\n\n';

/** Events that a client makes of a reply's body, and the body that it sent. */
async function exchange(text: string): Promise<{ events: VerifyStreamEvent[]; sent: string }> {
  let sent = '';
  const client = createClient({
    url: new URL('http://worker.test'),
    key: 'k',
    transport: {
      async fetch(_url, { body }) {
        sent = await new Response(body).text();
        return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
      },
    },
  });
  const reply = await client.verifyStream({ sources: [] }, ['<answer>', '\ud83d', '\ude42']);
  if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
  const events: VerifyStreamEvent[] = [];
  for await (const event of reply.body) events.push(event);
  return { events, sent };
}

test('a line a piece is sent, cut wherever the pieces are', async () => {
  const { sent } = await exchange(OPENED);
  const lines = sent.trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    { sources: [] },
    { delta: '<answer>' },
    { delta: '\ud83d' },
    { delta: '\ude42' },
  ]);
});

test('a stream that ends without its last event is lost', async () => {
  const { events } = await exchange(`:\n\n${OPENED}event: claim\ndata: {`);
  expect(events).toEqual([
    { event: 'answer', data: { state: 'opened', answer: 0, start: 8 } },
    { event: 'lost', failure: { kind: 'unreachable', why: 'the stream ended before its last event' } },
  ]);
});

test.each([['event: news\ndata: {}\n\n'], ['event: answer\ndata: {"state":"opened"}\n\n'], ['data: <html>\n\n']])(
  'what is no event of this version ends it: %j',
  async (text) => {
    const { events } = await exchange(OPENED + text + OPENED);
    expect(events.at(-1)).toMatchObject({ event: 'lost', failure: { kind: 'unexpected_reply', status: 200 } });
    expect(events).toHaveLength(2);
  },
);
