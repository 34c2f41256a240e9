/** The `equivalence` kind: a sandbox computes whether two mathematical answers are equal as expressions. */
import * as z from 'zod';
import { comparedNumbers } from '../../../tools/exact-number.ts';
import { comparedWords } from '../../../tools/math-spelling.ts';
import type { SandboxKind } from '../../protocol/judgment-kind.ts';
import {
  type CodeRunReply,
  fault,
  HARNESS_READER_VERSION,
  harnessLines,
  harnessRun,
  parseLine,
  type Reading,
  type RunCode,
} from '../../sandbox/run-code.ts';
import { EQUIVALENCE_HARNESS } from './equivalence-harness.ts';

/** Both answers are LaTeX or plain text. */
export type EquivalenceRequest = { readonly kind: 'equivalence'; readonly answer: string; readonly reference: string };

type EquivalenceVerdicts = { readonly kind: 'equivalence'; readonly equivalent: boolean };

/** Limit on the comparison's processor time, in seconds; wall time may be twice as long. */
const TIME_LIMIT_S = 8;
const MEMORY_LIMIT_MB = 1024;
/** Seconds that Python and SymPy may take to start on a busy machine. */
const START_S = 20;

/**
 * Builds the run of one comparison. @param nonce fresh for every run; marks the lines that the harness itself prints.
 */
export function equivalenceRun({ answer, reference }: EquivalenceRequest, nonce: string): RunCode {
  const limits = { time_limit_s: TIME_LIMIT_S, memory_limit_mb: MEMORY_LIMIT_MB };
  return harnessRun(EQUIVALENCE_HARNESS, { nonce, answer, reference, ...limits }, 2 * TIME_LIMIT_S + START_S);
}

const eventSchema = z.object({
  event: z.enum(['equal', 'different', 'reference_unread', 'comparison_open', 'library_missing']),
});

/**
 * Reads whether the answer equals the reference, or why the comparison is undecided. An unreadable answer is not equal.
 */
export function readEquivalence(reply: CodeRunReply, nonce: string): Reading<boolean> {
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

export const equivalence: SandboxKind<EquivalenceRequest, EquivalenceVerdicts> = {
  kind: 'equivalence',
  answeredBy: 'sandbox',
  dependsOnParser: false,
  templateSource: () => ({
    reading: HARNESS_READER_VERSION,
    equivalence: equivalenceRun({ kind: 'equivalence', answer: 'a', reference: 'r' }, 'nonce'),
  }),
  verdictsSchema: z.strictObject({ kind: z.literal('equivalence'), equivalent: z.boolean() }),
  answers: () => true,
  compute: ({ answer, reference }) => {
    const equivalent = comparedNumbers(answer, reference) ?? comparedWords(answer, reference);
    return equivalent === null ? null : { kind: 'equivalence', equivalent };
  },
  async judge(request, run) {
    const result = await run((nonce) => equivalenceRun(request, nonce), readEquivalence);
    return result.ok ? { ok: true, value: { kind: 'equivalence', equivalent: result.value } } : result;
  },
};
