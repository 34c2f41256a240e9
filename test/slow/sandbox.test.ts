/**
 * The sandbox judge against the development sandbox: real programs, hostile ones included, real comparisons, and
 * servers that fail. A failure of the sandbox is typed and never a verdict; a failure of a program is an outcome.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicTransport, type Transport } from '../../lib/model-servers/calls/transport.ts';
import { sandboxBackend } from '../../service/backends/judge-backends.ts';
import type { SandboxClock, SandboxConfig } from '../../service/backends/sandbox/sandbox-client.ts';
import { MAX_RUN_ATTEMPTS as MAX_ATTEMPTS } from '../../service/backends/sandbox/sandbox-client.ts';
import { createSandboxJudge } from '../../service/backends/sandbox/sandbox-judge.ts';
import type { JudgeReply } from '../../src/judgments/judge.ts';
import type { ExecutionRequest, ProgramTest } from '../../src/judgments/kinds/execution/execution.ts';
import type { TestOutcome } from '../../src/judgments/kinds/execution/test-outcomes.ts';
import { templateOf } from '../../src/judgments/kinds/registry.ts';
import { SANDBOX_CANARY, SANDBOX_FAULTS, type SandboxFaultName } from '../contract/sandbox-faults.ts';
import { type SandboxStub, startSandboxStub } from '../contract/sandbox-stub.ts';
import { INSTALL_MS, install, root } from '../e2e/processes.ts';
import { SANDBOX_KEY, type SandboxServer, startSandbox } from '../e2e/sandbox-server.ts';

const DEADLINE_MS = 60_000;

let server: SandboxServer;
let stub: SandboxStub;

beforeAll(async () => {
  server = await startSandbox('--max-concurrent', '4');
  stub = await startSandboxStub();
});

afterAll(async () => {
  await Promise.all([server.stop(), stub.stop()]);
});

const config = (base_url: string, more: Partial<SandboxConfig> = {}): SandboxConfig => ({
  name: 'sandbox',
  base_url,
  vpc_binding: null,
  api_key: SANDBOX_KEY,
  access: null,
  runtime: 'python-test',
  slots: 2,
  ...more,
});

/** Waits for nothing. */
const clock: SandboxClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: () => Promise.resolve(),
  random: () => 0,
};

function judgeAt(url: string, transport: Transport = publicTransport) {
  return createSandboxJudge(config(url), transport, clock);
}

async function outcomesOf(program: string, tests: readonly ProgramTest[], limits: Partial<ExecutionRequest> = {}) {
  const request = {
    kind: 'execution',
    language: 'python',
    program,
    tests,
    time_limit_s: 10,
    memory_limit_mb: 512,
  } as const;
  const reply = await judgeAt(server.url).judge({ ...request, ...limits }, { deadline_ms: DEADLINE_MS });
  if (!reply.ok) throw new Error(`no verdicts: ${reply.failure.reason}: ${reply.failure.detail}`);
  if (reply.verdicts.kind !== 'execution') throw new Error(`verdicts of kind ${reply.verdicts.kind}`);
  return reply.verdicts.tests;
}

const prints = (stdin: string, stdout: string): ProgramTest => ({ stdin, stdout });
const asserts = (assert: string): ProgramTest => ({ assert });

