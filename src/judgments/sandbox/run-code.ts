/**
 * Requests and replies of SandboxFusion's `POST /run_code` (bytedance/SandboxFusion 469de084), and how a harness, the
 * wrapper program that runs or compares what is judged, reports through them. Works with any server that has this API.
 */
import * as z from 'zod';
import { parsedJson } from '../../json.ts';
import type { Failure, Result } from '../../result.ts';

/** One run of a program on a SandboxFusion server. Sets every option explicitly, so no server default applies. */
export type RunCode = {
  readonly code: string;
  readonly language: 'python';
  /** Time limit of the server for compiling the program, in seconds. */
  readonly compile_timeout: number;
  /** Time limit of the server for running the program, in seconds. */
  readonly run_timeout: number;
  /**
   * Memory limit that the SandboxFusion server sets for the program, in MB; -1 = none, because the wrapper program
   * ("harness") that is run sets the memory limit itself.
   */
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

/**
 * The parts of a reply that are read. `message` is ignored, because it quotes programs; only the agent's tool reads
 * `stderr`.
 */
export const runReplySchema = z.object({
  status: z.enum(['Success', 'Failed', 'SandboxError']),
  run_result: ranSchema.nullish(),
});

export type CodeRunReply = z.infer<typeof runReplySchema>;

/**
 * Version of the rules by which a SandboxFusion reply becomes an outcome; part of the template of each kind that a
 * sandbox answers. Raise it when the rules change.
 */
export const HARNESS_READER_VERSION = 1;

/**
 * Why a reply of the sandbox gives no verdict. None of these is the program's fault, and none is ever a verdict.
 * `sandbox_failed`: the sandbox reports an error. `not_started`: the harness ran nothing. `start_slow`: the harness did
 * not start in time. `reply_malformed`: parts of the reply are missing. `test_not_python`: the caller's test does not
 * compile. `library_missing`: the sandbox has no SymPy. `reference_unread`: the reference is not a readable expression.
 * `comparison_open`: the comparison took too long or decided nothing.
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

export type Reading<T> = Result<T, HarnessFault>;

export function fault(kind: HarnessFault): Failure<HarnessFault> {
  return { ok: false, error: kind };
}

/** Parses the JSON of a line; `null` if a harness would not have written it. */
export function parseLine<T>(schema: z.ZodType<T>, line: string): T | null {
  const parsed = schema.safeParse(parsedJson(line));
  return parsed.success ? parsed.data : null;
}

/** Returns what the harness itself printed: the lines that begin with the nonce, in order, without the nonce. */
export function harnessLines(stdout: string, nonce: string): readonly string[] {
  const lines: string[] = [];
  for (const line of stdout.split('\n')) if (line.startsWith(`${nonce} `)) lines.push(line.slice(nonce.length + 1));
  return lines;
}

/** Builds the run of a harness. The task, nonce included, is standard input, so no part of it is on a disk. */
export function harnessRun(code: string, task: object, run_timeout: number): RunCode {
  return {
    code,
    language: 'python',
    compile_timeout: 10,
    run_timeout,
    // SandboxFusion would apply a limit to the stack of every thread too, so programs with threads would fail; where it
    // isolates by cgroups it ignores the limit.
    memory_limit_MB: -1,
    stdin: JSON.stringify(task),
    files: {},
    fetch_files: [],
  };
}
