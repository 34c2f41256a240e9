/**
 * The agent's tool on a sandbox: one run of code, with the sandbox's retries. What a program does is its output; what a
 * sandbox does (unreachable, overloaded, an error of its own) is a failure, and never shown to the policy as an output.
 */

import { readRun, runDeadlineMs } from '../../src/agent/code-interpreter.ts';
import type { CodeOutcome } from '../../src/agent/loop.ts';
import type { RunCode } from '../../src/judgments/sandbox/run-code.ts';
import type { SandboxConfig } from '../backends/config.ts';
import { withDeadline } from '../backends/deadline.ts';
import { failed } from '../backends/failures.ts';
import { runCode } from '../backends/sandbox/client.ts';
import { sandboxFailure } from '../backends/sandbox/failures.ts';
import type { SandboxClock } from '../backends/sandbox/judge.ts';
import { withRetries } from '../backends/sandbox/retry.ts';
import type { Transport } from '../backends/vllm/transport.ts';

/** @param signal ends the run; the outcome is then nobody's. */
export type CodeRunner = (run: RunCode, signal: AbortSignal) => Promise<CodeOutcome>;

export function createCodeRunner(config: SandboxConfig, transport: Transport, clock: SandboxClock): CodeRunner {
  return async (run, caller) => {
    const deadline_ms = runDeadlineMs(run);
    const end = clock.now() + deadline_ms;
    const result = await withDeadline(deadline_ms, (deadline) => {
      const signal = AbortSignal.any([caller, deadline]);
      const attempt = async (): Promise<CodeOutcome> => {
        // A retry for a caller who has left would keep the sandbox busy for nobody.
        if (signal.aborted) return failed(sandboxFailure('timed_out'));
        const outcome = await runCode(config, transport, clock.date, run, signal);
        if (!outcome.ok) return outcome;
        const reading = readRun(outcome.reply);
        return reading.ok ? { ok: true, output: reading.value } : failed(sandboxFailure(reading.fault));
      };
      return withRetries(attempt, end, clock);
    });
    return result.expired ? failed(sandboxFailure('timed_out')) : result.value;
  };
}