describe('a program', () => {
  const DOUBLES = 'n = int(input())\nprint(2 * n)';
  const ADDS = 'def add(a, b):\n    return a + b\n';

  it.each<readonly [string, string, ProgramTest, TestOutcome]>([
    ['that prints what is expected', DOUBLES, prints('21\n', '42\n'), 'passed'],
    ['that leaves out the last newline', 'print(42, end="")', prints('', '42\n\n'), 'passed'],
    ['that prints what is not ASCII', 'print("ü€😀")', prints('', 'ü€😀'), 'passed'],
    ['that is longer than a pipe holds', `x = "${'y'.repeat(300_000)}"\nprint(len(x))`, prints('', '300000'), 'passed'],
    ['that reads much', 'import sys\nprint(len(sys.stdin.read()))', prints('z'.repeat(1_000_000), '1000000'), 'passed'],
    ['that runs as a script', 'if __name__ == "__main__":\n    print(1)', prints('', '1'), 'passed'],
    ['that leaves with status 0', 'print(1)\nexit()', prints('', '1'), 'passed'],
    ['that prints something else', DOUBLES, prints('21', '43'), 'wrong_output'],
    ['that prints a space more', 'print("42 ")', prints('', '42'), 'wrong_output'],
    ['that prints nothing', 'pass', prints('', '42'), 'wrong_output'],
    ['that prints without end', 'while True:\n    print("42" * 1000)', prints('', '42'), 'wrong_output'],
    ['that is no Python', 'def f(:\n', prints('', ''), 'compile_error'],
    ['with a zero byte', 'x = 1\0', prints('', ''), 'compile_error'],
    ['with half a surrogate', 'x = "\ud800"', prints('', ''), 'compile_error'],
    ['that is indented wrongly', '  x = 1\n y = 2', asserts('assert True'), 'compile_error'],
    ['that raises', 'print(42)\n1 / 0', prints('', '42'), 'runtime_error'],
    ['that leaves with status 1', 'print(42)\nexit(1)', prints('', '42'), 'runtime_error'],
    ['that crashes its interpreter', 'import ctypes\nctypes.string_at(0)', prints('', ''), 'runtime_error'],
    ['that never ends', 'while True:\n    pass', prints('', ''), 'time_limit'],
    ['that sleeps', 'import time\ntime.sleep(60)', asserts('assert True'), 'time_limit'],
    ['that wants all memory at once', 'x = bytearray(10 ** 10)', prints('', ''), 'memory_limit'],
    [
      'that takes memory bit by bit',
      'x = []\nwhile True:\n    x.append(bytes(10 ** 6))',
      prints('', ''),
      'memory_limit',
    ],
    ['whose function is right', ADDS, asserts('assert add(2, 2) == 4\nassert add(-1, 1) == 0'), 'passed'],
    ['whose function is wrong', ADDS, asserts('assert add(2, 2) == 5'), 'wrong_output'],
    ['that fails in a library of the test', ADDS, asserts(UNITTEST), 'wrong_output'],
    ['without the function', 'x = 1', asserts('assert add(2, 2) == 4'), 'runtime_error'],
    ['whose own assertion fails', 'def f():\n    assert False', asserts('assert f() == 4'), 'runtime_error'],
    ['whose function never ends', 'def f():\n    while True: pass', asserts('f()'), 'time_limit'],
    ['whose function takes all memory', 'def f():\n    return bytes(10 ** 10)', asserts('f()'), 'memory_limit'],
  ])('%s', async (_what, program, test, outcome) => {
    const limits = outcome === 'time_limit' ? { time_limit_s: 1 } : {};
    expect(await outcomesOf(program, [test], limits)).toEqual([outcome]);
  });

  it('has every test answered, in order', async () => {
    const tests = Array.from({ length: 9 }, (_, n) => prints(`${n}`, n % 3 === 0 ? 'no' : `${2 * n}`));
    expect(await outcomesOf(DOUBLES, tests)).toEqual(tests.map((_, n) => (n % 3 === 0 ? 'wrong_output' : 'passed')));
  });
});

const UNITTEST = 'import unittest\nunittest.TestCase().assertEqual(add(1, 1), 3)';

