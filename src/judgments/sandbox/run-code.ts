/**
 * SandboxFusion's `POST /run_code` (bytedance/SandboxFusion 469de084): what is sent, and what a reply is. Any server with
 * this API will do.
 */
import * as z from 'zod';

/** One run. Everything that could be left to a server's default is said. */
export type RunCode = {
  readonly code: string;
  readonly language: 'python';
  /** Seconds. */
  readonly compile_timeout: number;
  /** Seconds. */
  readonly run_timeout: number;
  /** -1 = the server sets none: the harness limits the program, not itself. */
  readonly memory_limit_MB: number;
  readonly stdin: string;
  readonly files: Readonly<Record<string, string>>;
  readonly fetch_files: readonly string[];
};

const ranSchema = z.object({
  status: z.enum(['Finished', 'Error', 'TimeLimitExceeded']),
  return_code: z.number().int().nullish(),
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
});

/** What is read of a reply. `message` quotes programs, and is not read by anyone; `stderr` by the agent's tool only. */
export const runReplySchema = z.object({
  status: z.enum(['Success', 'Failed', 'SandboxError']),
  run_result: ranSchema.nullish(),
});

export type RunReply = z.infer<typeof runReplySchema>;

/**
 * Why a reply gives no verdict. Nothing of it is the program's doing, and none of it is ever a verdict.
 * `sandbox_failed`: it says so itself. `not_started`: the harness did not get to run anything. `start_slow`: nor in time.
 * `reply_malformed`: parts of the reply are missing. `test_not_python`: the caller's test does not compile.
 * `library_missing`: SymPy is not installed there. `reference_unread`: the reference is no expression that we can read.
 * `comparison_open`: comparing took too long or found no answer.
 */
export type HarnessFault =
  | 'sandbox_failed'
  | 'not_started'
  | 'start_slow'
  | 'reply_malformed'
  | 'test_not_python'
  | 'library_missing'
  | 'reference_unread'
  | 'comparison_open';

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: HarnessFault };

export function fault(kind: HarnessFault): { readonly ok: false; readonly fault: HarnessFault } {
  return { ok: false, fault: kind };
}

/** What the JSON of a line says; `null` if it is nothing that a harness would write. */
export function parseLine<T>(schema: z.ZodType<T>, line: string): T | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** Output that a harness vouches for: the lines that begin with the nonce, without it, in order. */
export function harnessLines(stdout: string, nonce: string): readonly string[] {
  const lines: string[] = [];
  for (const line of stdout.split('\n')) if (line.startsWith(`${nonce} `)) lines.push(line.slice(nonce.length + 1));
  return lines;
}

/** The run of a harness that reads its task, the nonce included, from standard input: it is on no disk. */
export function harnessRun(code: string, task: object, run_timeout: number): RunCode {
  return {
    code,
    language: 'python',
    compile_timeout: 10,
    run_timeout,
    // SandboxFusion would set the stack of every thread to it as well, so that programs with threads fail; and where it
    // isolates by cgroups it ignores it.
    memory_limit_MB: -1,
    stdin: JSON.stringify(task),
    files: {},
    fetch_files: [],
  };
}
