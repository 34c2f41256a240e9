/** Every stop condition of a trajectory, and the budgets that cause them. */
import { describe, expect, it } from 'vitest';
import { isWhole, OUR_STOPS, POLICY_STOPS } from '../../../src/agent/stop-conditions.ts';
import {
  assistantMessages,
  callText,
  GENERATOR_DOWN,
  outcomeOf,
  played,
  prints,
  SANDBOX_DOWN,
  says,
  toolMessages,
} from './scripted-agent.ts';

const call = says(callText('1'));
const counted = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

it("belongs to the policy or to our systems, and only the policy's ends are scored", () => {
  expect(POLICY_STOPS.every(isWhole)).toBe(true);
  expect(OUR_STOPS.some(isWhole)).toBe(false);
});

describe('the policy ends it', () => {
  it('with a turn without a call: no_tool_call', async () => {
    expect(outcomeOf(await played({ turns: [says('42')] }))).toEqual({
      stop: 'no_tool_call',
      failure: null,
      num_turns: 2,
    });
  });

  it('with a call in the last of 16 turns: max_turns', async () => {
    const turns = Array.from({ length: 16 }, () => call);
    const done = await played({ turns, outputs: Array.from({ length: 15 }, () => prints('x')) });
    // 15 user turns, 16 assistant turns, 1.
    expect(outcomeOf(done)).toEqual({ stop: 'max_turns', failure: null, num_turns: 32 });
    expect(done.runs).toHaveLength(15);
  });

  it('with an answer in the last turn: no_tool_call', async () => {
    const done = await played({ turns: [call, says('42')], outputs: [prints('x')], settings: { max_turns: 2 } });
    expect(outcomeOf(done)).toMatchObject({ stop: 'no_tool_call', num_turns: 4 });
  });

  it('by writing until the budget is spent: response_budget', async () => {
    const turns = [says('word '.repeat(20), 'length', counted(50, 100))];
    const done = await played({ turns, settings: { max_response_tokens: 100 } });
    expect(outcomeOf(done)).toEqual({ stop: 'response_budget', failure: null, num_turns: 2 });
    expect(done.loop.responseTokens).toBe(100);
  });

  it('by a call that leaves no room for anything: response_budget', async () => {
    const turns = [says(callText('1'), 'stop', counted(50, 100))];
    const done = await played({ turns, settings: { max_response_tokens: 100 } });
    expect(outcomeOf(done)).toEqual({ stop: 'response_budget', failure: null, num_turns: 2 });
    expect(done.runs).toEqual([]);
  });

  it('by a result that would exceed the budget, which it never sees: response_budget', async () => {
    const turns = [says(callText('1'), 'stop', counted(50, 60))];
    const done = await played({ turns, outputs: [prints('y'.repeat(200))], settings: { max_response_tokens: 150 } });
    expect(outcomeOf(done)).toEqual({ stop: 'response_budget', failure: null, num_turns: 2 });
    expect(toolMessages(done)).toMatchObject([{ shown: false, outcome: 'finished' }]);
    expect(done.loop.responseTokens).toBe(60);
    expect(done.loop.response).not.toContain('yyy');
  });

  it("by a call that breaks training's loop, with as_training: bad_call", async () => {
    const unknown = says('<tool_call>{"name": "search", "arguments": {}}</tool_call>');
    const done = await played({ turns: [unknown], settings: { bad_calls: 'as_training' } });
    expect(outcomeOf(done)).toEqual({ stop: 'bad_call', failure: null, num_turns: 2 });
    const malformed = says('<tool_call>{"name": </tool_call>');
    const ignored = await played({ turns: [malformed], settings: { bad_calls: 'as_training' } });
    expect(outcomeOf(ignored).stop).toBe('no_tool_call');
  });
});

describe('budgets', () => {
  it('give each turn what is left of the response, tool output included', async () => {
    const turns = [
      says(callText('1'), 'stop', counted(100, 40)),
      says(callText('2'), 'stop', counted(170, 50)),
      says('done', 'stop', counted(300, 5)),
    ];
    const { calls, loop } = await played({
      turns,
      outputs: [prints('a'), prints('b')],
      settings: { max_response_tokens: 1000 },
    });
    const asked = calls.map(({ request }) => request.max_tokens);
    expect(asked[0]).toBe(1000);
    // 40 of the turn, and an estimate of its tool output above the 30 that the server counts later.
    expect(asked[1]).toBeLessThan(1000 - 40 - 30);
    // 40 + 30 + 50, and the same estimate.
    expect(asked[2]).toBeLessThan(1000 - 120);
    expect(asked[2]).toBeGreaterThan(1000 - 120 - 80);
    // 40 + 30 + 50 + 80 + 5: the prompts reveal the tokens between the turns.
    expect(loop.responseTokens).toBe(205);
    expect(loop.tokensCounted).toBe('server');
    expect(loop.usage).toEqual(counted(570, 95));
    expect(assistantMessages({ loop, runs: [], calls, events: [] }).map(({ tokens }) => tokens)).toEqual([
      { assistant: 40, tool_output: 30, counted: 'server' },
      { assistant: 50, tool_output: 80, counted: 'server' },
      { assistant: 5, tool_output: 0, counted: 'server' },
    ]);
  });

  it('never exceed the context', async () => {
    const { calls } = await played({ turns: [says('42')], generator: { context_tokens: 4096 } });
    const asked = calls[0]?.request.max_tokens ?? 0;
    expect(asked).toBeLessThan(4096);
    expect(asked).toBeGreaterThan(3500);
  });
});

describe('our systems end it', () => {
  it('if the server cuts a turn before the budget is spent: length', async () => {
    const done = await played({ turns: [says('42 is', 'length')], generator: { context_tokens: 4096 } });
    expect(outcomeOf(done)).toEqual({ stop: 'length', failure: null, num_turns: 2 });
  });

  it('if the next turn does not fit into the context: context_full', async () => {
    const turns = [says(callText('1'), 'stop', counted(500, 3580))];
    const done = await played({ turns, outputs: [prints('x')], generator: { context_tokens: 4096 } });
    expect(outcomeOf(done)).toEqual({ stop: 'context_full', failure: null, num_turns: 3 });
  });

  it('if the sandbox fails, without showing an output: sandbox_failed', async () => {
    const done = await played({ turns: [call], outputs: [SANDBOX_DOWN] });
    expect(outcomeOf(done)).toEqual({ stop: 'sandbox_failed', failure: 'sandbox_unreachable', num_turns: 2 });
    expect(toolMessages(done)).toEqual([]);
  });

  it('if the generator fails, keeping the text received: generator_failed', async () => {
    const turns = [call, [...says('It is').slice(0, 1), GENERATOR_DOWN]];
    const done = await played({ turns, outputs: [prints('x')] });
    expect(outcomeOf(done)).toEqual({ stop: 'generator_failed', failure: 'generator_unreachable', num_turns: 4 });
    expect(assistantMessages(done).at(-1)).toMatchObject({ content: 'It is', finish_reason: null });
  });

  it('if the caller leaves, or at the deadline: caller_gone, deadline', async () => {
    const leaving = new AbortController();
    leaving.abort();
    const gone = await played({ turns: [], options: { caller: leaving.signal } });
    expect(outcomeOf(gone)).toEqual({ stop: 'caller_gone', failure: null, num_turns: 1 });
    let now = 0;
    const late = await played({
      turns: [call],
      outputs: [prints('x')],
      options: { deadline_ms: 100, elapsed: () => (now += 60) },
    });
    expect(outcomeOf(late).stop).toBe('deadline');
  });
});
