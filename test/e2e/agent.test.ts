/**
 * The tool agent with real Python behind the sandbox's API: over HTTP, by the command line, and after its caller
 * disconnects.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../clients/typescript/client.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import type { AgentResponse } from '../../src/wire/agent-reply.ts';
import { citeward, jsonLines, runCiteward } from './processes.ts';
import { SANDBOX_KEY, type SandboxServer, startSandbox } from './sandbox-server.ts';
import { SCRIPTED_MODEL, type ScriptedModel, type ScriptedTurn, startScriptedModel } from './scripted-model.ts';

const call = (code: string): string =>
  `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`;

const PRIMES = 'Which primes p have p^2 + 2 prime as well?';
const SEARCH = [
  'def is_prime(n):',
  '    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))',
  '[p for p in range(10000) if is_prime(p) and is_prime(p * p + 2)]',
].join('\n');

const TURNS: Readonly<Record<string, readonly ScriptedTurn[]>> = {
  [PRIMES]: [
    `Let me search for them.\n${call(SEARCH)}`,
    'There is one among the first ten thousand numbers, so the answer is \\boxed{3}.',
  ],
  errors: [call('1 / 0'), call('import time\nprint(time.sleep(9))'), call('print("x" * 300)'), 'I give up.'],
  program: ['```python\nprint(int(input()) * 2)\n```'],
  endless: [{ endless: 'and on ' }],
};

let sandbox: SandboxServer;
let model: ScriptedModel;
let worker: LocalWorker;

beforeAll(async () => {
  sandbox = await startSandbox();
  model = await startScriptedModel((question) => TURNS[question] ?? []);
  worker = await startLocalWorker({
    variables: {
      ALLOW_ANONYMOUS: 'true',
      BACKENDS: backendsText(),
    },
    deadline_ms: 60_000,
  });
});

afterAll(async () => {
  await Promise.all([worker?.stop(), sandbox?.stop(), model?.stop()]);
});

function backendsText(): string {
  return JSON.stringify({
    backends: [
      {
        ...{ name: 'policy', role: 'generate', kind: 'vllm', model: SCRIPTED_MODEL, base_url: model.url },
        ...{ slots: 4, context_tokens: 32_768 },
      },
    ],
    default_judge: null,
    default_generator: 'policy',
    sandbox: { base_url: sandbox.url, api_key: SANDBOX_KEY, runtime: 'development', slots: 4 },
  });
}

async function agent(question: string, fields: object = {}): Promise<AgentResponse> {
  const client = createClient({ url: new URL(worker.url), key: null });
  const reply = await client.agent({ messages: [{ role: 'user', content: question }], ...fields });
  if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
  return reply.body;
}

describe('a trajectory', () => {
  it('runs real Python, shows the policy what it printed, and earns its reward', async () => {
    const reply = await agent(PRIMES, { reference: '3', recipe: 'grpo-tcr' });
    expect(reply).toMatchObject({
      ...{ stop: 'no_tool_call', num_turns: 4, token_counts: 'server', reward: 1, model: SCRIPTED_MODEL },
      trajectory: { messages: [{}, { role: 'tool', content: '[3]\n', outcome: 'finished' }, {}] },
    });
    expect(model.asked.at(-1)?.at(-1)).toEqual({
      role: 'user',
      content: '<tool_response>\n[3]\n\n</tool_response>',
    });
    const wrong = await agent(PRIMES, { reference: '5', recipe: 'grpo-tcr' });
    expect(wrong.reward).toBeCloseTo(-0.9, 12);
  });

  it("shows a program's error, its time limit and the middle cut out of its output", async () => {
    const { trajectory, stop } = await agent('errors', { tool_time_limit_s: 1 });
    const results = trajectory.messages.filter(({ role }) => role === 'tool');
    expect(results).toMatchObject([
      { outcome: 'failed', content: expect.stringContaining('ZeroDivisionError') },
      { outcome: 'time_limit', content: 'no stdout here' },
      { outcome: 'finished', raw_chars: 301, truncated: true },
    ]);
    expect(results[2]?.content).toBe(`${'x'.repeat(128)}...(truncated)...${'x'.repeat(127)}\n`);
    expect(stop).toBe('no_tool_call');
  });

  it('of a program is scored by its tests in the same sandbox', async () => {
    const tests = [
      { stdin: '1', stdout: '2' },
      { stdin: '2', stdout: '5' },
    ];
    expect(await agent('program', { tests })).toMatchObject({ reward: 0.5, num_turns: 2 });
  });
});

it('a caller who leaves stops the policy', async () => {
  const leaving = new AbortController();
  const [begun, left] = [model.asked.length, model.left()];
  const asking = fetch(`${worker.url}/v1/agent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'endless' }], stream: true }),
    signal: leaving.signal,
  });
  asking.catch(() => undefined);
  for (let waited = 0; model.asked.length === begun && waited < 100; waited++) await pause(100);
  leaving.abort();
  for (let waited = 0; model.left() === left && waited < 100; waited++) await pause(100);
  expect([model.asked.length, model.left()]).toEqual([begun + 1, left + 1]);
});

describe('citeward agent', () => {
  it('shows turns, programs and their output as they come', async () => {
    const { code, stdout, stderr } = await citeward(
      ...['agent', '--question', PRIMES, '--reference', '3', '--recipe', 'grpo-tcr', '--url', worker.url],
    );
    expect(stdout.split('\n')).toEqual([
      PRIMES,
      '  turn 1',
      '    Let me search for them.',
      '  > code_interpreter',
      '  | def is_prime(n):',
      '  |     return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))',
      '  | print([p for p in range(10000) if is_prime(p) and is_prime(p * p + 2)])',
      '  < finished · 4 characters',
      '  | [3]',
      '  turn 2',
      '    There is one among the first ten thousand numbers, so the answer is \\boxed{3}.',
      expect.stringMatching(
        /^ {2}= no_tool_call · 2 turns, num_turns 4 · \d+ tokens · reward 1\.00 \(outcome 1\.00, tool_calls 0\.00, overlong -?0\.00\)$/u,
      ),
      '',
    ]);
    expect(stderr).toMatch(/^1 trajectory · 2 turns · 1 program · mean reward 1\.000 · /u);
    expect(stderr).toContain(`policy ${SCRIPTED_MODEL} · recipe grpo-tcr`);
    expect(code).toBe(0);
  });

  it('runs here with --backends, without a Worker', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'citeward-agent-'));
    const backends = join(directory, 'backends.json');
    await writeFile(backends, backendsText());
    const flags = ['--reference', '3', '--recipe', 'grpo-tcr', '--json', '--backends', backends];
    const ended = await citeward('agent', '--question', PRIMES, ...flags);
    await rm(directory, { recursive: true });
    expect(ended.code, ended.stderr).toBe(0);
    expect(jsonLines(ended.stdout)).toMatchObject([{ stop: 'no_tool_call', reward: 1, model: SCRIPTED_MODEL }]);
  });

  it('needs a Worker, or backends', async () => {
    const ended = await citeward('agent', '--question', 'x');
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a Worker: --url URL') });
  });
});

describe('without its sandbox', () => {
  const tests = [{ stdin: '1', stdout: '2' }];

  beforeAll(() => sandbox.stop());

  it('a trajectory ends where it calls, and has no reward', async () => {
    expect(await agent(PRIMES, { reference: '3' })).toMatchObject({
      ...{ stop: 'sandbox_failed', failure: { reason: 'sandbox_unreachable', retryable: true } },
      ...{ reward: null, reason: 'sandbox_unreachable', score: null, num_turns: 2 },
    });
  });

  it('a program is whole, and only its reward is lost', async () => {
    expect(await agent('program', { tests })).toMatchObject({
      ...{ stop: 'no_tool_call', failure: null, reward: null, reason: 'sandbox_unreachable' },
    });
  });

  it('rows say so one by one, and the exit code in all', async () => {
    const rows = [
      { id: 'a', question: PRIMES, reference: '3', response: 'an old one', num_turns: 2 },
      { id: 'b', messages: [] },
      { id: 'c', question: 'program', note: 'nothing to score by' },
    ];
    const ran = await runCiteward({
      args: ['agent', '-', '--json', '--url', worker.url],
      stdin: rows.map((row) => `${JSON.stringify(row)}\n`),
    });
    expect(jsonLines(ran.stdout)).toMatchObject([
      { line: 1, id: 'a', reward: null, reason: 'sandbox_unreachable' },
      { line: 3, id: 'c', stop: 'no_tool_call', reward: null, reason: 'not_asked' },
    ]);
    expect(ran.stderr).toContain('line 2: messages: ');
    expect(ran.stderr).toContain('1 sandbox_unreachable');
    expect(ran.code).toBe(1);
  });
});