describe('a program that wants to pass without being right', () => {
  const FORGE = 'import os, sys\n';
  const MARKERS = [
    'passed',
    '{"event": "passed"}',
    `${'0'.repeat(32)} {"event": "passed"}`,
    'nonce {"event": "printed", "sha256": ""}',
  ];

  it.each<readonly [string, string, readonly TestOutcome[]]>([
    ['exits', 'import sys\nsys.exit(0)', ['runtime_error']],
    ['raises SystemExit', 'raise SystemExit', ['runtime_error']],
    ['exits at once', 'import os\nos._exit(0)', ['runtime_error']],
    ['exits in the function', 'import os\ndef f():\n    os._exit(0)', ['runtime_error']],
    ['raises SystemExit in the function', 'def f():\n    raise SystemExit(0)', ['runtime_error']],
    ['replaces exec', 'import builtins\nbuiltins.exec = lambda *a: None\ndef f(): return 1', ['wrong_output']],
    ['replaces compile', 'import builtins\nbuiltins.compile = lambda *a: "1"\ndef f(): return 1', ['wrong_output']],
    ['traces', 'import sys\nsys.settrace(lambda *a: None)\ndef f(): return 1', ['wrong_output']],
    ['ends the harness', 'import os\nos.kill(os.getppid(), 9)', ['runtime_error']],
    ['ends its group', 'import os\nos.killpg(0, 9)', ['memory_limit']],
    ['has a child go on', 'import os\nif os.fork(): os._exit(0)\ndef f(): return 1', ['runtime_error', 'wrong_output']],
    [
      'prints markers',
      `print(${JSON.stringify(MARKERS.join('\n'))}, flush=True)\nimport os\nos._exit(0)`,
      ['runtime_error'],
    ],
    [
      'writes markers into everything open',
      `${FORGE}for n in range(64):\n    try: os.write(n, ${JSON.stringify(`\n${MARKERS.join('\n')}\nloaded\n`)}.encode())\n    except OSError: pass\nos._exit(0)`,
      ['runtime_error'],
    ],
    [
      'rewrites the files beside it',
      `${FORGE}for name in os.listdir('.'):\n    open(name, 'w').write('print("passed")')\nos._exit(0)`,
      ['runtime_error'],
    ],
  ])('%s', async (_what, program, outcomes) => {
    const [outcome] = await outcomesOf(program, [asserts('assert f() == 42')], { time_limit_s: 5 });
    expect(outcomes).toContain(outcome);
  });

  it('cannot open the harness, which alone holds the nonce', async () => {
    const program = [
      'import os',
      "for name in ('mem', 'environ', 'fd/1'):",
      "    try: open(f'/proc/{os.getppid()}/{name}', 'rb').close(); print('open')",
      "    except OSError: print('closed')",
      "print(open(f'/proc/{os.getppid()}/cmdline').read().count('nonce'))",
    ].join('\n');
    expect(await outcomesOf(program, [prints('', 'closed\nclosed\nclosed\n0')])).toEqual(['passed']);
  });

  it('does not find the test before it has run to its end', async () => {
    const program = [
      'import sys',
      // Put together when it is looked for, or it would find itself.
      "found = lambda text: ''.join(reversed('TSETNI')) in text",
      'seen, frame = False, sys._getframe()',
      'while frame is not None:',
      '    seen = seen or found(repr((frame.f_locals, frame.f_code.co_consts)))',
      '    frame = frame.f_back',
      "for name in ('cmdline', 'environ'):",
      "    seen = seen or found(open('/proc/self/' + name).read())",
      'def f(): return 41 if seen else 42',
    ].join('\n');
    expect(await outcomesOf(program, [asserts('"INTEST"\nassert f() == 42')])).toEqual(['passed']);
  });
});

describe('a program that wants to harm its surroundings', () => {
  it('by forking without end is bounded, and leaves nothing behind', async () => {
    const bomb = 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass';
    const fork = 'import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\nprint(42)';
    expect(await outcomesOf(bomb, [prints('', '')], { time_limit_s: 1 })).toEqual(['time_limit']);
    const tests = Array.from({ length: 6 }, () => prints('', '42'));
    expect(new Set(await outcomesOf(fork, tests))).toEqual(new Set(['passed']));
    expect(await outcomesOf('print(42)', tests)).toEqual(tests.map(() => 'passed'));
  });
});

