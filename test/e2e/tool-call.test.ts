/** Tool-call rewards over HTTP, with real Python behind the sandbox's API and without a sandbox. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { type ScoreResponse, scoreResponseSchema } from '../../src/wire/score.ts';
import { INSTALL_MS, install } from './processes.ts';
import { SANDBOX_KEY, type SandboxServer, startSandbox } from './sandbox-server.ts';

let sandbox: SandboxServer;
let worker: LocalWorker;

beforeAll(async () => {
  await install('gpu-backend/sandbox/install-debian.sh');
  sandbox = await startSandbox();
  worker = await startLocalWorker({
    variables: {
      ALLOW_ANONYMOUS: 'true',
      BACKENDS: JSON.stringify({
        backends: [],
        default_judge: null,
        sandbox: { base_url: sandbox.url, api_key: SANDBOX_KEY, runtime: 'development', slots: 4 },
      }),
    },
    deadline_ms: 60_000,
  });
}, INSTALL_MS);

afterAll(async () => {
  await worker?.stop();
  await sandbox?.stop();
});

async function send(body: object): Promise<Response> {
  return fetch(`${worker.url}/v1/score`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ recipe: 'grpo-tcr', num_turns: 4, response_tokens: 800, ...body }),
  });
}

async function score(body: object): Promise<Extract<ScoreResponse, { family: 'tool-call' }>> {
  const reply = await send(body);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const parsed = scoreResponseSchema.parse(JSON.parse(text));
  if (parsed.family !== 'tool-call') throw new Error(parsed.family);
  return parsed;
}

const program = (code: string) => `My solution:\n\`\`\`python\n${code}\n\`\`\``;
const DOUBLES = [
  { stdin: '1', stdout: '2' },
  { stdin: '21', stdout: '42' },
];

describe('a program in a real sandbox', () => {
  it('earns its share of the tests, once: the verdicts are stored', async () => {
    const right = { response: program('print(int(input()) * 2)'), tests: DOUBLES };
    expect(await score(right)).toMatchObject({ reward: 1, observed: { code: { tests: ['passed', 'passed'] } } });
    expect((await score(right)).judgments).toMatchObject([{ kind: 'execution', cached: true, model: 'development' }]);
    const half = { response: program('print(2)'), tests: DOUBLES };
    expect(await score(half)).toMatchObject({ reward: 0.5, observed: { code: { tests: ['passed', 'wrong_output'] } } });
  });

  it('is told apart by how it fails', async () => {
    const outcomes = async (code: string, recipe: object = {}) =>
      (await score({ response: program(code), tests: [{ assert: 'assert f(2) == 4' }], ...recipe })).observed.code
        ?.tests;
    expect(await outcomes('def f(x): return x * 2')).toEqual(['passed']);
    expect(await outcomes('def f(x): return x')).toEqual(['wrong_output']);
    expect(await outcomes('def f(x) return x')).toEqual(['compile_error']);
    expect(await outcomes('def f(x): return 1 / 0')).toEqual(['runtime_error']);
    const hurried = { recipe: { base: 'grpo-tcr', time_limit_s: 0.5 } };
    expect(await outcomes('def f(x):\n    while True: pass', hurried)).toEqual(['time_limit']);
  });
});

describe('a boxed answer', () => {
  const symbolic = { recipe: { base: 'grpo-tcr', math_equivalence: 'symbolic' }, reference: '\\frac{1}{2}' };

  it('is compared as an expression where the recipe says so', async () => {
    expect((await score({ ...symbolic, response: 'It is \\boxed{\\sqrt{0.25}}.' })).reward).toBe(1);
    expect((await score({ ...symbolic, response: 'It is \\boxed{\\sqrt{0.36}}.' })).reward).toBeCloseTo(-0.9, 12);
  });

  it('has no number once the sandbox is gone, but for what is stored or needs only arithmetic', async () => {
    await sandbox.stop();
    const reply = await send({ ...symbolic, response: 'It is \\boxed{\\sqrt{0.49}}.' });
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ reason: 'sandbox_unreachable', retryable: true });
    const masked = await score({ ...symbolic, response: 'It is \\boxed{\\sqrt{0.64}}.', on_judge_failure: 'null' });
    expect(masked).toMatchObject({ reward: null, base: null, status: 'unscored' });
    expect((await score({ ...symbolic, response: 'It is \\boxed{\\sqrt{0.25}}.' })).reward).toBe(1);
    expect((await score({ ...symbolic, response: 'It is \\boxed{0.5}.' })).reward).toBe(1);
    expect((await score({ ...symbolic, response: 'It is \\boxed{0.6}.' })).reward).toBeCloseTo(-0.9, 12);
  });
});
