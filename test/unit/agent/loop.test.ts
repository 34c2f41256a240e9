/** The conversation of the loop: its prompts, its runs, its results. */
import { describe, expect, it } from 'vitest';
import { NOT_RUN_TEXT, problemText } from '../../../src/agent/tool-calls.ts';
import {
  assistantMessages,
  callsNatively,
  callText,
  ends,
  outcomeOf,
  played,
  prints,
  says,
  toolMessages,
} from './scripted-agent.ts';
import { QUESTION } from './settings.ts';

const native = (id: string, code: string) => ({ id, name: 'code_interpreter', arguments: JSON.stringify({ code }) });

describe('a trajectory', () => {
  it('runs the calls of the policy and ends with its answer', async () => {
    const call = `Let me compute.\n${callText('6 * 7')}`;
    const done = await played({ turns: [says(call), says('It is \\boxed{42}.')], outputs: [prints('42\n')] });
    expect(outcomeOf(done)).toEqual({ stop: 'no_tool_call', failure: null, num_turns: 4 });
    expect(done.runs.map(({ code }) => code)).toEqual(['print(6 * 7)']);
    expect(done.loop.messages).toMatchObject([
      {
        role: 'assistant',
        turn: 1,
        content: call,
        tool_calls: [{ id: null, name: 'code_interpreter', problem: null }],
      },
      { role: 'tool', turn: 1, content: '42\n', outcome: 'finished', raw_chars: 3, truncated: false, shown: true },
      { role: 'assistant', turn: 2, content: 'It is \\boxed{42}.', tool_calls: [], finish_reason: 'stop' },
    ]);
    expect(done.loop.response).toBe(
      `${call}user\n<tool_response>\n42\n\n</tool_response>\nassistant\nIt is \\boxed{42}.`,
    );
  });

  it.each([0, 1, 2, 5])('counts %i rounds as the training loop does: twice the rounds, plus 2', async (rounds) => {
    const turns = [...Array.from({ length: rounds }, (_, round) => says(callText(`${round}`))), says('Done.')];
    const done = await played({ turns, outputs: turns.map(() => prints('ok')) });
    expect(outcomeOf(done)).toEqual({ stop: 'no_tool_call', failure: null, num_turns: 2 * rounds + 2 });
  });

  it('describes the tools in the system message if the server has no field for them', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: QUESTION },
    ];
    const { calls, loop } = await played({ turns: [says('42')], settings: { messages } });
    expect(calls[0]?.request.tools).toEqual([]);
    expect(loop.prompt).toEqual(calls[0]?.request.messages);
    const [system, user] = loop.prompt;
    expect(system?.role).toBe('system');
    expect(system?.content).toMatch(/^Be brief\.\n\n# Tools\n[\s\S]*<tools>\n\{.*"code_interpreter".*\}\n<\/tools>/);
    expect(user).toEqual(messages[1]);
  });

  it('sends the whole conversation with each turn', async () => {
    const first = `<think>\nhm\n</think>\n\n${callText('1')}`;
    const turns = [says(first), says(callText('2')), says('3')];
    const { calls } = await played({ turns, outputs: [prints('one'), prints('two')] });
    expect(calls[2]?.request.messages.slice(2)).toEqual([
      { role: 'assistant', content: first },
      { role: 'user', content: '<tool_response>\none\n</tool_response>' },
      { role: 'assistant', content: callText('2') },
      { role: 'user', content: '<tool_response>\ntwo\n</tool_response>' },
    ]);
  });

  it('has no tools if the request has none, so a call is an answer', async () => {
    const done = await played({ turns: [says(callText('1'))], settings: { tools: [] } });
    expect(outcomeOf(done)).toEqual({ stop: 'no_tool_call', failure: null, num_turns: 2 });
    expect(done.loop.prompt).toEqual([{ role: 'user', content: QUESTION }]);
  });
});

