/**
 * The `execution` kind: the tests of a program, run in a sandbox.
 *
 * A `{stdin, stdout}` test passes if the program exits by itself with status 0 and prints the expected text. The
 * comparison ignores newlines at the end and is byte for byte otherwise, as in Open-AgentRL (1fe5dbd2,
 * check_correctness, `rstrip("\n")`). The expected text never enters the sandbox: the harness hashes what the program
 * prints. An `{assert}` test passes if the program runs to its end and the Python of the test then runs in the same
 * namespace without raising. A program that exits before that fails the test.
 */
import * as z from 'zod';
import { sha256 } from '../../../digest.ts';
import type { HarnessResult, RunHarness, SandboxKind } from '../../protocol/judgment-kind.ts';
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
import { PROGRAM_HARNESS } from './program-harness.ts';
import { TEST_OUTCOMES, type TestOutcome } from './test-outcomes.ts';

/** One test of a program: the text it prints for an input, or Python that runs after it and must not raise. */
export type ProgramTest =
  | { readonly stdin: string; readonly stdout: string }
  /** Python, one or more lines. */
  | { readonly assert: string };

export type ExecutionRequest = {
  readonly kind: 'execution';
  readonly language: 'python';
  readonly program: string;
  /** At least one. */
  readonly tests: readonly ProgramTest[];
  /** Time limit of each test, in seconds. */
  readonly time_limit_s: number;
  /** Memory limit of each test, in MB. */
  readonly memory_limit_mb: number;
};

type ExecutionVerdicts = {
  readonly kind: 'execution';
  /** One outcome for each test of the request, in order. */
  readonly tests: readonly TestOutcome[];
};

/** Seconds that the interpreters may take to start on a busy machine, before the program's own time begins. */
const START_S = 15;
/** Bytes beyond the expected text that a program may print before the harness stops it. */
const SPARE_OUTPUT_BYTES = 1024 * 1024;

/** Tests of one program that run at the same time. MAX_TEST_SECONDS assumes this number. */
const PARALLEL_TESTS = 8;

const encoder = new TextEncoder();

/**
 * Builds the run of one test. @param nonce unguessable and fresh for every run; marks the lines that the harness itself
 * prints.
 */
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
 * Reads the outcome of a test, or why there is none. If the harness reports a start and no end, the program has killed
 * the run; that is a failed test, because otherwise a program could avoid a failed test by killing its run.
 */
export async function readTest(test: ProgramTest, reply: CodeRunReply, nonce: string): Promise<Reading<TestOutcome>> {
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
      return { ok: true, value: ended.sha256 === expectedDigest(test.stdout) ? 'passed' : 'wrong_output' };
    default:
      return { ok: true, value: ended.event };
  }
}

function eventOf(line: string): z.infer<typeof eventSchema> | null {
  return parseLine(eventSchema, line);
}

/** SHA-256 (hex) of the expected text as UTF-8, without the newlines at its end. */
function expectedDigest(stdout: string): string {
  let end = stdout.length;
  while (end > 0 && stdout[end - 1] === '\n') end--;
  return sha256(stdout.slice(0, end));
}

export const execution: SandboxKind<ExecutionRequest, ExecutionVerdicts> = {
  kind: 'execution',
  answeredBy: 'sandbox',
  dependsOnParser: false,
  templateSource() {
    const program = { kind: 'execution', language: 'python', program: 'p', tests: [] } as const;
    const request = { ...program, time_limit_s: 1, memory_limit_mb: 1 };
    return {
      reading: HARNESS_READER_VERSION,
      stdout: testRun(request, { stdin: 'i', stdout: 'o' }, 'nonce'),
      assert: testRun(request, { assert: 'a' }, 'nonce'),
    };
  },
  verdictsSchema: z.strictObject({ kind: z.literal('execution'), tests: z.array(z.enum(TEST_OUTCOMES)) }),
  answers: (request, verdicts) => verdicts.tests.length === request.tests.length,
  judge: runTests,
};

/** Runs the tests, PARALLEL_TESTS at a time. Ends at the first failure of the sandbox and starts no further test. */
async function runTests(request: ExecutionRequest, run: RunHarness): Promise<HarnessResult<ExecutionVerdicts>> {
  const { promise: failed, resolve: fail } = Promise.withResolvers<HarnessResult<never>>();
  const outcomes = new Map<number, TestOutcome>();
  const waiting = request.tests.entries();
  let over = false;
  const work = async (): Promise<void> => {
    // All workers share one iterator, so each test is taken once.
    for (const [position, test] of waiting) {
      if (over) return;
      const result = await run(
        (nonce) => testRun(request, test, nonce),
        (reply, nonce) => readTest(test, reply, nonce),
      );
      if (!result.ok) {
        over = true;
        return fail(result);
      }
      outcomes.set(position, result.value);
    }
  };
  const all = Promise.all(Array.from({ length: PARALLEL_TESTS }, work)).then(
    (): HarnessResult<ExecutionVerdicts> => ({
      ok: true,
      value: { kind: 'execution', tests: inOrder(request, outcomes) },
    }),
  );
  return Promise.race([failed, all]);
}

function inOrder({ tests }: ExecutionRequest, outcomes: ReadonlyMap<number, TestOutcome>): TestOutcome[] {
  return tests.map((_, position) => {
    const outcome = outcomes.get(position);
    if (outcome === undefined) throw new Error('runTests: a test has no outcome');
    return outcome;
  });
}
