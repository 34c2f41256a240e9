/**
 * The client of a sandbox server: runs code (`POST /run_code`), retries, and checks the server. The outcome of a call
 * is a complete reply or a typed failure. The caller limits the time with a signal.
 */

import { withDeadline } from '../../../lib/model-servers/calls/deadline.ts';
import { BrokenBodyError, readText } from '../../../lib/model-servers/calls/response-body.ts';
import type { RouterClock } from '../../../lib/model-servers/calls/router.ts';
import { credentials, type ServerConfig } from '../../../lib/model-servers/calls/server-address.ts';
import { mediaType, retryAfterSeconds, type Transport } from '../../../lib/model-servers/calls/transport.ts';
import { parsedJson } from '../../../src/json.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import { type CodeRunReply, type RunCode, runReplySchema } from '../../../src/judgments/sandbox/run-code.ts';
import type { Failed } from '../../../src/result.ts';
import { type SandboxFault, sandboxFailure, sandboxFaultOfStatus } from './sandbox-failures.ts';

/** A server with SandboxFusion's API. */
export type SandboxConfig = ServerConfig & {
  readonly name: string;
  /** The operator's name of the runtime (interpreter, library versions). It is the model in the judge's identity. */
  readonly runtime: string;
  /** Concurrent judgments. Each judgment runs a few programs in parallel. */
  readonly slots: number;
};

export type SandboxClock = RouterClock & {
  /** Milliseconds since 1970, for dates in `Retry-After`. */
  readonly date: () => number;
};

/** SandboxFusion keeps 1 MiB of each output, and JSON may encode one byte as six. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

type RunOutcome = { readonly ok: true; readonly reply: CodeRunReply } | Failed<JudgeFailure>;

/** Runs code once, without a retry. @param now_ms the wall clock, for dates in `Retry-After`. */
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
    // The error is dropped, because it names internal hosts and ports.
    return failedBy(signal.aborted ? 'timed_out' : 'unreachable');
  }
  const { status, headers } = response;
  // Error bodies are not read, because they quote the program.
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
  const value = parsedJson(text);
  if (value === undefined) return failedBy('broke_off');
  const parsed = runReplySchema.safeParse(value);
  return parsed.success ? { ok: true, reply: parsed.data } : failedBy('reply_malformed');
}

function failedBy(fault: SandboxFault, retry_after_s: number | null = null): RunOutcome {
  return { ok: false, failure: sandboxFailure(fault, retry_after_s) };
}

/** Attempts per run. */
export const MAX_RUN_ATTEMPTS = 3;
/** The wait before the n-th retry is random between 0 and this value, doubled each time. */
const BACKOFF_BASE_MS = 500;
/** `withRetries` starts no retry with less time than this until the deadline. */
const MIN_ATTEMPT_MS = 500;

type Tried = { readonly ok: true } | Failed<JudgeFailure>;

/**
 * Runs `attempt`, and retries it with full jitter until it succeeds, fails permanently or has run MAX_RUN_ATTEMPTS
 * times. A wait is at least as long as `Retry-After`, and no retry starts with less than MIN_ATTEMPT_MS until the
 * deadline. Returns the last outcome. Runs have no side effects, so they may be repeated.
 * @param end returns the deadline, as a time of `clock.now`; asked after each attempt.
 */
export async function withRetries<T extends Tried>(
  attempt: () => Promise<T>,
  end: () => number,
  clock: RouterClock,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    const outcome = await attempt();
    if (outcome.ok || !outcome.failure.retryable || retry + 1 >= MAX_RUN_ATTEMPTS) return outcome;
    const wait = (outcome.failure.retry_after_s ?? 0) * 1000 + clock.random() * BACKOFF_BASE_MS * 2 ** retry;
    if (clock.now() + wait + MIN_ATTEMPT_MS > end()) return outcome;
    await clock.sleep(wait);
  }
}

const PROBE_DEADLINE_MS = 5_000;
const MAX_PONG_BYTES = 64;
/** SandboxFusion's own path, and its path behind gpu-backend/proxy. */
const PATHS = ['/v1/ping', '/health'] as const;

/** Pings the sandbox without running code. Returns the failure, or `null` if it answers. Never rejects. */
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
