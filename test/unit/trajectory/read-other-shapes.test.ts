/** The reader of Anthropic's parts, of Hermes calls in texts, and of verifiers' nodes. */
import { describe, expect, it } from 'vitest';
import { pathText } from '../../../src/input-problem.ts';
import { endOf } from '../../../src/trajectory/final-turns.ts';
import { type ReadOptions, readTrajectory } from '../../../src/trajectory/read.ts';
import type { Trajectory } from '../../../src/trajectory/trajectory.ts';

function read(messages: unknown, options?: ReadOptions): Trajectory {
  const result = readTrajectory(messages, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

function problems(messages: unknown, options?: ReadOptions): string[] {
  const result = readTrajectory(messages, options);
  return result.ok ? [] : result.error.map(({ path, message }) => `${pathText(path)}: ${message}`);
}

const CALL = { name: 'search', arguments: { q: 'Aare' } };

function expectOneRound({ turns, findings }: Trajectory): void {
  expect(findings).toEqual([]);
  const [user, calling, tool, last] = turns;
  expect(user?.text?.text).toBe('How long is the Aare?');
  expect(calling?.calls).toMatchObject([CALL]);
  expect(tool?.results).toMatchObject([{ name: 'search', call: { turn: 1, call: 0 } }]);
  expect(tool?.results[0]?.output.text.trim()).toBe('288 km');
  expect(tool?.text).toBe(null);
  expect(last?.text?.text).toBe('It is 288 km long.');
}

describe('Anthropic messages', () => {
  const messages = [
    { role: 'user', content: 'How long is the Aare?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Search.', signature: 'x' },
        { type: 'tool_use', id: 't1', name: 'search', input: { q: 'Aare' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '288 km' }] }],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'It is 288 km long.' }], stop_reason: 'end_turn' },
  ];

  it('have calls, results and thinking as parts', () => {
    const trajectory = read(messages);
    expectOneRound(trajectory);
    expect(trajectory.turns[1]).toMatchObject({ text: null, thinking: { text: 'Search.' } });
    expect(endOf(trajectory)).toMatchObject({ finish_reason: 'stop', num_turns: 4 });
  });

  it('say that they were cut off', () => {
    const cut = [{ role: 'assistant', content: 'It', stop_reason: 'max_tokens' }];
    expect(endOf(read(cut)).finish_reason).toBe('length');
  });
});

