/**
 * Running one test of a program: the run that is asked of the sandbox, and the outcome that its reply shows. Pure.
 *
 * A `{stdin, stdout}` test passes if the program ends by itself with status 0 and prints what is expected, both without the
 * newlines at their end and byte for byte otherwise: as Open-AgentRL compares (1fe5dbd2, check_correctness, `rstrip("\n")`).
 * What is expected never enters the sandbox; the harness hashes what was printed. An `{assert}` test passes if the program
 * runs to its end and the Python then runs behind it, in the same namespace, without raising. A program that exits before
 * that has not passed.
 */
import * as z from 'zod';
import { type ExecutionRequest, type ProgramTest, TEST_OUTCOMES, type TestOutcome } from '../types.ts';
import { PROGRAM_HARNESS } from './program-harness.ts';
import { fault, harnessLines, harnessRun, parseLine, type Reading, type RunCode, type RunReply } from './run-code.ts';

/** Seconds for the interpreters to start, on a busy machine, before the program's own time begins. */
const START_S = 15;
/** What a program may print beyond what is expected before it is stopped. */
const SPARE_OUTPUT_BYTES = 1024 * 1024;

const encoder = new TextEncoder();

/** @param nonce fresh for every run, and unguessable: a line of output is believed if it begins with it. */
export function testRun(request: ExecutionRequest, test: ProgramTest, nonce: string): RunCode {
  const { program, time_limit_s, memory_limit_mb } = request;
  const task = { nonce, program, time_limit_s, memory_limit_mb };
  const styled =
    'assert' in test
      ? { style: 'assert', test: test.assert, stdin: '', output_limit: SPARE_OUTPUT_BYTES }
      : { style: 'stdout', stdin: test.stdin, output_limit: encoder.encode(test.stdout).length + SPARE_OUTPUT_BYTES };
  return harnessRun(PROGRAM_HARNESS, { ...task, ...styled }, time_limit_s + START_S);
}

const eventSchema = z.discriminatedUnion('event', [
  z.object({ event: z.enum(['running', 'not_started', 'test_not_python']) }),
  z.object({ event: z.enum(TEST_OUTCOMES) }),
  z.object({ event: z.literal('printed'), sha256: z.string() }),
]);

/**
 * The outcome of a test, or why there is none. A run that began and ended without another word of the harness was ended by
 * the program, and that is the program's failure: or it could turn a test that it loses into one that was never scored.
 */
export async function readTest(test: ProgramTest, reply: RunReply, nonce: string): Promise<Reading<TestOutcome>> {
  const ran = reply.run_result;
  if (reply.status === 'SandboxError' || ran?.status === 'Error') return fault('sandbox_failed');
  if (ran === null || ran === undefined) return fault('reply_malformed');
  const events = harnessLines(ran.stdout ?? '', nonce).map(eventOf);
  const [began, ended] = events;
  const slow = ran.status === 'TimeLimitExceeded';
  if (began === undefined) return fault(slow ? 'start_slow' : 'not_started');
  if (began === null || ended === null || events.length > 2) return fault('reply_malformed');
  if (began.event === 'not_started' || began.event === 'test_not_python') return fault(began.event);
  if (began.event !== 'running') return fault('reply_malformed');
  if (ended === undefined) return { ok: true, value: slow ? 'time_limit' : 'runtime_error' };
  switch (ended.event) {
    case 'running':
    case 'not_started':
    case 'test_not_python':
      return fault('reply_malformed');
    case 'printed':
      if ('assert' in test) return fault('reply_malformed');
      return { ok: true, value: ended.sha256 === (await expectedDigest(test.stdout)) ? 'passed' : 'wrong_output' };
    default:
      return { ok: true, value: ended.event };
  }
}

function eventOf(line: string): z.infer<typeof eventSchema> | null {
  return parseLine(eventSchema, line);
}

/** SHA-256 (hex) of what is expected, as UTF-8 and without the newlines at its end. */
async function expectedDigest(stdout: string): Promise<string> {
  let end = stdout.length;
  while (end > 0 && stdout[end - 1] === '\n') end--;
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(stdout.slice(0, end)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
