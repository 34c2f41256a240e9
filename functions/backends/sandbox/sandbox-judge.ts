/**
 * The judge behind `execution` and `equivalence`: it asks a sandbox to run harnesses and reads what they report. A failure
 * of the sandbox in one test is a failure of the whole judgment; what is a program's own failure is its outcome.
 */

import type { Judge, JudgeReply } from '../../../src/judgments/judge.ts';
import { equivalenceRun, readEquivalence } from '../../../src/judgments/sandbox/equivalence.ts';
import { readTest, testRun } from '../../../src/judgments/sandbox/execution.ts';
import type { Reading, RunCode, RunReply } from '../../../src/judgments/sandbox/run-code.ts';
import { SANDBOX_TEMPLATE_DIGEST } from '../../../src/judgments/sandbox/template.ts';
import {
  type EquivalenceRequest,
  type ExecutionRequest,
  isSandboxRequest,
  type JudgeFailure,
  type TestOutcome,
} from '../../../src/judgments/types.ts';
import { withDeadline } from '../calls/deadline.ts';
import { failed } from '../calls/failures.ts';
import type { Transport } from '../calls/transport.ts';
import { runCode, type SandboxClock, type SandboxConfig, withRetries } from './sandbox-client.ts';
import { sandboxFailure } from './sandbox-failures.ts';

/** Tests of one program that run side by side (MAX_TEST_SECONDS counts on it). */
export const PARALLEL_TESTS = 8;

/** A value, or why there is none. */
type Had<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: JudgeFailure };

/** Runs one harness under a fresh nonce. */
type Ask = <T>(
  runOf: (nonce: string) => RunCode,
  read: (reply: RunReply, nonce: string) => Reading<T> | Promise<Reading<T>>,
) => Promise<Had<T>>;

/** The judge that a sandbox is. Verdicts are pinned to what the operator says runs there, and to the harnesses. */
export function createSandboxJudge(config: SandboxConfig, transport: Transport, clock: SandboxClock): Judge {
  return {
    name: config.name,
    identity: { model: config.runtime, template: SANDBOX_TEMPLATE_DIGEST, sampling: null },
    context_tokens: null,
    async judge(request, { deadline_ms }) {
      if (!isSandboxRequest(request)) throw new Error(`createSandboxJudge: ${request.kind} is not for a sandbox`);
      const end = clock.now() + deadline_ms;
      const result = await withDeadline(deadline_ms, (signal) => {
        const ask = askOf(config, transport, clock, end, signal);
        return request.kind === 'execution' ? judgeProgram(request, ask) : judgeEquivalence(request, ask);
      });
      return result.expired ? failed(sandboxFailure('timed_out')) : result.value;
    },
  };
}

function askOf(
  config: SandboxConfig,
  transport: Transport,
  clock: SandboxClock,
  end: number,
  signal: AbortSignal,
): Ask {
  return (runOf, read) =>
    withRetries(
      async () => {
        const nonce = freshNonce();
        const outcome = await runCode(config, transport, clock.date, runOf(nonce), signal);
        if (!outcome.ok) return outcome;
        const reading = await read(outcome.reply, nonce);
        return reading.ok ? reading : failed(sandboxFailure(reading.fault));
      },
      end,
      clock,
    );
}

async function judgeEquivalence(request: EquivalenceRequest, ask: Ask): Promise<JudgeReply> {
  const had = await ask((nonce) => equivalenceRun(request, nonce), readEquivalence);
  return had.ok ? { ok: true, verdicts: { kind: 'equivalence', equivalent: had.value }, usage: null } : had;
}

/** Every test, a few at a time; after the first failure no other is begun, and none is waited for. */
async function judgeProgram(request: ExecutionRequest, ask: Ask): Promise<JudgeReply> {
  const { promise: broken, resolve: breakOff } = Promise.withResolvers<JudgeReply>();
  const outcomes = new Map<number, TestOutcome>();
  const waiting = request.tests.entries();
  let over = false;
  const work = async (): Promise<void> => {
    // One iterator for all, so that each test is taken once.
    for (const [position, test] of waiting) {
      if (over) return;
      const had = await ask(
        (nonce) => testRun(request, test, nonce),
        (reply, nonce) => readTest(test, reply, nonce),
      );
      if (!had.ok) {
        over = true;
        return breakOff(had);
      }
      outcomes.set(position, had.value);
    }
  };
  const all = Promise.all(Array.from({ length: PARALLEL_TESTS }, work)).then(
    (): JudgeReply => ({ ok: true, verdicts: { kind: 'execution', tests: inOrder(request, outcomes) }, usage: null }),
  );
  return Promise.race([broken, all]);
}

function inOrder({ tests }: ExecutionRequest, outcomes: ReadonlyMap<number, TestOutcome>): TestOutcome[] {
  return tests.map((_, position) => {
    const outcome = outcomes.get(position);
    if (outcome === undefined) throw new Error('judgeProgram: a test was not run');
    return outcome;
  });
}

/** 128 random bits in hex: what a program prints cannot begin with it. */
function freshNonce(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
