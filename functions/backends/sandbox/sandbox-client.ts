/**
 * One `POST /run_code`, no retry. Whatever the server does, the outcome is a whole reply or a typed failure. It ends when
 * its signal says so, and that is for the caller to see to.
 */

import { withDeadline } from '../../../lib/model-servers/calls/deadline.ts';
import { BrokenBodyError, readText } from '../../../lib/model-servers/calls/response-body.ts';
import type { RouterClock } from '../../../lib/model-servers/calls/router.ts';
import { credentials, type ServerConfig } from '../../../lib/model-servers/calls/server-address.ts';
import { mediaType, retryAfterSeconds, type Transport } from '../../../lib/model-servers/calls/transport.ts';
import { type RunCode, type RunReply, runReplySchema } from '../../../src/judgments/sandbox/run-code.ts';
import type { JudgeFailure } from '../../../src/judgments/types.ts';
import { type SandboxFault, sandboxFailure, sandboxFaultOfStatus } from './sandbox-failures.ts';

/** A server with SandboxFusion's `/run_code`. */
export type SandboxConfig = ServerConfig & {
  readonly name: string;
  /** What runs there, as the operator names it (interpreter, library versions): verdicts are pinned to it. */
  readonly runtime: string;
  /** Judgments that it takes at once; a judgment runs a few programs side by side. */
  readonly slots: number;
};

export type SandboxClock = RouterClock & {
  /** Milliseconds since 1970, for dates in `Retry-After`. */
  readonly date: () => number;
};

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
  if (status !== 200) return failedBy(sandboxFaultOfStatus(status), retryAfterSeconds(headers, now_ms()));
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

/** Tries of one run. */
export const MAX_RUN_ATTEMPTS = 3;
/** The wait before the n-th retry is random between 0 and this, doubled each time. */
const BACKOFF_BASE_MS = 500;
/** Less time than this is not worth a run. */
const MIN_ATTEMPT_MS = 500;

type Tried = { readonly ok: true } | { readonly ok: false; readonly failure: JudgeFailure };

/**
 * The first outcome of `attempt` that is good or cannot be mended, or the last one.
 * @param end_ms on the clock of `clock.now`.
 */
export async function withRetries<T extends Tried>(
  attempt: () => Promise<T>,
  end_ms: number,
  clock: RouterClock,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    const outcome = await attempt();
    if (outcome.ok || !outcome.failure.retryable || retry + 1 >= MAX_RUN_ATTEMPTS) return outcome;
    const wait = (outcome.failure.retry_after_s ?? 0) * 1000 + clock.random() * BACKOFF_BASE_MS * 2 ** retry;
    if (clock.now() + wait + MIN_ATTEMPT_MS > end_ms) return outcome;
    await clock.sleep(wait);
  }
}

const PROBE_DEADLINE_MS = 5_000;
const MAX_PONG_BYTES = 64;
/** SandboxFusion's own path, and the one under which gpu-backend/proxy shows it. */
const PATHS = ['/v1/ping', '/health'] as const;

/** Why the sandbox is not there; `null` if it answers as one. Never rejects. */
export async function probeSandbox(config: SandboxConfig, transport: Transport): Promise<JudgeFailure | null> {
  const result = await withDeadline(PROBE_DEADLINE_MS, async (signal) => {
    let fault: SandboxFault | null = null;
    for (const path of PATHS) {
      fault = await ping(`${config.base_url}${path}`, config, transport, signal);
      if (fault !== 'refused') break;
    }
    return fault;
  });
  const fault = result.expired ? 'timed_out' : result.value;
  return fault === null ? null : sandboxFailure(fault);
}

async function ping(
  url: string,
  config: SandboxConfig,
  transport: Transport,
  signal: AbortSignal,
): Promise<SandboxFault | null> {
  let response: Response;
  try {
    response = await transport(url, { headers: credentials(config), redirect: 'manual', signal });
  } catch {
    return signal.aborted ? 'timed_out' : 'unreachable';
  }
  if (response.status !== 200) return sandboxFaultOfStatus(response.status);
  try {
    const text = await readText(response.body, MAX_PONG_BYTES);
    return text !== null && ['pong', '"pong"'].includes(text.trim()) ? null : 'not_an_api';
  } catch (error) {
    if (!(error instanceof BrokenBodyError)) throw error;
    return signal.aborted ? 'timed_out' : 'broke_off';
  }
}
