/** Conversations through the API: alone, in a group with one conversation a sample, refused with the path, and stored. */
import { describe, expect, it } from 'vitest';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { replayLineSchema } from '../../src/wire/replay-reply.ts';
import { post, ROLLOUT, score, send, TOOL_OUTPUT, wrongFields } from './api.ts';

const { response, tool_output: _toolOutput, ...QUESTION } = ROLLOUT;

const conversation = (output: string, answer: string) => [
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c1', function: { name: 'search', arguments: '{"q":"Aare"}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: output },
  { role: 'assistant', content: answer },
];

async function groupOf(body: unknown) {
  const reply = await send(post('/v1/groups', body));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return groupResponseSchema.parse(JSON.parse(text));
}

describe('messages', () => {
  it('score as response and tool_output do', async () => {
    const asText = await score({ ...ROLLOUT, tool_output: TOOL_OUTPUT });
    const asMessages = await score({ ...QUESTION, messages: conversation(TOOL_OUTPUT, response) });
    expect(asMessages.reward).toBe(asText.reward);
    expect(asMessages.judgments.map(({ key }) => key)).toEqual(asText.judgments.map(({ key }) => key));
    expect(asMessages.trajectory).toMatchObject({ policy_turns: 2, calls: 1, num_turns: 4, findings: [] });
    expect(asText.trajectory).toBeUndefined();
  });

  it('give each sample of a group its own sources', async () => {
    const other = '<snippet id=S1>The Rhine is long.</snippet>';
    const group = await groupOf({
      ...QUESTION,
      responses: [{ messages: conversation(TOOL_OUTPUT, response) }, { messages: conversation(other, response) }],
    });
    const alone = await Promise.all(
      [TOOL_OUTPUT, other].map((output) => score({ ...QUESTION, messages: conversation(output, response) })),
    );
    expect(group.rewards).toEqual(alone.map(({ reward }) => reward));
    expect(new Set(group.rewards).size).toBe(2);
  });

  it('are stored with the text of a run, and judged again from it', async () => {
    const run = { id: 'conversations', step: 0, group: 'g', sample: 's' };
    const request = { ...QUESTION, messages: conversation(TOOL_OUTPUT, response) };
    const recorded = await score({ ...request, run, store_text: true });
    expect(recorded.run).toMatchObject({ status: 'recorded', attempt: 0 });
    const recipe = { set: { judging: 'per_criterion' } };
    const body = { recipe, fill: true, judge: 'lexical' };
    const reply = await send(post('/v1/runs/conversations/replay', body));
    const lines = (await reply.text()).trim().split('\n');
    const [group] = lines
      .map((line) => replayLineSchema.parse(JSON.parse(line)))
      .filter(({ kind }) => kind === 'group');
    const again = await score({
      ...request,
      judge: 'lexical',
      recipe: { base: QUESTION.recipe, judging: 'per_criterion' },
    });
    expect(group).toMatchObject({ after: { rewards: [again.reward] } });
  });

  it('are refused with the path of what is wrong', async () => {
    const wrong = [{ role: 'assistant', content: [{ type: 'text' }] }];
    const alone = await send(post('/v1/score', { ...QUESTION, messages: wrong }));
    expect(await wrongFields(alone)).toEqual(['messages[0].content[0].text']);
    const group = await send(post('/v1/groups', { ...QUESTION, responses: [{ messages: wrong }] }));
    expect(await wrongFields(group)).toEqual(['responses[0].messages[0].content[0].text']);
  });
});
