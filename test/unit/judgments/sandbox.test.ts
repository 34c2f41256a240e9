/** Reads sandbox replies: a verdict comes only from lines with the nonce, and a fault is never a verdict. */
import { describe, expect, it } from 'vitest';
import { equivalenceRun, readEquivalence } from '../../../src/judgments/kinds/equivalence/equivalence.ts';
import type { ExecutionRequest, ProgramTest } from '../../../src/judgments/kinds/execution/execution.ts';
import { readTest, testRun } from '../../../src/judgments/kinds/execution/execution.ts';
import { type CodeRunReply, runReplySchema } from '../../../src/judgments/sandbox/run-code.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
/** SHA-256 of `42`. */
const OF_42 = '73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049';
const PRINTS: ProgramTest = { stdin: '', stdout: '42\n' };
const ASSERTS: ProgramTest = { assert: 'assert f() == 42' };
const REQUEST: ExecutionRequest = {
  kind: 'execution',
  language: 'python',
  program: 'print("PROGRAM")',
  tests: [PRINTS],
  time_limit_s: 3,
  memory_limit_mb: 64,
};

type Ran = Partial<NonNullable<CodeRunReply['run_result']>>;

function replied(stdout: string, ran: Ran = {}, status: CodeRunReply['status'] = 'Success'): CodeRunReply {
  return { status, run_result: { status: 'Finished', return_code: 0, stdout, ...ran } };
}

const line = (event: object, nonce = NONCE): string => `\n${nonce} ${JSON.stringify(event)}\n`;
const running = line({ event: 'running' });
const printed = (sha256: string): string => running + line({ event: 'printed', sha256 });

describe('the outcome of a test', () => {
  it.each([
    ['what it prints is what is expected', PRINTS, replied(printed(OF_42)), 'passed'],
    ['it prints something else', PRINTS, replied(printed(OF_42.replace('7', '8'))), 'wrong_output'],
    ['the assertions held', ASSERTS, replied(running + line({ event: 'passed' })), 'passed'],
    ['an assertion failed', ASSERTS, replied(running + line({ event: 'wrong_output' })), 'wrong_output'],
    ['it does not compile', PRINTS, replied(running + line({ event: 'compile_error' })), 'compile_error'],
    ['it raises', PRINTS, replied(running + line({ event: 'runtime_error' })), 'runtime_error'],
    ['it runs out of time', PRINTS, replied(running + line({ event: 'time_limit' })), 'time_limit'],
    ['it runs out of memory', PRINTS, replied(running + line({ event: 'memory_limit' })), 'memory_limit'],
    ['it killed the harness', ASSERTS, replied(running, { return_code: -9 }, 'Failed'), 'runtime_error'],
    ['it held the harness', ASSERTS, replied(running, { status: 'TimeLimitExceeded' }, 'Failed'), 'time_limit'],
    [
      'a line under another nonce',
      ASSERTS,
      replied(running + line({ event: 'passed' }, 'f'.repeat(32))),
      'runtime_error',
    ],
    ['the nonce inside a line', ASSERTS, replied(`${running}x${NONCE} {"event":"passed"}\n`), 'runtime_error'],
  ] as const)('%s', async (_what, test, reply, outcome) => {
    expect(await readTest(test, reply, NONCE)).toEqual({ ok: true, value: outcome });
  });

  it.each([
    ['the sandbox says that it failed', PRINTS, replied(printed(OF_42), {}, 'SandboxError'), 'sandbox_failed'],
    ['the run had an error', PRINTS, replied(printed(OF_42), { status: 'Error' }, 'Failed'), 'sandbox_failed'],
    ['nothing was run', PRINTS, { status: 'Success', run_result: null }, 'reply_malformed'],
    ['nothing was printed', PRINTS, replied(''), 'not_started'],
    ['no standard output', PRINTS, replied('', { stdout: null }), 'not_started'],
    ['only the program spoke', PRINTS, replied('42\n'), 'not_started'],
    ['Python did not start in time', PRINTS, replied('', { status: 'TimeLimitExceeded' }, 'Failed'), 'start_slow'],
    ['the harness gave up', PRINTS, replied(line({ event: 'not_started' })), 'not_started'],
    ['the test is no Python', ASSERTS, replied(line({ event: 'test_not_python' })), 'test_not_python'],
    ['a verdict without a start', ASSERTS, replied(line({ event: 'passed' })), 'reply_malformed'],
    [
      'two verdicts',
      ASSERTS,
      replied(running + line({ event: 'passed' }) + line({ event: 'passed' })),
      'reply_malformed',
    ],
    ['an event that is none', ASSERTS, replied(running + line({ event: 'excellent' })), 'reply_malformed'],
    ['a line that is no JSON', ASSERTS, replied(`${running}${NONCE} {"event":\n`), 'reply_malformed'],
    ['output where a test asserts', ASSERTS, replied(printed(OF_42)), 'reply_malformed'],
    ['a second start', ASSERTS, replied(running + running), 'reply_malformed'],
  ] as const)('is none: %s', async (_what, test, reply, fault) => {
    expect(await readTest(test, reply, NONCE)).toEqual({ ok: false, error: fault });
  });

  it('ignores newlines at the end of the expected output', async () => {
    for (const stdout of ['42', '42\n', '42\n\n\n']) {
      expect(await readTest({ stdin: '', stdout }, replied(printed(OF_42)), NONCE)).toMatchObject({ value: 'passed' });
    }
    for (const stdout of ['42 ', ' 42', '\n42', '42\r\n', '']) {
      expect(await readTest({ stdin: '', stdout }, replied(printed(OF_42)), NONCE)).toMatchObject({
        value: 'wrong_output',
      });
    }
  });
});

