/** Comparing two mathematical answers: the run that is asked of the sandbox, and the verdict that its reply shows. Pure. */
import * as z from 'zod';
import type { EquivalenceRequest } from '../types.ts';
import { EQUIVALENCE_HARNESS } from './equivalence-harness.ts';
import { fault, harnessLines, harnessRun, parseLine, type Reading, type RunCode, type RunReply } from './run-code.ts';

/** Processor time of the comparison itself; it may take twice as long on the clock. */
const TIME_LIMIT_S = 8;
const MEMORY_LIMIT_MB = 1024;
/** Seconds for Python and SymPy to start, on a busy machine. */
const START_S = 20;

/** @param nonce fresh for every run: a line of output is believed if it begins with it. */
export function equivalenceRun({ answer, reference }: EquivalenceRequest, nonce: string): RunCode {
  const limits = { time_limit_s: TIME_LIMIT_S, memory_limit_mb: MEMORY_LIMIT_MB };
  return harnessRun(EQUIVALENCE_HARNESS, { nonce, answer, reference, ...limits }, 2 * TIME_LIMIT_S + START_S);
}

const eventSchema = z.object({
  event: z.enum(['equal', 'different', 'reference_unread', 'comparison_open', 'library_missing']),
});

/** Whether the answer equals the reference, or why nobody can say. An answer that cannot be read is not equal. */
export function readEquivalence(reply: RunReply, nonce: string): Reading<boolean> {
  const ran = reply.run_result;
  if (reply.status === 'SandboxError' || ran?.status === 'Error') return fault('sandbox_failed');
  if (ran === null || ran === undefined) return fault('reply_malformed');
  const [line, ...more] = harnessLines(ran.stdout ?? '', nonce);
  if (line === undefined) return fault(ran.status === 'TimeLimitExceeded' ? 'start_slow' : 'not_started');
  const said = more.length > 0 ? null : parseLine(eventSchema, line);
  if (said === null) return fault('reply_malformed');
  switch (said.event) {
    case 'equal':
      return { ok: true, value: true };
    case 'different':
      return { ok: true, value: false };
    default:
      return fault(said.event);
  }
}
