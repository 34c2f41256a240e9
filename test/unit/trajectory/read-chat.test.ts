/** The reader of chat messages: each shape that a trainer sends gives the same turns, calls and results. */
import { describe, expect, it } from 'vitest';
import { pathText } from '../../../src/input-problem.ts';
import { MAX_MESSAGE_PARTS, MAX_MESSAGES } from '../../../src/limits.ts';
import { type ReadOptions, readTrajectory } from '../../../src/trajectory/read.ts';
import type { Trajectory, Turn } from '../../../src/trajectory/trajectory.ts';

type Options = ReadOptions;

function read(messages: unknown, options?: Options): Trajectory {
  const result = readTrajectory(messages, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

function problems(messages: unknown, options?: Options): string[] {
  const result = readTrajectory(messages, options);
  return result.ok ? [] : result.error.map(({ path, message }) => `${pathText(path)}: ${message}`);
}

function brief({ role, text, thinking, calls, results, by_policy }: Turn) {
  return {
    role,
    text: text?.text ?? null,
    thinking: thinking?.text ?? null,
    calls: calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given })),
    results: results.map(({ name, output, call }) => ({ name, output: output.text, call })),
    by_policy,
  };
}

const SEARCH = { q: 'Aare' };
const OUTPUT = 'The Aare is 288 km long.';

/** The same conversation, as four trainers send it. */
const SHAPES: Readonly<Record<string, readonly unknown[]>> = {
  'OpenAI chat': [
    { role: 'user', content: 'How long is the Aare?' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Search.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"Aare"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: OUTPUT },
    { role: 'assistant', content: '288 km.' },
  ],
  TRL: [
    { role: 'user', content: 'How long is the Aare?' },
    {
      role: 'assistant',
      content: '',
      reasoning_content: 'Search.',
      tool_calls: [{ type: 'function', function: { name: 'search', arguments: SEARCH } }],
    },
    { role: 'tool', name: 'search', content: OUTPUT },
    { role: 'assistant', content: '288 km.' },
  ],
  'LongTraceRL and CaRR': [
    { role: 'user', content: 'How long is the Aare?' },
    {
      role: 'assistant',
      reasoning_content: 'Search.',
      content: '',
      tool_calls: [{ session_id: 's', tool_call_id: 'c1', name: 'search', arguments: '{"q":"Aare"}' }],
    },
    { role: 'tool', content: [{ session_id: 's', tool_call_id: 'c1', output: OUTPUT }] },
    { role: 'assistant', content: '288 km.' },
  ],
  verifiers: [
    { role: 'user', content: [{ type: 'text', text: 'How long is the Aare?' }] },
    {
      role: 'assistant',
      content: '',
      reasoning_content: 'Search.',
      tool_calls: [{ id: 'c1', name: 'search', arguments: '{"q":"Aare"}' }],
    },
    { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: OUTPUT }] },
    { role: 'assistant', content: '288 km.', sampled: true },
  ],
};