describe('a server that parses calls', () => {
  const generator = { native_tools: true };

  it('gets tools in their own field, and results as tool messages', async () => {
    const turns = [callsNatively('I compute.', native('c1', '6*7')), says('42')];
    const done = await played({ turns, outputs: [prints('42\n')], generator });
    expect(done.calls[0]?.request.tools).toMatchObject([{ name: 'code_interpreter' }]);
    expect(done.loop.prompt).toEqual([{ role: 'user', content: QUESTION }]);
    expect(done.calls[1]?.request.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'I compute.', tool_calls: [native('c1', '6*7')] },
      { role: 'tool', tool_call_id: 'c1', content: '42\n' },
    ]);
    expect(toolMessages(done)).toMatchObject([{ call_id: 'c1' }]);
  });

  it('yields the response as the policy wrote it', async () => {
    const text = await played({
      turns: [says(`I compute.\n${callText('6*7')}`), says('42')],
      outputs: [prints('42\n')],
    });
    const code = '{"name":"code_interpreter","arguments":{"code":"6*7"}}';
    const turns = [callsNatively('I compute.', native('c1', '6*7')), says('42')];
    const parsed = await played({ turns, outputs: [prints('42\n')], generator });
    expect(parsed.loop.response).toBe(
      text.loop.response.replace(code, '{"name": "code_interpreter", "arguments": {"code":"6*7"}}'),
    );
  });

  it('gets a malformed call back as text: vLLM refuses arguments that are not JSON', async () => {
    const broken = { id: 'c1', name: 'code_interpreter', arguments: '{"code": "6*7' };
    const done = await played({ turns: [callsNatively('Hm.', broken), says('42')], generator });
    expect(done.calls[1]?.request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Hm.\n<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "6*7}\n</tool_call>',
      },
      { role: 'user', content: `<tool_response>\n${problemText('not_json')}\n</tool_response>` },
    ]);
    expect(toolMessages(done)).toMatchObject([{ outcome: 'bad_call', call_id: 'c1' }]);
  });

  it('gets no call without its result', async () => {
    const turns = [callsNatively('', native('c1', '1'), native('c2', '2')), says('done')];
    const ignoring = await played({ turns, outputs: [prints('1')], generator });
    expect(ignoring.calls[1]?.request.messages.at(1)).toMatchObject({ tool_calls: [{ id: 'c1' }] });
    const reporting = await played({ turns, outputs: [prints('1')], generator, settings: { further_calls: 'report' } });
    expect(reporting.calls[1]?.request.messages.slice(1)).toMatchObject([
      { tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
      { tool_call_id: 'c1', content: '1' },
      { tool_call_id: 'c2', content: NOT_RUN_TEXT },
    ]);
  });
});

describe('what the policy is shown', () => {
  it('is the error text of a failed program', async () => {
    const error = 'Traceback (most recent call last):\nZeroDivisionError: division by zero\n';
    const done = await played({ turns: [says(callText('1/0')), says('?')], outputs: [ends('failed', error)] });
    expect(toolMessages(done)).toMatchObject([{ content: error, outcome: 'failed', shown: true }]);
    expect(done.calls[1]?.request.messages.at(-1)?.content).toContain('ZeroDivisionError');
  });

  it('is 256 characters of a long output, from both ends', async () => {
    const output = `${'a'.repeat(500)}${'b'.repeat(500)}`;
    const done = await played({ turns: [says(callText('1')), says('?')], outputs: [prints(output)] });
    expect(toolMessages(done)).toMatchObject([
      {
        content: `${'a'.repeat(128)}...(truncated)...${'b'.repeat(128)}`,
        raw_chars: 1000,
        truncated: true,
      },
    ]);
    expect(done.loop.response).not.toContain('a'.repeat(129));
  });

  it('is the reason why its call could not run, and that counts as a round', async () => {
    const done = await played({ turns: [says('<tool_call>print(1)</tool_call>'), says('?')] });
    expect(outcomeOf(done)).toEqual({ stop: 'no_tool_call', failure: null, num_turns: 4 });
    expect(done.runs).toEqual([]);
    expect(toolMessages(done)).toMatchObject([{ outcome: 'bad_call', content: problemText('not_json') }]);
  });

  it('is the result of its first call; further calls are dropped or reported', async () => {
    const turns = [says(`${callText('1')}${callText('2')}${callText('3')}`), says('?')];
    const ignoring = await played({ turns, outputs: [prints('one')] });
    expect(ignoring.runs.map(({ code }) => code)).toEqual(['print(1)']);
    expect(toolMessages(ignoring).map(({ outcome }) => outcome)).toEqual(['finished']);
    expect(assistantMessages(ignoring)[0]?.tool_calls).toHaveLength(3);
    const reporting = await played({ turns, outputs: [prints('one')], settings: { further_calls: 'report' } });
    expect(toolMessages(reporting).map(({ outcome }) => outcome)).toEqual(['finished', 'not_run', 'not_run']);
    expect(reporting.calls[1]?.request.messages.at(-1)?.content).toBe(
      ['one', NOT_RUN_TEXT, NOT_RUN_TEXT].map((text) => `<tool_response>\n${text}\n</tool_response>`).join('\n'),
    );
    expect(outcomeOf(reporting).num_turns).toBe(4);
  });
});