describe('Hermes calls in texts', () => {
  const call = `<tool_call>\n${JSON.stringify(CALL)}\n</tool_call>`;
  const messages = [
    { role: 'user', content: 'How long is the Aare?' },
    { role: 'assistant', content: `I search.\n${call}` },
    { role: 'user', content: '<tool_response>\n288 km\n</tool_response>' },
    { role: 'assistant', content: 'It is 288 km long.' },
  ];

  it('are calls, and the user turn after them holds their results', () => {
    const trajectory = read(messages);
    expectOneRound(trajectory);
    expect(trajectory.turns[1]?.text).toEqual({
      text: 'I search.\n',
      pieces: [{ start: 0, end: 10, path: ['messages', 1, 'content'], from: 0 }],
    });
    expect(trajectory.turns[2]?.results[0]?.output.pieces).toEqual([
      { start: 0, end: 8, path: ['messages', 2, 'content'], from: 15 },
    ]);
  });

  it('are text where calls have a field of their own', () => {
    const structured = [
      { role: 'assistant', content: call, tool_calls: [{ id: 'c', function: { name: 'other', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: '' },
    ];
    const [turn] = read(structured).turns;
    expect(turn?.text?.text).toBe(call);
    expect(turn?.calls.map(({ name }) => name)).toEqual(['other']);
  });

  it('are reported where they are malformed', () => {
    const { findings } = read([{ role: 'assistant', content: '<tool_call>{"name"</tool_call>' }]);
    expect(findings.map(({ reason }) => reason)).toEqual(['arguments_malformed']);
  });

  it.each([
    ['that is not closed', '<tool_call>\n{"name": "search", "arguments": {}}\n'],
    ['without its element', '<function=search>\n<parameter=query>\nAare\n</parameter>\n</function>'],
    ['of Llama', '<|python_tag|>{"name": "search", "parameters": {"query": "Aare"}}<|eom_id|>'],
    ['of Mistral', '[TOOL_CALLS]search[ARGS]{"query": "Aare"}'],
    ['of DeepSeek', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search'],
    ['of DeepSeek 3.2', '<｜DSML｜function_calls><｜DSML｜invoke name="search">'],
    ['of Kimi', 'I search.<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0'],
    ['of MiniMax', '<minimax:tool_call>\n<invoke name="search">'],
    ['of Hunyuan', '<tool_calls>[{"name": "search", "arguments": {}}]</tool_calls>'],
    ['of Granite', '<|tool_call|>[{"name": "search", "arguments": {}}]'],
    ['of gpt-oss', '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{}<|call|>'],
    ['of Seed', '<seed:tool_call>\n<function=search>\n</function>\n</seed:tool_call>'],
    ['of InternLM', '<|action_start|><|plugin|>{"name": "search"}<|action_end|>'],
    ['of Gemma', '<start_function_call>call:search{query:Aare}<end_function_call>'],
  ])('are a finding in a text %s', (_, content) => {
    const { turns, findings } = read([{ role: 'assistant', content }]);
    expect(findings).toEqual([{ reason: 'call_unread', path: ['messages', 0] }]);
    expect(turns[0]?.text?.text).toBe(content);
    // Who is no policy calls nothing.
    expect(read([{ role: 'user', content }]).findings).toEqual([]);
  });

  it.each([
    'A function of tools, <tool> and [TOOL].',
    '<|im_end|>',
    'f(x) = <function>',
    'Write `<tool_call>` before it.',
    '```\n[TOOL_CALLS]search\n```\nSo does Mistral.',
    '<think>I could write <tool_call> now.</think>It is 288 km long.',
    'Or <function=search>?</think>It is 288 km long.',
    '<think>The mark of Llama is <|python_tag|>',
  ])('%s is no call', (content) => {
    expect(read([{ role: 'assistant', content }]).findings).toEqual([]);
  });

  it.each([
    ['that is not closed', '<tool_call>{"name": "search"'],
    ['of Mistral', '[TOOL_CALLS]search[ARGS]{}'],
    ['behind thinking', '<think>I search.</think><function=search></function>'],
    ['between thoughts', '<think>a</think>[TOOL_CALLS]search[ARGS]{}<think>b</think>Done.'],
    ['before thinking', '<function=search></function>\n<think>wait</think>It is long.'],
  ])('are a finding behind a whole one: %s', (_, content) => {
    const { turns, findings } = read([{ role: 'assistant', content: `${call}\n${content}` }]);
    expect(turns[0]?.calls).toHaveLength(1);
    expect(findings.map(({ reason }) => reason)).toEqual(['call_unread', 'call_without_result']);
  });

  it.each(['JSON', 'undefined', 'NaN', 'null', 'get_time'])('are none of %s alone', (word) => {
    const text = `<tool_call>${word}</tool_call>`;
    expect(read([{ role: 'assistant', content: text }]).findings).toMatchObject([{ reason: 'arguments_malformed' }]);
  });
  it('are read in linear time from a text of many parts', () => {
    const parts = Array.from({ length: 40_000 }, () => ({ type: 'text', text: call }));
    expect(read([{ role: 'assistant', content: parts }]).turns[0]?.calls).toHaveLength(40_000);
  });
});

describe('nodes of verifiers', () => {
  const node = (parent: number | null, role: string, content: string, sampled = true) => ({
    parent,
    message: { role, content },
    sampled,
    token_ids: [1],
  });
  const nodes = [
    node(null, 'user', 'q', false),
    node(0, 'assistant', 'an example', false),
    node(1, 'assistant', 'one'),
    node(1, 'assistant', 'two'),
  ];

  it('are read along the only branch', () => {
    const { turns } = read(nodes.slice(0, 3));
    expect(turns.map(({ text, by_policy }) => [text?.text, by_policy])).toEqual([
      ['q', false],
      ['an example', false],
      ['one', true],
    ]);
    expect(turns[2]?.text?.pieces[0]?.path).toEqual(['messages', 2, 'message', 'content']);
  });

  it('need a choice among several branches', () => {
    expect(problems(nodes)).toEqual([
      'messages: expected one branch, got 2: name a last node (2, 3) in trajectory.leaf',
    ]);
    expect(endOf(read(nodes, { leaf: 3 })).answer.text).toBe('two');
    expect(problems(nodes, { leaf: 9 })).toHaveLength(1);
  });

  it('have a parent before them', () => {
    expect(problems([node(0, 'user', 'q')])).toEqual([
      'messages[0].parent: expected null or the index of an earlier node',
    ]);
    expect(problems([node(null, 'user', 'q'), { role: 'user', content: '' }])).toEqual([
      'messages[1]: expected a node with a message, like the others, got an object',
    ]);
  });
});