describe('two answers', () => {
  // They are compared by SymPy, inside the sandbox.
  beforeAll(() => install('gpu-backend/sandbox/install-debian.sh'), INSTALL_MS);

  async function compare(reference: string, answer: string): Promise<boolean | string> {
    const request = { kind: 'equivalence', answer, reference } as const;
    const reply = await judgeAt(server.url).judge(request, { deadline_ms: DEADLINE_MS });
    if (!reply.ok) return reply.failure.reason;
    return reply.verdicts.kind === 'equivalence' && reply.verdicts.equivalent;
  }

  it.concurrent.each(titled(EQUAL, '='))('$title', async ({ reference, answer }) => {
    expect(await compare(reference, answer)).toBe(true);
  });

  it.concurrent.each(titled(DIFFERENT, 'is not'))('$title', async ({ reference, answer }) => {
    expect(await compare(reference, answer)).toBe(false);
  });

  it.each([
    ['words', 'the number of apples'],
    ['nothing', ''],
    ['a program', "__import__('os').system('id')"],
    ['no number', '\\frac{1}{0}'],
    ['too deep', '('.repeat(500)],
  ])('whose reference is %s are undecided, whatever the answer is', async (_what, reference) => {
    expect(await compare(reference, '5')).toBe('equivalence_undecided');
    expect(await compare(reference, reference)).toBe('equivalence_undecided');
  });

  it('run nothing that stands in them', async () => {
    const marker = join(tmpdir(), `citeward-${randomUUID()}`);
    for (const text of [`__import__('os').system('touch ${marker}')`, `\\text{${marker}}`, `open("${marker}","w")`]) {
      expect(await compare('5', text)).toBe(false);
    }
    expect(existsSync(marker)).toBe(false);
  });
});

/** Rows with a name of a bearable length. */
function titled(rows: readonly (readonly [string, string])[], relation: string) {
  return rows.map(([reference, answer]) => ({
    reference,
    answer,
    title: `${reference} ${relation} ${answer}`.slice(0, 100).toWellFormed(),
  }));
}

const EQUAL = [
  ['\\frac{1}{2}', '0.5'],
  ['\\frac12', '1/2'],
  ['2\\sqrt{3}', '\\sqrt{12}'],
  ['x+1', '1+x'],
  ['(1,2)', '(1, 2)'],
  ['50\\%', '\\frac{1}{2}'],
  ['x=5', '5'],
  ['5', 'x = 5'],
  ['f(x)=x^2', 'x*x'],
  ['\\{1,2\\}', '2, 1'],
  ['x=1 \\text{ or } x=2', 'x=2, x=1'],
  ['1\\pm\\sqrt{2}', '1-\\sqrt2, 1+\\sqrt2'],
  ['(-\\infty,1]\\cup[2,\\infty)', '[2,\\infty) \\cup (-\\infty, 1]'],
  ['1,234', '1234'],
  ['10\\,000', '10^4'],
  ['\\pi r^2', 'r*r*pi'],
  ['\\sin(2x)', '2\\sin x\\cos x'],
  ['e^{i\\pi}', '-1'],
  ['\\log_2 8', '3'],
  ['\\binom{5}{2}', '5!/12'],
  ['\\sqrt{x^2}', '|x|'],
  ['90^\\circ', '90'],
  ['5\\text{ cm}', '5'],
  ['\\boxed{42}', '$42$'],
  ['2\\frac{1}{2}', '5/2'],
  ['y=2x+3', '2x-y+3=0'],
  ['x<3', '3>x'],
  ['\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}', '\\begin{pmatrix} 1 & 2 \\\\ 3 & 2^2 \\end{pmatrix}'],
  ['\\cos\\frac{\\pi}{7}-\\cos\\frac{2\\pi}{7}+\\cos\\frac{3\\pi}{7}', '\\frac12'],
  ['5', '-'.repeat(100) + 5],
] as const;

