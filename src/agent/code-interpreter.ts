/**
 * The tool `code_interpreter` over a sandbox's `/run_code`: prepares the program and reads the sandbox's reply. It
 * follows the tool that the GRPO-TCR models were trained with: `CustomSandboxFusionTool` of Gen-Verse/Open-AgentRL
 * 1fe5dbd2 (from verl's `recipe/retool/retool.py`).
 *
 * The policy sees the failures of its own program (exceptions, time limits). A failure of the sandbox ends the
 * trajectory (`sandbox_failed`); Open-AgentRL's tool shows it to the policy as empty output.
 */
import { type CodeRunReply, fault, type Reading, type RunCode } from '../judgments/sandbox/run-code.ts';
import type { AgentSettings } from './types.ts';

const FENCE = '```';
const PYTHON_FENCE = '```python';

/** Output text that the policy sees for a program that was stopped, in the words of Open-AgentRL's tool. */
export const NO_OUTPUT = 'no stdout here';

/** Time of a request beyond the program's compile and run limits, in seconds (`call_sandbox_api` of Open-AgentRL). */
const SPARE_REQUEST_S = 10;

type ToolSettings = Pick<AgentSettings, 'print_last_line' | 'tool_time_limit_s' | 'tool_memory_limit_mb'>;

/**
 * Prepares the policy's code for a run: takes the first Python fence if there is one, and wraps the last non-empty line
 * in `print(…)` unless it already begins with `print`. An indented last line becomes a syntax error, as in
 * Open-AgentRL.
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

/** Builds the request for a run of prepared code, without standard input. */
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

/** Timeout of one run request, in milliseconds. */
export function runDeadlineMs({ compile_timeout, run_timeout }: RunCode): number {
  return (compile_timeout + run_timeout + SPARE_REQUEST_S) * 1000;
}

export type ToolOutput = { readonly outcome: 'finished' | 'failed' | 'time_limit'; readonly text: string };

/** Reads the program's outcome and output from a reply. Faults of the sandbox are returned as faults. */
export function readRun({ status, run_result }: CodeRunReply): Reading<ToolOutput> {
  if (status === 'SandboxError' || run_result?.status === 'Error') return fault('sandbox_failed');
  if (run_result === null || run_result === undefined) return fault('reply_malformed');
  if (run_result.status === 'TimeLimitExceeded') return { ok: true, value: { outcome: 'time_limit', text: NO_OUTPUT } };
  const text = (run_result.stdout ?? '') + (run_result.stderr ?? '');
  return { ok: true, value: { outcome: status === 'Success' ? 'finished' : 'failed', text } };
}
