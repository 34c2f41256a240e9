/** The reader of Responses API items: calls, results inside their call, reasoning, refusals. */
import { describe, expect, it } from 'vitest';
import { pathText } from '../../../src/input-problem.ts';
import { endOf } from '../../../src/trajectory/final-turns.ts';
import { readTrajectory } from '../../../src/trajectory/read.ts';
import type { Trajectory } from '../../../src/trajectory/trajectory.ts';

function read(items: unknown): Trajectory {
  const result = readTrajectory(items);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const said = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });

describe('readTrajectory', () => {
  it('reads reasoning, calls, results and the message as turns of one rollout', () => {
    const trajectory = read([
      {
        type: 'reasoning',
        id: 'r',
        summary: [{ type: 'summary_text', text: 'Search first.' }],
        encrypted_content: 'x',
      },
      { type: 'function_call', call_id: 'c1', name: 'mcp__web__search', arguments: '{"q":"Aare"}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'input_text', text: '288 km' }, { type: 'input_image' }],
      },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Enough.' }] },
      said('The Aare is '),
      said('288 km long.'),
    ]);
    expect(trajectory.turns.map(({ role, by_policy }) => [role, by_policy])).toEqual([
      ['assistant', true],
      ['assistant', true],
      ['tool', false],
      ['assistant', true],
      ['assistant', true],
      ['assistant', true],
    ]);
    expect(trajectory.turns[2]?.results).toMatchObject([
      { name: 'mcp__web__search', output: { text: '288 km' }, call: { turn: 1, call: 0 } },
    ]);
    expect(trajectory.findings.map(({ reason, path }) => `${reason} ${pathText(path)}`)).toEqual([
      'part_unread messages[2].output[1]',
    ]);
    expect(endOf(trajectory)).toMatchObject({
      answer: { text: 'The Aare is \n288 km long.' },
      thinking: 'Enough.',
      num_turns: 4,
      calls: 1,
    });
  });

  it.each<[string, object, string, string]>([
    ['mcp_call', { id: 'm', name: 'search', arguments: '{}', output: 'found' }, 'search', 'found'],
    ['mcp_call', { id: 'm', name: 'search', arguments: '{}', output: null, error: 'down' }, 'search', 'down'],
    ['file_search_call', { id: 'f', queries: ['a'], results: [{ text: 'x' }, { text: 'y' }] }, 'file_search', 'x\ny'],
    ['code_interpreter_call', { id: 'i', code: '1', outputs: [{ type: 'logs', logs: '1' }] }, 'code_interpreter', '1'],
  ])('takes the result out of a %s', (type, item, name, output) => {
    const { turns, findings } = read([{ type, ...item }, said('done')]);
    expect(turns.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
    expect(turns[0]?.calls).toMatchObject([{ name }]);
    expect(turns[1]?.results).toMatchObject([{ name, output: { text: output }, call: { turn: 0, call: 0 } }]);
    expect(findings).toEqual([]);
  });

  it('reads custom tools, whose input is any text', () => {
    const { turns } = read([
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'select 1' },
      { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
    ]);
    expect(turns[0]?.calls[0]?.arguments).toEqual({ input: 'select 1' });
    expect(turns[1]?.results[0]?.output.text).toBe('1');
  });

  it('reports refusals and items without a place', () => {
    const { findings } = read([
      { type: 'mcp_list_tools', tools: [] },
      { type: 'constructor' },
      { type: 'web_search_call', id: 'w', action: { type: 'search', query: 'a' } },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
    expect(findings.map(({ reason, path }) => `${reason} ${pathText(path)}`)).toEqual([
      'item_unread messages[0]',
      'item_unread messages[1]',
      'refusal messages[3].content[0]',
      'call_without_result messages[2]',
    ]);
  });

  it.each<[object, string]>([
    [{ type: 'function_call', call_id: 'c' }, "messages[0].name: expected the tool's name, a string, got nothing"],
    [
      { type: 'function_call_output', output: 3 },
      'messages[0].output: expected a string or an array of parts, got a number',
    ],
    [
      { type: 'function_call', name: 'x', arguments: [] },
      'messages[0].arguments: expected an object or its JSON text, got an array',
    ],
  ])('refuses %j', (item, problem) => {
    const result = readTrajectory([item]);
    expect(result.ok ? [] : result.error.map(({ path, message }) => `${pathText(path)}: ${message}`)).toEqual([
      problem,
    ]);
  });
});