const DIFFERENT = [
  ['\\frac{1}{2}', '0.51'],
  ['1/3', '0.333333333'],
  ['\\sqrt{2}', '1.41421356237309504880168872420969807856967187537694807317667973799073'],
  ['50\\%', '50'],
  ['(1,2)', '(2,1)'],
  ['[1,2)', '(1,2)'],
  ['\\{1,2\\}', '1'],
  ['x=5', 'y=5'],
  ['x<3', 'x\\le 3'],
  ['x+1', 'x+2'],
  ['5', ''],
  ['5', 'five'],
  ['5', '5 5'],
  ['5', '1/0'],
  ['5', 'eval("5")'],
  ['5', '\\input{/etc/passwd}'],
  ['5', '\ud800'],
  ['5', '('.repeat(900) + 5 + ')'.repeat(900)],
  ['5', '9^{9^{9^9}}'],
  ['5', '5'.repeat(100_000)],
  // Answers that would leave the comparison undecided: poles at points that anybody knows, and no finite value at all.
  ['x', polesAt('\\frac{101}{97}')],
  ['x', '\\frac{1}{\\sin^2 x+\\cos^2 x-1}'],
  ['3', '\\frac{1}{\\sin^2 1+\\cos^2 1-1}'],
  ['1,2', [...Array(60).keys()].join(', ')],
] as const;

/** Twenty terms, each with poles at plus and minus a point, whose sum no simplification gets to the end of. */
function polesAt(point: string): string {
  const terms = Array.from({ length: 20 }, (_, n) => `\\tan(x^{${n + 1}})^7\\sin(\\cos(${n + 1}x))`);
  return terms.map((term) => `\\frac{${term}}{x^2-(${point})^2}`).join('+');
}

describe('a sandbox that fails', () => {
  const REQUEST: ExecutionRequest = {
    kind: 'execution',
    language: 'python',
    program: `print("${SANDBOX_CANARY}")`,
    tests: Array.from({ length: 8 }, () => prints('', SANDBOX_CANARY)),
    time_limit_s: 1,
    memory_limit_mb: 64,
  };
  const EQUIVALENCE = { kind: 'equivalence', answer: SANDBOX_CANARY, reference: '1' } as const;
  const names = Object.keys(SANDBOX_FAULTS).filter((name): name is SandboxFaultName => name in SANDBOX_FAULTS);

  function failureOf(reply: JudgeReply) {
    expect(reply.ok).toBe(false);
    if (reply.ok) throw new Error('a verdict');
    expect(JSON.stringify(reply)).not.toContain(SANDBOX_CANARY);
    return reply.failure;
  }

  it.concurrent.each(names)('%s', async (name) => {
    const { reason, retryable, ...more } = SANDBOX_FAULTS[name];
    const deadline_ms = reason === 'sandbox_timeout' && /silent|stalls/u.test(name) ? 1_000 : 20_000;
    const judge = judgeAt(`${stub.url}/${name}`);
    for (const request of [REQUEST, EQUIVALENCE]) {
      const failure = failureOf(await judge.judge(request, { deadline_ms }));
      expect(failure).toMatchObject({ reason, retryable, ...more });
    }
  });

  it('is asked again a few times where that may help, and once where it cannot', async () => {
    const { reply, calls } = await counted('http_500');
    expect(failureOf(reply).reason).toBe('sandbox_error');
    expect(calls).toBe(MAX_ATTEMPTS);
    expect((await counted('http_401')).calls).toBe(1);
    // Longer than the deadline leaves.
    expect((await counted('http_429_seconds', 10_000)).calls).toBe(1);
  });

  async function counted(name: SandboxFaultName, deadline_ms = 60_000) {
    const before = stub.calls(name);
    const reply = await judgeAt(`${stub.url}/${name}`).judge(EQUIVALENCE, { deadline_ms });
    return { reply, calls: stub.calls(name) - before };
  }

  it('for a moment only is a verdict after all', async () => {
    let calls = 0;
    const transport: Transport = async (url, init) => {
      calls++;
      if (calls === 1) return new Response(null, { status: 503 });
      if (calls === 2) throw new TypeError('reset');
      return publicTransport(url, init);
    };
    const reply = await judgeAt(server.url, transport).judge(
      { kind: 'equivalence', answer: '2', reference: '1+1' },
      { deadline_ms: DEADLINE_MS },
    );
    expect(reply).toEqual({ ok: true, verdicts: { kind: 'equivalence', equivalent: true }, usage: null });
  });

  it('in one test of many is no verdict on any', async () => {
    let calls = 0;
    const transport: Transport = async (url, init) => {
      calls++;
      return calls === 6 ? new Response(null, { status: 401 }) : publicTransport(url, init);
    };
    const reply = await judgeAt(server.url, transport).judge(REQUEST, { deadline_ms: DEADLINE_MS });
    expect(failureOf(reply).reason).toBe('sandbox_unauthorized');
  });

  it('listens nowhere, or wants another key', async () => {
    const closed = await startSandboxStub();
    await closed.stop();
    const deadline = { deadline_ms: 5_000 };
    expect(failureOf(await judgeAt(closed.url).judge(EQUIVALENCE, deadline)).reason).toBe('sandbox_unreachable');
    const keyless = createSandboxJudge(config(server.url, { api_key: null }), publicTransport, clock);
    expect(failureOf(await keyless.judge(EQUIVALENCE, deadline)).reason).toBe('sandbox_unauthorized');
  });

  it('is stopped at the deadline', async () => {
    const slow = { ...REQUEST, program: 'import time\ntime.sleep(30)', time_limit_s: 30 };
    const failure = failureOf(await judgeAt(server.url).judge(slow, { deadline_ms: 1_500 }));
    expect(failure.reason).toBe('sandbox_timeout');
  });

  it('does not judge a test that is no Python', async () => {
    const broken = { ...REQUEST, tests: [asserts('assert (')] };
    const failure = failureOf(await judgeAt(server.url).judge(broken, { deadline_ms: DEADLINE_MS }));
    expect(failure).toMatchObject({ reason: 'sandbox_error', retryable: false });
  });
});

