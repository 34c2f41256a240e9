/** The program that the tool runs, and the reading of the sandbox's reply. */
import { describe, expect, it } from 'vitest';
import { codeRun, NO_OUTPUT, preparedCode, readRun, runDeadlineMs } from '../../../src/agent/code-interpreter.ts';
import type { CodeRunReply } from '../../../src/judgments/sandbox/run-code.ts';
import { settingsWith } from './settings.ts';

describe('the code that is run', () => {
  it.each([
    ['an expression at the end is printed', 'x = 6\nx * 7', 'x = 6\nprint(x * 7)'],
    ['so is one before empty lines', 'x\n\n', 'print(x)\n\n'],
    ['what is printed already stays', 'x = 1\nprint(x)', 'x = 1\nprint(x)'],
    ['an assignment is spoilt, as in training', 'x = 1', 'print(x = 1)'],
    ['an indented last line is, too', 'for i in x:\n    f(i)', 'for i in x:\nprint(    f(i))'],
    ['a fence of Python is taken off', 'Here:\n```python\nprint(1)\n```\nDone', 'print(1)'],
    ['only the first one counts', '```python\nprint(1)\n```\n```python\nprint(2)\n```', 'print(1)'],
    ['an open fence is none', '```python\nx', '```python\nprint(x)'],
    ['nothing stays nothing', '', ''],
  ])('%s', (_, code, prepared) => {
    expect(preparedCode(code, true)).toBe(prepared);
  });

  it('stays unchanged if printing is off', () => {
    expect(preparedCode('x = 6\nx * 7', false)).toBe('x = 6\nx * 7');
  });

  it('runs with the limits of training, and its request has some more time', () => {
    const run = codeRun('print(1)', settingsWith());
    expect(run).toMatchObject({
      language: 'python',
      run_timeout: 30,
      compile_timeout: 30,
      memory_limit_MB: 2048,
      stdin: '',
    });
    expect(runDeadlineMs(run)).toBe(70_000);
  });
});

describe('a reply of the sandbox', () => {
  const ran = (fields: object): CodeRunReply => ({
    status: 'Success',
    run_result: { status: 'Finished', return_code: 0, stdout: '', stderr: '', ...fields },
  });

  it('joins both outputs', () => {
    expect(readRun(ran({ stdout: '42\n', stderr: 'warning\n' }))).toEqual({
      ok: true,
      value: { outcome: 'finished', text: '42\nwarning\n' },
    });
  });

  it('shows the error of the program', () => {
    const failing = {
      ...ran({ return_code: 1, stderr: 'ZeroDivisionError: division by zero\n' }),
      status: 'Failed' as const,
    };
    expect(readRun(failing)).toEqual({
      ok: true,
      value: { outcome: 'failed', text: 'ZeroDivisionError: division by zero\n' },
    });
  });

  it("uses training's words for a stopped program", () => {
    const slow = { ...ran({ status: 'TimeLimitExceeded', stdout: 'half' }), status: 'Failed' as const };
    expect(readRun(slow)).toEqual({ ok: true, value: { outcome: 'time_limit', text: NO_OUTPUT } });
  });

  it.each([
    ['SandboxError', { status: 'SandboxError', run_result: null }, 'sandbox_failed'],
    ['an Error of the run', { status: 'Failed', run_result: { status: 'Error' } }, 'sandbox_failed'],
    ['no run at all', { status: 'Success' }, 'reply_malformed'],
  ] as const)('is never an output where the sandbox failed: %s', (_, reply, fault) => {
    expect(readRun(reply)).toEqual({ ok: false, error: fault });
  });
});
