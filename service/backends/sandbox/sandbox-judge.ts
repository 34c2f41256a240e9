/**
 * A judge that decides by running programs: it runs the harness of a judgment kind in the sandbox and reads the
 * harness's report. If the sandbox fails in one run, the whole judgment fails; a failure of the judged program is a
 * verdict.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import { withDeadline } from '../../../lib/model-servers/calls/deadline.ts';
import { failed } from '../../../lib/model-servers/calls/failures.ts';
import type { Transport } from '../../../lib/model-servers/calls/transport.ts';
import { type CallOptions, UNLIMITED_CONNECTIONS } from '../../../src/judgments/connections.ts';
import type { Judge, JudgeReply } from '../../../src/judgments/judge.ts';
import { kindOf, templateOf } from '../../../src/judgments/kinds/registry.ts';
import type { RunHarness } from '../../../src/judgments/protocol/judgment-kind.ts';
import { runCode, type SandboxClock, type SandboxConfig, withRetries } from './sandbox-client.ts';
import { sandboxFailure } from './sandbox-failures.ts';

/** The judge of a sandbox. Its identity is the runtime that the operator names, and the template of the kind. */
export function createSandboxJudge(config: SandboxConfig, transport: Transport, clock: SandboxClock): Judge {
  return {
    name: config.name,
    model: config.runtime,
    identityFor: (kind) => ({ model: config.runtime, template: templateOf(kind), sampling: null }),
    context_tokens: null,
    async judge(request, options): Promise<JudgeReply> {
      const kind = kindOf(request.kind);
      if (kind.answeredBy === 'reader') throw new Error(`createSandboxJudge: a sandbox cannot answer ${request.kind}`);
      const computed = kind.compute?.(request) ?? null;
      if (computed !== null) return { ok: true, verdicts: computed, usage: null };
      const over = new AbortController();
      try {
        const judged = await kind.judge(request, harnessRunner(config, transport, clock, options, over.signal));
        return judged.ok ? { ok: true, verdicts: judged.value, usage: null } : judged;
      } finally {
        over.abort();
      }
    },
  };
}

/**
 * Creates the runner of harnesses. The deadline is that of one run with its retries, without the time in which the run
 * waits for connections: a program that loops must reach its own time limit, however many programs run before it.
 * @param over aborts the runs that are left when the judgment has ended.
 */
function harnessRunner(
  config: SandboxConfig,
  transport: Transport,
  clock: SandboxClock,
  { deadline_ms, connections = UNLIMITED_CONNECTIONS }: CallOptions,
  over: AbortSignal,
): RunHarness {
  return async (runOf, read) => {
    let end = clock.now() + deadline_ms;
    const attempt = async () => {
      const asked = clock.now();
      const leave = await connections.enter();
      end += clock.now() - asked;
      try {
        if (over.aborted) return failed(sandboxFailure('timed_out'));
        const result = await withDeadline(end - clock.now(), async (signal) => {
          const nonce = freshNonce();
          const ended = AbortSignal.any([signal, over]);
          const outcome = await runCode(config, transport, clock.date, runOf(nonce), ended);
          if (!outcome.ok) return outcome;
          const reading = await read(outcome.reply, nonce);
          return reading.ok ? reading : failed(sandboxFailure(reading.error));
        });
        return result.expired ? failed(sandboxFailure('timed_out')) : result.value;
      } finally {
        leave();
      }
    };
    return withRetries(attempt, () => end, clock);
  };
}

/** Returns 128 random bits in hex. A program cannot guess them, so it cannot forge the report of its harness. */
function freshNonce(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
}
