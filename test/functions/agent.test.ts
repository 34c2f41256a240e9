/** `POST /v1/agent` in workerd: the trajectory as JSON and as events, its reward, and the reply to every failure. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { problemSchema } from '../../src/wire/problem.ts';
import {
  AgentEvents,
  ASKED,
  agent,
  callText,
  environmentOf,
  ran,
  ScriptedSandbox,
  serversOf,
  streamed,
  trajectoryOf,
} from './agent-servers.ts';
import { post, problemOf, send, sha256Hex, wrongFields } from './api.ts';
import { ModelServer, sendTo } from './model-server.ts';

const CALL = callText('6 * 7');
const ANSWER = 'It is \\boxed{42}.';
const SOLVED = () => serversOf([[`I compute. ${CALL}`], [ANSWER]], [ran('42\n')]);

const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

describe('a trajectory', () => {
  it('alternates generated turns and code runs, as in training', async () => {
    const servers = SOLVED();
    const reply = await trajectoryOf(await agent({}, servers));
    expect(reply).toMatchObject({
      ...{ generator: 'model', model: 'refiner-4b', native_tools: false, max_turns: 16, max_response_tokens: 20_480 },
      ...{ stop: 'no_tool_call', failure: null, num_turns: 4, reward: null, reason: 'not_asked', score: null },
      trajectory: {
        messages: [
          { role: 'assistant', turn: 1, tool_calls: [{ name: 'code_interpreter', problem: null }] },
          { role: 'tool', turn: 1, content: '42\n', outcome: 'finished', truncated: false },
          { role: 'assistant', turn: 2, content: ANSWER, finish_reason: 'stop' },
        ],
      },
    });
    expect(servers.sandbox.runs.map(({ code }) => code)).toEqual(['print(6 * 7)']);
    expect(servers.model.calls.map(({ body }) => body)).toMatchObject([
      { temperature: 1, top_p: 1, top_k: -1, n: 1, max_completion_tokens: 20_480 },
      { messages: [{ role: 'system' }, { role: 'user' }, { role: 'assistant' }, { role: 'user' }] },
    ]);
    expect(servers.model.calls[1]?.body['messages']).toMatchObject([
      {},
      {},
      {},
      { content: '<tool_response>\n42\n\n</tool_response>' },
    ]);
  });

  it('uses calls that the server parses, and its field for tools', async () => {
    const called = { index: 0, id: 'c1', function: { name: 'code_interpreter', arguments: '{"code":' } };
    const rest = { index: 0, function: { arguments: '"6*7"}' } };
    const native = streamed([{ content: 'I compute.' }, { tool_calls: [called] }, { tool_calls: [rest] }], {
      finish: 'tool_calls',
      usage: usage(100, 20),
    });
    const servers = serversOf([native, streamed([{ content: ANSWER }], { usage: usage(150, 9) })], [ran('42\n')]);
    const reply = await trajectoryOf(await agent({}, servers, { tools: 'native' }));
    expect(reply).toMatchObject({ native_tools: true, stop: 'no_tool_call', num_turns: 4 });
    const [first, second] = servers.model.calls.map(({ body }) => body);
    expect(first).toMatchObject({ tools: [{ type: 'function', function: { name: 'code_interpreter' } }] });
    expect(second?.['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { arguments: '{"code":"6*7"}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '42\n' },
    ]);
    // 20 + 30 that the prompt grew by + 9.
    expect(reply).toMatchObject({ response_tokens: 59, token_counts: 'server', usage: usage(250, 29) });
  });

  it('shows the policy what its program did, and ends only with the policy', async () => {
    const outputs = [
      Response.json({
        status: 'Failed',
        run_result: { status: 'Finished', return_code: 1, stdout: '', stderr: 'NameError: x' },
      }),
      Response.json({ status: 'Failed', run_result: { status: 'TimeLimitExceeded', return_code: null } }),
      ran('x'.repeat(300)),
    ];
    const servers = serversOf([[callText('x')], [callText('while True: pass')], [callText('1')], [ANSWER]], outputs);
    const { trajectory, stop, num_turns } = await trajectoryOf(await agent({}, servers));
    expect({ stop, num_turns }).toEqual({ stop: 'no_tool_call', num_turns: 8 });
    expect(trajectory.messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { content: 'NameError: x', outcome: 'failed' },
      { content: 'no stdout here', outcome: 'time_limit' },
      { content: `${'x'.repeat(128)}...(truncated)...${'x'.repeat(128)}`, raw_chars: 300, truncated: true },
    ]);
  });
});

describe('a reward', () => {
  it('is that of /v1/score for the same response, under the recipe that was asked for', async () => {
    const counted = () =>
      serversOf(
        [
          streamed([{ content: CALL }], { usage: usage(100, 20) }),
          streamed([{ content: ANSWER }], { usage: usage(150, 9) }),
        ],
        [ran('42\n')],
      );
    const right = await trajectoryOf(await agent({ reference: '42' }, counted()));
    expect(right).toMatchObject({
      reward: 1,
      reason: null,
      score: { family: 'tool-call', recipe: { name: 'open-agentrl' } },
    });
    const wrong = await trajectoryOf(await agent({ reference: '43', recipe: 'grpo-tcr' }, counted()));
    expect(wrong).toMatchObject({ max_response_tokens: 10_480, num_turns: 4, response_tokens: 59 });
    const { response, num_turns, response_tokens } = wrong;
    const asked = { response, num_turns, response_tokens, reference: '43', recipe: 'grpo-tcr' };
    const scored: unknown = await (await send(post('/v1/score', asked))).json();
    expect(wrong.score).toEqual(scored);
    expect(wrong.reward).toBeCloseTo(-0.9, 12);
  });

  it('is null with the reason where a judgment is missing', async () => {
    const program = '```python\nprint(int(input()) * 2)\n```';
    const fields = { tests: [{ stdin: '1', stdout: '2' }], judgments: 'skip' };
    const reply = await trajectoryOf(await agent(fields, serversOf([[program]])));
    expect(reply).toMatchObject({ stop: 'no_tool_call', reward: null, reason: 'judgment_skipped' });
    expect(reply.score).toMatchObject({ status: 'unscored', components: { outcome: { value: null } } });
  });

  it('is null where nobody counted the tokens that a penalty depends on', async () => {
    const long = `${'word '.repeat(7_000)}${ANSWER}`;
    const short = await trajectoryOf(await agent({ reference: '42' }, serversOf([streamed([{ content: ANSWER }])])));
    expect(short).toMatchObject({ token_counts: 'estimated', reward: 1 });
    const reply = await trajectoryOf(
      await agent({ reference: '42', recipe: 'grpo-tcr' }, serversOf([streamed([{ content: long }])])),
    );
    expect(reply).toMatchObject({ reward: null, reason: 'tokens_estimated', score: null, token_counts: 'estimated' });
  });
});

describe('a failure of ours', () => {
  it.each([
    ['an outage', () => new Response(null, { status: 503, headers: { 'retry-after': '600' } }), 'sandbox_overloaded'],
    ['refused credentials', () => new Response(null, { status: 401 }), 'sandbox_unauthorized'],
    ['an error of its own', () => Response.json({ status: 'SandboxError', run_result: null }), 'sandbox_error'],
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'sandbox_reply_invalid'],
  ])('of the sandbox ends the trajectory, and is no output and no number: %s', async (_, answer, reason) => {
    const sandbox = new ScriptedSandbox(answer);
    const reply = await trajectoryOf(await agent({ reference: '42' }, { ...serversOf([[CALL]]), sandbox }));
    expect(reply).toMatchObject({ stop: 'sandbox_failed', failure: { reason }, reward: null, reason, score: null });
    expect(reply.trajectory.messages.map(({ role }) => role)).toEqual(['assistant']);
    expect(reply.num_turns).toBe(2);
  });

  it('of the generator before it said anything is a problem', async () => {
    const down = serversOf([new Response(null, { status: 503, headers: { 'retry-after': '7' } })]);
    const reply = await agent({ reference: '42' }, down);
    expect(reply.headers.get('retry-after')).toBe('7');
    await problemOf(reply, 503, 'generator_overloaded');
  });

  it('of the generator midway leaves what was said, and no reward', async () => {
    const broken = serversOf([[CALL], 'breaks off'], [ran('42\n')]);
    const reply = await trajectoryOf(await agent({ reference: '42' }, broken));
    expect(reply).toMatchObject({ stop: 'generator_failed', reward: null, num_turns: 3, score: null });
    expect(reply.failure?.reason).toBe(reply.reason);
    expect(reply.reason).toMatch(/^generator_/);
    expect(reply.trajectory.messages).toHaveLength(2);
  });

  it.each([
    ['deadline', 'deadline', () => serversOf([[CALL], 'nothing'], [ran('42\n')])],
    // A run has 70 s of the 90.
    ['sandbox_failed', 'sandbox_timeout', () => serversOf([[CALL]], ['nothing'])],
  ] as const)('is an end in time where nothing comes: %s', async (stop, reason, servers) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { model, sandbox } = servers();
      const asking = agent({ reference: '42' }, { model, sandbox });
      await vi.waitUntil(() => model.calls.length + sandbox.runs.length === (stop === 'deadline' ? 3 : 2), 20_000);
      await vi.advanceTimersByTimeAsync(90_000);
      const reply = await trajectoryOf(await asking);
      expect(reply).toMatchObject({ stop, reason, reward: null, score: null });
      expect([...model.calls, ...sandbox.runs].every(({ signal }) => signal.aborted)).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});

it('a caller who leaves before a reply that is not streamed stops the policy', async () => {
  const servers = serversOf(['nothing']);
  const leaving = new AbortController();
  const request = new Request(post('/v1/agent', ASKED), { signal: leaving.signal });
  const asking = sendTo(request, environmentOf(servers));
  await vi.waitUntil(() => servers.model.calls.length === 1, 20_000);
  leaving.abort();
  expect(await trajectoryOf(await asking)).toMatchObject({ stop: 'caller_gone', reason: 'not_asked' });
  expect(servers.model.calls[0]?.signal.aborted).toBe(true);
});

describe('events', () => {
  it('tell the trajectory as it happens, and end with the reply', async () => {
    const events = await new AgentEvents(await agent({ stream: true, reference: '42' }, SOLVED())).rest();
    expect(events.map(({ event }) => event)).toEqual([
      ...['start', 'turn', 'delta', 'tool_call', 'tool_result', 'turn_end'],
      ...['turn', 'delta', 'turn_end', 'done'],
    ]);
    const whole = await trajectoryOf(await agent({ reference: '42' }, SOLVED()));
    expect(events.at(-1)?.data).toEqual(whole);
    expect(events[3]?.data).toMatchObject({ turn: 1, name: 'code_interpreter', code: 'print(6 * 7)' });
    expect(events[4]?.data).toMatchObject({ turn: 1, content: '42\n' });
  });

  it('come before the next turn is begun', async () => {
    const { promise: output, resolve: finish } = Promise.withResolvers<Response>();
    const sandbox = new ScriptedSandbox(() => 'nothing');
    const slow = { ...SOLVED(), sandbox: Object.assign(sandbox, { fetch: () => output }) };
    const events = new AgentEvents(await agent({ stream: true }, slow));
    expect(await events.until('tool_call')).toMatchObject({ turn: 1 });
    expect(slow.model.calls).toHaveLength(1);
    finish(ran('42\n'));
    expect(await events.until('done')).toMatchObject({ stop: 'no_tool_call' });
  });

  it('end with a problem where there is no reply, and say so after the start', async () => {
    const down = serversOf([new Response(null, { status: 401 })]);
    const events = await new AgentEvents(await agent({ stream: true }, down)).rest();
    expect(events.map(({ event }) => event)).toEqual(['start', 'turn', 'error']);
    expect(problemSchema.parse(events.at(-1)?.data)).toMatchObject({ reason: 'generator_unauthorized' });
  });

  it('end the policy with their reader', async () => {
    const servers = serversOf([Array.from({ length: 100_000 }, () => 'word ')]);
    const events = new AgentEvents(await agent({ stream: true }, servers));
    await events.until('delta');
    await events.leave();
    await vi.waitUntil(() => servers.model.calls[0]?.signal.aborted === true, { timeout: 20_000 });
    expect(servers.model.calls[0]?.taken).toBeLessThan(20_000);
  });

  it('wait for a slow reader, and the policy with them', async () => {
    const servers = serversOf([Array.from({ length: 100_000 }, () => 'word '.repeat(10))]);
    const events = new AgentEvents(await agent({ stream: true, max_response_tokens: 131_072 }, servers));
    await events.until('delta');
    let taken = -1;
    await vi.waitUntil(
      () => {
        const before = taken;
        taken = servers.model.calls[0]?.taken ?? 0;
        return taken === before;
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(taken).toBeLessThan(20_000);
    await events.leave();
  });

  it('end a program with their reader', async () => {
    const servers = serversOf([[CALL]], ['nothing']);
    const events = new AgentEvents(await agent({ stream: true }, servers));
    await events.until('tool_call');
    await vi.waitUntil(() => servers.sandbox.runs.length === 1, 20_000);
    await events.leave();
    await vi.waitUntil(() => servers.sandbox.runs[0]?.signal.aborted === true, { timeout: 20_000 });
    expect(servers.model.calls).toHaveLength(1);
  });
});

describe('what is refused before anything is paid for', () => {
  const servers = SOLVED();

  it.each([
    ['no messages', { messages: [] }, ['messages']],
    [
      'a conversation that ends with the assistant',
      { messages: [...ASKED.messages, { role: 'assistant', content: 'a' }] },
      ['messages'],
    ],
    [
      'a late system message',
      { messages: [...ASKED.messages, { role: 'system', content: 'a' }, ...ASKED.messages] },
      ['messages[1].role'],
    ],
    ['another tool', { tools: ['web_search'] }, ['tools[0]']],
    ['an unknown field', { max_turn: 3 }, ['max_turn']],
    ['no turns', { max_turns: 0 }, ['max_turns']],
    ['a recipe without anything to score by', { recipe: 'grpo-tcr' }, ['recipe']],
    ['a recipe of another family', { recipe: 'refiner-gpt54-instance-rubric', reference: '42' }, ['recipe']],
    ['a reference and tests', { reference: '42', tests: [{ stdin: '', stdout: '' }] }, ['tests']],
    ['a prompt that is too long', { messages: [{ role: 'user', content: 'word '.repeat(2_000) }] }, ['messages']],
  ])('%s', async (_, fields, paths) => {
    expect(await wrongFields(await agent(fields, servers))).toEqual(paths);
  });

  it('a generator that nobody knows, or that has no room for the prompt', async () => {
    await problemOf(await agent({ generator: 'other' }, servers), 422, 'generator_unknown');
    const long = { messages: [{ role: 'user', content: 'word '.repeat(2_000) }], max_prompt_tokens: 100_000 };
    await problemOf(await agent(long, servers, { context_tokens: 2_048 }), 422, 'generator_prompt_too_long');
  });

  it('a deployment without a generator, or without a sandbox for the tool', async () => {
    await problemOf(await send(post('/v1/agent', ASKED)), 503, 'generator_unconfigured');
    const alone = await sendTo(post('/v1/agent', ASKED), servers.model.environment);
    await problemOf(alone, 503, 'sandbox_unconfigured');
    const toolless = new ModelServer(() => [ANSWER]);
    const reply = await sendTo(post('/v1/agent', { ...ASKED, tools: [] }), toolless.environment);
    expect(await trajectoryOf(reply)).toMatchObject({ stop: 'no_tool_call', num_turns: 2 });
  });

  it('a key without the scope', async () => {
    const keys = { scorer: { sha256: await sha256Hex('k'), scopes: ['score'] } };
    const locked = { ...environmentOf(servers), ALLOW_ANONYMOUS: 'false', API_KEYS: JSON.stringify(keys) };
    const reply = await sendTo(post('/v1/agent', ASKED, { authorization: 'Bearer k' }), locked);
    await problemOf(reply, 403, 'scope_missing');
    const writer = { writer: { sha256: await sha256Hex('k'), scopes: ['generate'] } };
    const rewarded = await sendTo(post('/v1/agent', { ...ASKED, reference: '42' }, { authorization: 'Bearer k' }), {
      ...locked,
      API_KEYS: JSON.stringify(writer),
    });
    expect((await problemOf(rewarded, 403, 'scope_missing')).detail).toMatch(/"reference".*"score"/);
    expect(env.ALLOW_ANONYMOUS).toBe('true');
  });

  it('and none of it reached a server', () => {
    expect([...servers.model.calls, ...servers.sandbox.runs]).toEqual([]);
  });
});
