/**
 * One `POST /run_code`, no retry. Whatever the server does, the outcome is a whole reply or a typed failure. It ends when
 * its signal says so, and that is for the caller to see to.
 */
import { type RunCode, type RunReply, runReplySchema } from '../../../src/judgments/sandbox/run-code.ts';
import type { JudgeFailure } from '../../../src/judgments/types.ts';
import type { SandboxConfig } from '../config.ts';
import { BrokenBodyError, readText } from '../vllm/bounded-body.ts';
import { credentials } from '../vllm/request.ts';
import { retryAfterSeconds } from '../vllm/retry-after.ts';
import { mediaType, type Transport } from '../vllm/transport.ts';
import { faultOfStatus, type SandboxFault, sandboxFailure } from './failures.ts';

/** SandboxFusion keeps 1 MiB of each output; JSON can make six bytes of one. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

export type RunOutcome =
  | { readonly ok: true; readonly reply: RunReply }
  | { readonly ok: false; readonly failure: JudgeFailure };

/** @param now_ms the wall clock, for dates in `Retry-After`. */
export async function runCode(
  config: SandboxConfig,
  transport: Transport,
  now_ms: () => number,
  run: RunCode,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...credentials(config) },
    body: JSON.stringify(run),
    redirect: 'manual',
    signal,
  };
  let response: Response;
  try {
    response = await transport(`${config.base_url}/run_code`, init);
  } catch {
    // The error names hosts and ports of the inside; that nothing answered is all there is to say.
    return failedBy(signal.aborted ? 'timed_out' : 'unreachable');
  }
  const { status, headers } = response;
  // An error's words are not read: they quote the program.
  if (status !== 200) return failedBy(faultOfStatus(status), retryAfterSeconds(headers, now_ms()));
  if (mediaType(headers) !== 'application/json') return failedBy('not_an_api');
  let text: string | null;
  try {
    text = await readText(response.body, MAX_REPLY_BYTES);
  } catch (error) {
    if (!(error instanceof BrokenBodyError)) throw error;
    return failedBy(signal.aborted ? 'timed_out' : 'broke_off');
  }
  return text === null ? failedBy('too_large') : replyIn(text);
}

function replyIn(text: string): RunOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return failedBy('broke_off');
    throw error;
  }
  const parsed = runReplySchema.safeParse(value);
  return parsed.success ? { ok: true, reply: parsed.data } : failedBy('reply_malformed');
}

function failedBy(fault: SandboxFault, retry_after_s: number | null = null): RunOutcome {
  return { ok: false, failure: sandboxFailure(fault, retry_after_s) };
}
