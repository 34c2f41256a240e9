/**
 * The tool `code_interpreter` over a sandbox's `/run_code`, as the training run had it: `CustomSandboxFusionTool` of
 * Gen-Verse/Open-AgentRL 1fe5dbd2 (there from verl's `recipe/retool/retool.py`). Pure: what is asked, and what a reply says.
 *
 * A program's own failures, an exception or too long a run, are for the policy to see. In training a sandbox that failed
 * was shown as an empty output too; here that is no output at all, and the trajectory ends (`sandbox_failed`).
 */
import { fault, type Reading, type RunCode, type RunReply } from '../judgments/sandbox/run-code.ts';
import type { AgentSettings } from './types.ts';

const FENCE = '```';
const PYTHON_FENCE = '```python';

/** What stands for the output of a program that did not end by itself; the training run's words. */
export const NO_OUTPUT = 'no stdout here';

/** Beyond the program's own time, what its request may take: compiling, and 10 s (`call_sandbox_api`). */
const SPARE_REQUEST_S = 10;

type ToolSettings = Pick<AgentSettings, 'print_last_line' | 'tool_time_limit_s' | 'tool_memory_limit_mb'>;

/**
 * The code that is run: what stands in the first fence of Python, if there is one; then, if wanted, the last line that is
 * not empty is printed unless it begins with `print`. An indented last line thus becomes a syntax error, as in training.
 */
export function preparedCode(code: string, print_last_line: boolean): string {
  const bare = fencedCode(code) ?? code;
  if (!print_last_line) return bare;
  const lines = bare.split('\n');
  const at = lines.findLastIndex((line) => line !== '');
  const line = lines[at];
  if (line === undefined || line.startsWith('print')) return bare;
  return lines.with(at, `print(${line})`).join('\n');
}

function fencedCode(code: string): string | null {
  const start = code.indexOf(PYTHON_FENCE);
  if (start === -1) return null;
  const end = code.indexOf(FENCE, start + PYTHON_FENCE.length);
  return end === -1 ? null : code.slice(start + PYTHON_FENCE.length, end).trim();
}

/** The run of prepared code. No standard input. */
export function codeRun(code: string, { tool_time_limit_s, tool_memory_limit_mb }: ToolSettings): RunCode {
  return {
    code,
    language: 'python',
    compile_timeout: tool_time_limit_s,
    run_timeout: tool_time_limit_s,
    memory_limit_MB: tool_memory_limit_mb,
    stdin: '',
    files: {},
    fetch_files: [],
  };
}

/** How long one request for a run is waited for, in milliseconds. */
export function runDeadlineMs({ compile_timeout, run_timeout }: RunCode): number {
  return (compile_timeout + run_timeout + SPARE_REQUEST_S) * 1000;
}

export type ToolOutput = { readonly outcome: 'finished' | 'failed' | 'time_limit'; readonly text: string };

/** What the program gave: both outputs if it ended by itself, whatever its status. A fault is the sandbox's, never it. */
export function readRun({ status, run_result }: RunReply): Reading<ToolOutput> {
  if (status === 'SandboxError' || run_result?.status === 'Error') return fault('sandbox_failed');
  if (run_result === null || run_result === undefined) return fault('reply_malformed');
  if (run_result.status === 'TimeLimitExceeded') return { ok: true, value: { outcome: 'time_limit', text: NO_OUTPUT } };
  const text = (run_result.stdout ?? '') + (run_result.stderr ?? '');
  return { ok: true, value: { outcome: status === 'Success' ? 'finished' : 'failed', text } };
}