describe('readTrajectory', () => {
  it.each(Object.entries(SHAPES))('reads %s', (_name, messages) => {
    const { turns, findings } = read(messages);
    expect(findings).toEqual([]);
    const [user, calling, tool, last] = turns.map(brief);
    expect(user).toMatchObject({ role: 'user', text: 'How long is the Aare?', by_policy: false });
    expect(calling).toMatchObject({ role: 'assistant', thinking: 'Search.', by_policy: true });
    expect(calling?.calls).toMatchObject([{ name: 'search', arguments: SEARCH }]);
    expect(tool?.results).toEqual([{ name: 'search', output: OUTPUT, call: { turn: 1, call: 0 } }]);
    expect(last).toMatchObject({ role: 'assistant', text: '288 km.', by_policy: true });
  });

  it('traces each text back to the strings of the request', () => {
    const [turn] = read([
      { role: 'assistant', content: [{ type: 'text', text: 'The Aare ' }, 'is long.', { type: 'text', text: '' }] },
    ]).turns;
    expect(turn?.text).toEqual({
      text: 'The Aare is long.',
      pieces: [
        { start: 0, end: 9, path: ['messages', 0, 'content', 0, 'text'], from: 0 },
        { start: 9, end: 17, path: ['messages', 0, 'content', 1], from: 0 },
      ],
    });
  });

  it('tells no content from empty content', () => {
    const texts = read([
      { role: 'assistant' },
      { role: 'assistant', content: null },
      { role: 'assistant', content: '' },
    ]);
    expect(texts.turns.map(({ text }) => text?.text ?? null)).toEqual([null, null, '']);
  });

  it('matches results without ids by the name of the tool: asynchronous tools answer last', () => {
    const call = (name: string) => ({ type: 'function', function: { name, arguments: {} } });
    const { turns } = read([
      { role: 'assistant', content: '', tool_calls: [call('slow'), call('fast'), call('fast')] },
      { role: 'tool', name: 'fast', content: '1' },
      { role: 'tool', name: 'fast', content: '2' },
      { role: 'tool', name: 'slow', content: '3' },
    ]);
    expect(turns.flatMap(({ results }) => results.map(({ call: place }) => place?.call))).toEqual([1, 2, 0]);
  });

  it('takes the turns of the policy from the messages or from the request', () => {
    const messages = [
      { role: 'assistant', content: 'an example', sampled: false },
      { role: 'assistant', content: 'an answer' },
    ];
    expect(read(messages).turns.map(({ by_policy }) => by_policy)).toEqual([false, true]);
    expect(read(messages, { policy_messages: [0] }).turns.map(({ by_policy }) => by_policy)).toEqual([true, false]);
    expect(problems([{ role: 'user', content: '' }], { policy_messages: [0] })).toEqual([
      'messages[0].role: expected "assistant": the policy is said to have written this message',
    ]);
    expect(problems(messages, { policy_messages: [2] })[0]).toContain('expected a message 2');
  });

  it('reports what has no place as a finding, with its path', () => {
    const { findings } = read([
      { role: 'human', content: 'hello' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] },
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'assistant', truncated_content: 'cut' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c', function: { name: 'search', arguments: '{"q"' } }] },
      { role: 'tool', tool_call_id: 'd', content: '' },
    ]);
    expect(findings.map(({ reason, path }) => `${reason} ${pathText(path)}`)).toEqual([
      'role_unknown messages[0].role',
      'part_unread messages[1].content[0]',
      'refusal messages[2].refusal',
      'content_truncated messages[3].truncated_content',
      'arguments_malformed messages[4].tool_calls[0].function.arguments',
      'result_without_call messages[5]',
      'call_without_result messages[4].tool_calls[0].function',
    ]);
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'messages: expected an array of messages, or a text with its markup'],
    ['an empty list', [], 'messages: expected at least one message'],
    ['no object', [3], 'messages[0]: expected a message: an object with role and content, got a number'],
    ['no role', [{}], 'messages[0].role: expected a role: "system", "user", "assistant" or "tool", got nothing'],
    [
      'a number as content',
      [{ role: 'user', content: 3 }],
      'messages[0].content: expected a string or an array of parts, got a number',
    ],
    [
      'a part without text',
      [{ role: 'user', content: [{ type: 'text' }] }],
      'messages[0].content[0].text: expected a string, got nothing',
    ],
    [
      'calls that are no list',
      [{ role: 'assistant', tool_calls: {} }],
      'messages[0].tool_calls: expected an array, got an object',
    ],
    [
      'a call without a name',
      [{ role: 'assistant', tool_calls: [{ function: {} }] }],
      "messages[0].tool_calls[0].function.name: expected the tool's name, a string, got nothing",
    ],
    [
      'sampled as a text',
      [{ role: 'assistant', content: '', sampled: 'no' }],
      'messages[0].sampled: expected a boolean, got a string',
    ],
    [
      'an output as a number',
      [{ role: 'tool', content: [{ output: 3 }] }],
      'messages[0].content[0].output: expected a string, got a number',
    ],
  ])('refuses %s', (_name, messages, problem) => {
    expect(problems(messages)[0]).toBe(problem);
  });

  it('refuses hostile sizes and depths in linear time', () => {
    const many = Array.from({ length: 100_000 }, () => ({ role: 'user', content: 'x' }));
    expect(problems(many)).toEqual([`messages: expected at most ${MAX_MESSAGES} messages, got 100000`]);
    const parts = [{ role: 'user', content: Array.from({ length: MAX_MESSAGE_PARTS + 5 }, () => 'x') }];
    expect(problems(parts)).toHaveLength(1);
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    const call = { function: { name: 'search', arguments: deep } };
    expect(problems([{ role: 'assistant', tool_calls: [call] }])).toEqual([
      'messages[0]: expected at most 64 levels of nesting',
    ]);
    const text = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const { findings } = read([{ role: 'assistant', tool_calls: [{ function: { name: 'search', arguments: text } }] }]);
    expect(findings[0]?.reason).toBe('arguments_malformed');
  });

  it('links 10,000 calls to their results in linear time', () => {
    const messages = Array.from({ length: MAX_MESSAGES / 2 }, (_, n) => [
      { role: 'assistant', content: '', tool_calls: [{ function: { name: `t${n % 3}`, arguments: {} } }] },
      { role: 'tool', name: `t${n % 3}`, content: 'x' },
    ]).flat();
    const { turns } = read(messages);
    expect(turns.every((turn, n) => turn.results.every(({ call }) => call?.turn === n - 1))).toBe(true);
  });
});