describe('the backend', () => {
  const at = (url: string) => sandboxBackend(config(url), () => undefined);

  it('says what its verdicts are pinned to, and refuses what is not for it', async () => {
    const { judge, runs_in, slots } = at(server.url);
    expect({ runs_in, slots, context: judge.context_tokens }).toEqual({ runs_in: 'desk', slots: 2, context: null });
    for (const kind of ['execution', 'equivalence'] as const) {
      expect(judge.identityFor(kind)).toEqual({ model: 'python-test', template: templateOf(kind), sampling: null });
    }
    const outcome = { kind: 'outcome', question: 'q', reference: 'r', answer: 'a' } as const;
    await expect(judge.judge(outcome, { deadline_ms: 1_000 })).rejects.toThrow('a sandbox cannot answer outcome');
  });

  it('finds the sandbox behind the proxy, which shows its ping as /health', async () => {
    const proxy = {
      fetch: async (url: string) =>
        url.endsWith('/health') ? new Response('"pong"') : new Response('{"error":"not served here"}', { status: 404 }),
    };
    const behind = sandboxBackend(config('http://proxy', { vpc_binding: 'GPU' }), () => proxy);
    expect(await behind.health()).toMatchObject({ reachable: true, last_error: null });
  });

  it('knows how the sandbox is', async () => {
    expect(await at(server.url).health()).toEqual({
      reachable: true,
      model_present: null,
      last_error: null,
      routes: [],
    });
    for (const name of ['http_503', 'html_login', 'reset_in_reply', 'endless'] as const) {
      expect(await at(`${stub.url}/${name}`).health()).toMatchObject({
        reachable: false,
        last_error: name === 'endless' ? 'sandbox_reply_invalid' : SANDBOX_FAULTS[name].reason,
      });
    }
  });
});

