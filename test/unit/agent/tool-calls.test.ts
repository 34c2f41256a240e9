/** Tool calls of one turn, from its text and from the server. */
import { describe, expect, it } from 'vitest';
import { problemText, type ReadCall, readTurnCalls } from '../../../src/agent/tool-calls.ts';
import type { NativeToolCall } from '../../../src/generation/generator.ts';
import { callText } from './scripted-agent.ts';

const SHOW = { tools: ['code_interpreter'], bad_calls: 'show' } as const;
const AS_TRAINING = { tools: ['code_interpreter'], bad_calls: 'as_training' } as const;

function read(text: string, native: readonly NativeToolCall[] = [], how: typeof SHOW | typeof AS_TRAINING = SHOW) {
  return readTurnCalls({ text, native }, how).map(brief);
}

function brief({ call, code }: ReadCall) {
  return { name: call.name, problem: call.problem, code };
}

const good = (code: string) => ({ name: 'code_interpreter', problem: null, code });
const tag = (content: string) => `<tool_call>\n${content}\n</tool_call>`;
const native = (id: string, args: string, name = 'code_interpreter'): NativeToolCall => ({ id, name, arguments: args });

describe('calls in the text', () => {
  it('are found anywhere, after thinking too', () => {
    expect(read(callText('print(1)'))).toEqual([good('print(1)')]);
    expect(read(`<think>\nI should compute it.\n</think>\n\nLet me see. ${callText('print(2)')}`)).toEqual([
      good('print(2)'),
    ]);
  });

  it('keep their order', () => {
    expect(read(`${callText('a = 1')} and ${callText('b = 2')}`)).toEqual([good('a = 1'), good('b = 2')]);
  });

  it('keep line breaks, quotes and tags of other kinds in the code', () => {
    const code = 'print("<answer>", \'\\n\')\nprint(3)';
    expect(read(callText(code))).toEqual([good(code)]);
  });

  it.each([
    ['an element that is never closed', '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "1"}}'],
    ['a closing tag alone', 'nothing </tool_call>'],
    ['a call without tags', '{"name": "code_interpreter", "arguments": {"code": "1"}}'],
    ['a fenced program', '```python\nprint(1)\n```'],
  ])('are not made of %s', (_, text) => {
    expect(read(text)).toEqual([]);
  });

  it.each([
    ['not_json', tag('{"name": "code_interpreter", "arguments": {"code": "1"}')],
    ['not_json', tag('{"name": "code_interpreter", "arguments": {"code": "a\nb"}}')],
    ['not_json', tag('')],
    ['not_json', tag('code_interpreter(code="1")')],
    ['no_name', tag('{"arguments": {"code": "1"}}')],
    ['no_name', tag('{"name": "", "arguments": {"code": "1"}}')],
    ['arguments_not_object', tag('{"name": "code_interpreter"}')],
    ['arguments_not_object', tag('{"name": "code_interpreter", "arguments": "print(1)"}')],
    ['unknown_tool', tag('{"name": "web_search", "arguments": {"query": "x"}}')],
    ['code_missing', tag('{"name": "code_interpreter", "arguments": {}}')],
    ['code_missing', tag('{"name": "code_interpreter", "arguments": {"code": 7}}')],
  ])('are told apart by what is wrong: %s', (problem, text) => {
    expect(read(text)).toMatchObject([{ problem, code: null }]);
    expect(problemText(read(text)[0]?.problem ?? 'not_json')).toMatch(/^Error: nothing was run: /);
  });

  it('leave out malformed calls as training does, and keep those that break its loop', () => {
    const text = `${tag('{"name": ')} ${callText('print(1)')} ${tag('{"name": "code_interpreter", "arguments": "x"}')}`;
    expect(read(text, [], AS_TRAINING)).toEqual([
      good('print(1)'),
      { name: 'code_interpreter', problem: 'arguments_not_object', code: null },
    ]);
    expect(read(text).map(({ problem }) => problem)).toEqual(['not_json', null, 'arguments_not_object']);
  });

  it('are ignored if the request gave no tools', () => {
    expect(readTurnCalls({ text: callText('1'), native: [] }, { tools: [], bad_calls: 'show' })).toEqual([]);
  });
});

describe('calls that the server parsed', () => {
  it('take precedence over calls in the text', () => {
    const [call] = readTurnCalls({ text: callText('text'), native: [native('c1', '{"code":"native"}')] }, SHOW);
    expect(call).toEqual({
      call: { id: 'c1', name: 'code_interpreter', arguments: '{"code":"native"}', problem: null },
      code: 'native',
    });
  });

  it('report what is wrong with each', () => {
    const calls = ['{"code":', '"print(1)"', 'null', '[]', '{}'].map((args, position) => native(`c${position}`, args));
    const problems = [
      'not_json',
      'arguments_not_object',
      'arguments_not_object',
      'arguments_not_object',
      'code_missing',
    ];
    expect(read('', calls).map(({ problem }) => problem)).toEqual(problems);
    expect(read('', [native('c', '{"code":"1"}', 'python')])).toMatchObject([{ problem: 'unknown_tool' }]);
    // Training parses calls itself; text that is not JSON is no call there.
    expect(read('', calls, AS_TRAINING).map(({ problem }) => problem)).toEqual(problems.slice(1));
  });

  it('leave calls that the server could not parse to our parser', () => {
    expect(read(tag('{"name": '), [])).toMatchObject([{ problem: 'not_json' }]);
  });
});