describe('the verdict on two answers', () => {
  it.each([
    [replied(line({ event: 'equal' })), { ok: true, value: true }],
    [replied(line({ event: 'different' })), { ok: true, value: false }],
    [replied(line({ event: 'reference_unread' })), { ok: false, error: 'reference_unread' }],
    [replied(line({ event: 'comparison_open' })), { ok: false, error: 'comparison_open' }],
    [replied(line({ event: 'library_missing' })), { ok: false, error: 'library_missing' }],
    [replied(line({ event: 'equal' }) + line({ event: 'equal' })), { ok: false, error: 'reply_malformed' }],
    [replied(line({ event: 'maybe' })), { ok: false, error: 'reply_malformed' }],
    [replied(line({ event: 'equal' }, 'f'.repeat(32))), { ok: false, error: 'not_started' }],
    [replied('', { status: 'TimeLimitExceeded' }, 'Failed'), { ok: false, error: 'start_slow' }],
    [replied(line({ event: 'equal' }), {}, 'SandboxError'), { ok: false, error: 'sandbox_failed' }],
    [runReplySchema.parse({ status: 'Failed' }), { ok: false, error: 'reply_malformed' }],
  ])('%j', (reply, reading) => expect(readEquivalence(reply, NONCE)).toEqual(reading));
});

describe('the request to the sandbox', () => {
  it('has texts and nonce as data only, and never the expected output', () => {
    const run = testRun(REQUEST, { stdin: 'INPUT', stdout: 'EXPECTED' }, NONCE);
    expect(run.code).not.toMatch(/PROGRAM|INPUT|EXPECTED/u);
    expect(run.code).not.toContain(NONCE);
    expect(JSON.parse(run.stdin)).toMatchObject({ nonce: NONCE, program: REQUEST.program, stdin: 'INPUT' });
    expect(run.stdin).not.toContain('EXPECTED');
    const compared = equivalenceRun({ kind: 'equivalence', answer: "'); ANSWER", reference: 'REFERENCE' }, NONCE);
    expect(compared.code).not.toMatch(/ANSWER|REFERENCE/u);
    expect(JSON.parse(compared.stdin)).toMatchObject({ answer: "'); ANSWER", reference: 'REFERENCE' });
  });

  it('gives the program its whole time limit', () => {
    expect(testRun(REQUEST, PRINTS, NONCE).run_timeout).toBeGreaterThan(REQUEST.time_limit_s);
    expect(JSON.parse(testRun(REQUEST, PRINTS, NONCE).stdin)).toMatchObject({ time_limit_s: 3, memory_limit_mb: 64 });
  });
});
