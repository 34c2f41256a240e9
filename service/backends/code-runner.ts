/**
 * Runs the agent's code in the sandbox and retries failures of the sandbox. A program that fails is still a successful
 * run: the policy sees its output. A failure of the sandbox itself (unreachable, overloaded, internal error) is a
 * failed outcome, and the policy never sees it as output.
 */

import { failed } from '../../lib/model-servers/calls/failures.ts';
import { Lifetime } from '../../lib/model-servers/calls/lifetime.ts';
import type { Transport } from '../../lib/model-servers/calls/transport.ts';
import { readRun, runDeadlineMs } from '../../src/agent/code-interpreter.ts';
import type { CodeOutcome } from '../../src/agent/loop.ts';
import type { RunCode } from '../../src/judgments/sandbox/run-code.ts';
import type { BindingOf } from './bindings.ts';
import { transportOf } from './bindings.ts';
import type { SandboxClock, SandboxConfig } from './sandbox/sandbox-client.ts';
import { runCode, withRetries } from './sandbox/sandbox-client.ts';
import { sandboxFailure } from './sandbox/sandbox-failures.ts';

/** @param signal aborts the run; the caller then ignores the outcome. */
export type CodeRunner = (run: RunCode, signal: AbortSignal) => Promise<CodeOutcome>;

export function createCodeRunner(config: SandboxConfig, transport: Transport, clock: SandboxClock): CodeRunner {
  return async (run, caller) => {
    const deadline_ms = runDeadlineMs(run);
    const end = clock.now() + deadline_ms;
    const life = new Lifetime(deadline_ms, [caller]);
    const attempt = async (): Promise<CodeOutcome> => {
      // A retry after the caller has disconnected would keep the sandbox busy for nothing.
      if (life.signal.aborted) return failed(sandboxFailure('timed_out'));
      const outcome = await runCode(config, transport, clock.date, run, life.signal);
      if (!outcome.ok) return outcome;
      const reading = readRun(outcome.reply);
      return reading.ok ? { ok: true, output: reading.value } : failed(sandboxFailure(reading.error));
    };
    try {
      const result = await life.during(withRetries(attempt, () => end, clock));
      return result.ended ? failed(sandboxFailure('timed_out')) : result.value;
    } finally {
      life.end();
    }
  };
}

const CLOCK: SandboxClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** Creates the code runner of a deployment; `null` = the deployment has no sandbox. */
export function configuredCodeRunner(config: SandboxConfig | null, bindingOf: BindingOf): CodeRunner | null {
  return config === null ? null : createCodeRunner(config, transportOf(config.vpc_binding, bindingOf), CLOCK);
}