describe('the development sandbox', () => {
  const run = (body: unknown, headers: Record<string, string> = { authorization: `Bearer ${SANDBOX_KEY}` }) =>
    fetch(`${server.url}/run_code`, { method: 'POST', headers, body: JSON.stringify(body) });

  it('answers as SandboxFusion does', async () => {
    const program =
      'import sys\nprint(open("in.txt").read() + input())\nopen("out.txt", "w").write("out")\nsys.exit(3)';
    const body = { code: program, language: 'python', stdin: 'typed', files: { 'in.txt': btoa('in') } };
    const reply = await run({ ...body, fetch_files: ['out.txt', 'absent.txt'] });
    expect(await reply.json()).toEqual({
      status: 'Failed',
      message: '',
      compile_result: null,
      run_result: {
        status: 'Finished',
        execution_time: expect.any(Number),
        return_code: 3,
        stdout: 'intyped\n',
        stderr: '',
      },
      executor_pod_name: null,
      files: { 'out.txt': btoa('out') },
    });
    const slow = await run({ code: 'print(1, flush=True)\nwhile True: pass', language: 'python', run_timeout: 1 });
    expect(await slow.json()).toMatchObject({
      status: 'Failed',
      run_result: { status: 'TimeLimitExceeded', return_code: null, stdout: '1\n' },
    });
    expect(await (await run({ code: '1', language: 'cpp' })).json()).toMatchObject({
      status: 'SandboxError',
      run_result: null,
    });
    expect(await (await fetch(`${server.url}/v1/ping`)).json()).toBe('pong');
  });

  it('refuses what it does not know, and files outside the run', async () => {
    for (const body of [{}, { code: 1, language: 'python' }, { code: '1', language: 'cobol' }, [], null]) {
      expect((await run(body)).status).toBe(422);
    }
    expect((await run({ code: '1', language: 'python' }, {})).status).toBe(401);
    for (const path of ['../up.txt', '/etc/citeward-was-here']) {
      const reply = await run({ code: '1', language: 'python', files: { [path]: btoa('x') } });
      expect(await reply.json()).toMatchObject({ status: 'SandboxError', run_result: null });
    }
    for (const name of ['a\0b', '\ud800', '../up.txt']) {
      const content = await run({ code: '1', language: 'python', files: { [name]: btoa('x') } });
      expect(await content.json()).toMatchObject({ status: 'SandboxError', run_result: null });
      const fetched = await run({ code: '1', language: 'python', fetch_files: [name] });
      expect(await fetched.json()).toMatchObject({ status: 'SandboxError', run_result: null });
    }
  });

  it.each([
    ['lays links out of its directory', 'import os\nos.symlink("/etc/hostname", "out.txt")'],
    ['lays a link to itself', 'import os\nos.symlink("out.txt", "out.txt")'],
    ['makes its files unreadable', 'import os\nopen("out.txt", "w").close()\nos.chmod("out.txt", 0)\nos.chmod(".", 0)'],
    ['leaves names that are no text', 'open(b"\\xff\\xed\\xa0\\x80", "w").close()'],
    ['leaves deep directories', 'import os\nfor _ in range(5000):\n    os.mkdir("d")\n    os.chdir("d")'],
  ])('answers whatever a program leaves behind: one that %s', async (_what, code) => {
    const reply = await run({ code, language: 'python', fetch_files: ['out.txt'] });
    expect(await reply.json()).toMatchObject({ status: 'Success', run_result: { return_code: 0 } });
  });

  it('gives a program nothing of its own environment', async () => {
    const reply = await run({ code: 'import os\nprint(sorted(os.environ))', language: 'python' });
    expect(await reply.json()).toMatchObject({ run_result: { stdout: "['HOME', 'LANG', 'PATH', 'TMPDIR']\n" } });
  });

  it('says in its help and when it starts that it is no security boundary', () => {
    const help = spawnSync('python3', [resolve(root, 'gpu-backend/sandbox/server.py'), '--help'], { encoding: 'utf8' });
    expect(help.status).toBe(0);
    expect(help.stdout.replace(/\s+/gu, ' ')).toContain('no security boundary');
  });
});
