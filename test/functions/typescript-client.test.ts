/** The TypeScript client against the Worker: conversations, and offsets in each unit. */
import { describe, expect, it } from 'vitest';
import { createClient } from '../../clients/typescript/index.ts';
import type { Reply } from '../../clients/typescript/reply.ts';
import { OFFSET_UNITS } from '../../src/citations/offset-units.ts';
import { ORIGIN, ROLLOUT, send } from './api.ts';

const client = createClient({
  url: new URL(ORIGIN),
  key: null,
  transport: { fetch: (url, init) => send(new Request(url, init)), attempts: 1 },
});

function bodyOf<T>(reply: Reply<T>): T {
  if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
  return reply.body;
}

const { question, response, tool_output, positive_rubrics, recipe } = ROLLOUT;
const ASKED = { positive_rubrics: [...positive_rubrics], recipe };

/** A message as an SDK types it: an interface, which is no record. */
interface ChatMessage {
  readonly role: string;
  readonly content?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

const conversation = (answer: string): ChatMessage[] => [
  { role: 'user', content: question },
  { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'search', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'c1', content: tool_output },
  { role: 'assistant', content: answer },
];

describe('messages', () => {
  it('earn what the text earns, with the way back to each message', async () => {
    const asText = bodyOf(await client.score({ ...ASKED, question, response, tool_output }));
    const asMessages = bodyOf(await client.score({ ...ASKED, messages: conversation(response) }));
    expect(asMessages.reward).toBe(asText.reward);
    expect(asMessages.trajectory).toMatchObject({
      num_turns: 4,
      response: [{ start: 0, end: response.length, path: 'messages[3].content', from: 0 }],
    });
  });

  it('are the members of a group, beside texts', async () => {
    const group = bodyOf(
      await client.group({
        ...ASKED,
        question,
        responses: [{ messages: conversation(response) }, { messages: conversation('<answer>Long.</answer>') }],
        detail: 'reward',
      }),
    );
    const alone = bodyOf(await client.score({ ...ASKED, messages: conversation(response), detail: 'reward' }));
    expect(group.rewards[0]).toBe(alone.reward);
    expect(group.rewards[1]).not.toBe(alone.reward);
  });

  it('are refused with the path of what cannot be read', async () => {
    const reply = await client.score({ ...ASKED, messages: [{ role: 'assistant', content: 3 }] });
    expect(reply).toMatchObject({ failure: { problem: { errors: [{ path: 'messages[0].content' }] } } });
  });
});

describe('offsets', () => {
  const text = `\u{1F600}\u00e9 ${response}`;
  const lengths = { utf16: 4, utf8: 7, codepoints: 3 };

  it.each(OFFSET_UNITS)('count %s in scores, groups and verifications', async (offsets) => {
    const rollout = { ...ASKED, question, tool_output };
    const score = bodyOf(await client.score({ ...rollout, response: text, offsets }));
    const group = bodyOf(await client.group({ ...rollout, responses: [text], offsets }));
    const byQuery = bodyOf(await client.verify({ response: text, tool_output }, { offsets }));
    const byField = bodyOf(await client.verify({ response: text, tool_output, offsets }));
    for (const reply of [score, group.members[0], byQuery, byField]) {
      if (reply === undefined || !('claims' in reply)) throw new Error('no claims');
      expect(reply.claims[0]?.span.start).toBe(lengths[offsets] + text.indexOf('The river') - lengths.utf16);
    }
  });
});
