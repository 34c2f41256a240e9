/** The driver: what an observer receives, and what stops when the caller leaves. */
import { describe, expect, it } from 'vitest';
import { createCodeRunner } from '../../../service/backends/code-runner.ts';
import { runTrajectory } from '../../../service/trajectory.ts';
import { codeRun } from '../../../src/agent/code-interpreter.ts';
import { AgentLoop } from '../../../src/agent/loop.ts';
import { agentEventSchemas } from '../../../src/wire/agent-reply.ts';
import { scripted } from '../generation/scripted-generator.ts';
import { callText, outcomeOf, played, prints, SANDBOX_DOWN, says } from './scripted-agent.ts';
import { settingsWith } from './settings.ts';

describe('an observer', () => {
  it('receives turns, text, calls and results in order', async () => {
    const { events } = await played({
      turns: [[{ type: 'thinking', choice: 0, text: 'hm' }, ...says(callText('6*7'))], says('42')],
      outputs: [prints('42\n')],
    });
    expect(events.map(({ name }) => name)).toEqual([
      ...['turn', 'thinking', 'delta', 'tool_call', 'tool_result', 'turn_end'],
      ...['turn', 'delta', 'turn_end'],
    ]);
    const of = (name: string) => events.flatMap((event) => (event.name === name ? [event.data] : []));
    expect(agentEventSchemas.tool_call.parse(of('tool_call')[0])).toMatchObject({ turn: 1, code: 'print(6*7)' });
    expect(agentEventSchemas.tool_result.parse(of('tool_result')[0])).toMatchObject({ turn: 1, content: '42\n' });
    expect(agentEventSchemas.turn_end.parse(of('turn_end')[1])).toMatchObject({ turn: 2, finish_reason: 'stop' });
  });

  it('receives calls that do not run, without code', async () => {
    const bad = '<tool_call>no</tool_call>';
    const { events } = await played({ turns: [says(`${bad}${callText('2')}`), says('?')] });
    const calls = events.flatMap(({ name, data }) =>
      name === 'tool_call' ? [agentEventSchemas.tool_call.parse(data)] : [],
    );
    expect(calls.map(({ problem, code }) => ({ problem, code }))).toEqual([
      { problem: 'not_json', code: null },
      { problem: null, code: null },
    ]);
  });

  it('receives no result if there was none', async () => {
    const { events } = await played({ turns: [says(callText('1'))], outputs: [SANDBOX_DOWN] });
    expect(events.map(({ name }) => name)).toEqual(['turn', 'delta', 'tool_call', 'turn_end']);
  });

  it('slows the policy by reading slowly', async () => {
    const { generator, calls } = scripted(() => [
      ...Array.from({ length: 50 }, () => ({ type: 'text', choice: 0, text: 'x' }) as const),
      { type: 'finish', choice: 0, finish_reason: 'stop' },
    ]);
    const loop = new AgentLoop(settingsWith(), generator);
    const { promise: room, resolve: read } = Promise.withResolvers<void>();
    const running = runTrajectory(loop, {
      generator,
      runCode: async () => SANDBOX_DOWN,
      observer: { send: () => undefined, room: () => room },
      caller: new AbortController().signal,
      deadline_ms: 60_000,
      elapsed: () => 0,
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls[0]?.read).toBe(1);
    read();
    await running;
    expect(calls[0]?.read).toBe(51);
  });
});

describe('when the caller leaves', () => {
  it('the generator stops at once', async () => {
    const leaving = new AbortController();
    const { generator, calls } = scripted(() =>
      Array.from({ length: 1000 }, () => ({ type: 'text', choice: 0, text: 'x' }) as const),
    );
    const loop = new AgentLoop(settingsWith(), generator);
    let sent = 0;
    await runTrajectory(loop, {
      generator,
      runCode: async () => SANDBOX_DOWN,
      observer: {
        send: (name) => {
          if (name === 'delta' && ++sent === 10) leaving.abort();
        },
        room: async () => undefined,
      },
      caller: leaving.signal,
      deadline_ms: 60_000,
      elapsed: () => 0,
    });
    expect(calls[0]).toMatchObject({ read: 10, stopped: true });
    expect(outcomeOf({ loop, runs: [], calls, events: [] })).toEqual({
      stop: 'caller_gone',
      failure: null,
      num_turns: 2,
    });
  });

  it('a code run ends, whatever it waits for', async () => {
    const leaving = new AbortController();
    let signalled = false;
    const done = await played({
      turns: [says(callText('1'))],
      options: {
        caller: leaving.signal,
        runCode: (_, signal) => {
          signal.addEventListener('abort', () => {
            signalled = true;
          });
          leaving.abort();
          return new Promise(() => undefined);
        },
      },
    });
    expect(outcomeOf(done)).toEqual({ stop: 'caller_gone', failure: null, num_turns: 2 });
    expect(signalled).toBe(true);
  });

  it('the deadline stops it, even for a reader who neither reads nor leaves', async () => {
    const done = await played({
      turns: [says('42')],
      options: { deadline_ms: 30, observer: { send: () => undefined, room: () => new Promise(() => undefined) } },
    });
    expect(outcomeOf(done)).toEqual({ stop: 'deadline', failure: null, num_turns: 2 });
  });
});

describe('a run of code', () => {
  const config = {
    name: 'sandbox',
    runtime: 'test',
    slots: 1,
    base_url: 'https://sandbox.test',
    vpc_binding: null,
    api_key: null,
    access: null,
  };
  const clock = { now: () => 0, date: () => 0, random: () => 0, sleep: () => Promise.resolve() };
  const run = codeRun('print(1)', settingsWith());
  const good = { status: 'Success', run_result: { status: 'Finished', return_code: 0, stdout: '1\n', stderr: '' } };

  it('is retried if the sandbox may recover, and only then', async () => {
    const statuses = [503, 502, 200];
    let asked = 0;
    const flaky = createCodeRunner(
      config,
      async () => Response.json(good, { status: statuses[asked++] ?? 200 }),
      clock,
    );
    expect(await flaky(run, new AbortController().signal)).toEqual({
      ok: true,
      output: { outcome: 'finished', text: '1\n' },
    });
    let refusals = 0;
    const locked = createCodeRunner(
      config,
      async () => {
        refusals++;
        return new Response(null, { status: 401 });
      },
      clock,
    );
    expect(await locked(run, new AbortController().signal)).toMatchObject({
      ok: false,
      failure: { reason: 'sandbox_unauthorized' },
    });
    expect(refusals).toBe(1);
  });

  it('ends with its caller, between retries too', async () => {
    const leaving = new AbortController();
    let asked = 0;
    const busy = createCodeRunner(
      config,
      async () => {
        asked++;
        return new Response(null, { status: 503 });
      },
      {
        ...clock,
        sleep: () => {
          leaving.abort();
          return new Promise(() => undefined);
        },
      },
    );
    expect((await busy(run, leaving.signal)).ok).toBe(false);
    expect(asked).toBe(1);
  });
});
