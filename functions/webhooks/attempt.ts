/**
 * Sends one signed POST and classifies the result. A delivery succeeds when the receiver sends a 2xx and its whole
 * reply within the timeout. The body of the reply is read and discarded: nothing of it is stored or logged.
 */

import { withDeadline } from '../../lib/model-servers/calls/deadline.ts';
import { retryAfterSeconds } from '../../lib/model-servers/calls/transport.ts';
import { traceHeaders } from '../../service/trace-context.ts';
import { readEndpointUrl } from '../../src/wire/webhook-url.ts';
import type { ATTEMPT_REASONS } from '../../src/wire/webhooks-reply.ts';
import { signatureHeader } from './signature.ts';

/** A receiver has this long for its whole reply. */
const DELIVERY_TIMEOUT_MS = 15_000;
/** A longer reply is a failed attempt. */
const MAX_DELIVERY_REPLY_BYTES = 64 * 1024;

/** Why an attempt failed. */
type AttemptReason = (typeof ATTEMPT_REASONS)[number] | `status_${number}`;

export type Attempt = {
  /** `null` = delivered. */
  readonly reason: AttemptReason | null;
  /** HTTP status of the reply; `null` if no reply arrived. */
  readonly status: number | null;
  /** `Retry-After` of the receiver in seconds; `null` = none. */
  readonly retry_after_s: number | null;
  /** Start in milliseconds since 1970, and duration. */
  readonly at_ms: number;
  readonly duration_ms: number;
};

type Outgoing = {
  readonly url: string;
  /** The `webhook-id`. Every attempt of a message has the same one. */
  readonly id: string;
  readonly body: Uint8Array;
  /** The secrets that are valid now. The request carries one signature per secret. */
  readonly secrets: readonly Uint8Array[];
  readonly allowLoopback: boolean;
  /** Reaches public addresses only. The global fetch does so on the platform, but not under `citeward serve`. */
  readonly publicNetwork: Network;
};

type Network = Pick<Fetcher, 'fetch'>;

export const GLOBAL_NETWORK: Network = { fetch: (url, init) => fetch(url, init) };

type Result = Pick<Attempt, 'reason' | 'status' | 'retry_after_s'>;

/** Sends a message once. Never rejects for a failure of the receiver. @param timeoutMs time for the whole reply. */
export async function attemptDelivery(outgoing: Outgoing, timeoutMs = DELIVERY_TIMEOUT_MS): Promise<Attempt> {
  const at_ms = Date.now();
  const result = await resultOf(outgoing, Math.floor(at_ms / 1000), timeoutMs);
  return { ...result, at_ms, duration_ms: Date.now() - at_ms };
}

async function resultOf(outgoing: Outgoing, timestamp: number, timeoutMs: number): Promise<Result> {
  const { id, body, secrets, allowLoopback, publicNetwork } = outgoing;
  // The rules for URLs may have changed since the registration.
  const read = readEndpointUrl(outgoing.url, allowLoopback);
  if (!read.ok) return failed('url_refused');
  const network = read.value.isLoopback ? GLOBAL_NETWORK : publicNetwork;
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'citeward-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': await signatureHeader(id, timestamp, body, secrets),
    ...traceHeaders(),
  };
  let status: number | null = null;
  const done = await withDeadline(timeoutMs, async (signal) => {
    const response = await answerTo(network, read.value.url, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body,
      signal,
    });
    if (response === null) return failed('unreachable');
    status = response.status;
    const reason = response.ok ? await discardReply(response) : reasonOfStatus(status);
    return { reason, status, retry_after_s: retryAfterSeconds(response.headers, Date.now()) };
  });
  return done.expired ? { ...failed('timeout'), status } : done.value;
}

async function answerTo(network: Network, url: string, init: RequestInit): Promise<Response | null> {
  try {
    return await network.fetch(url, init);
  } catch {
    // The error is dropped, because its message may quote the URL.
    return null;
  }
}

function failed(reason: AttemptReason): Result {
  return { reason, status: null, retry_after_s: null };
}

function reasonOfStatus(status: number): AttemptReason {
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : `status_${status}`;
}

/** Reads the reply to its end. Returns `null` if it ended normally. */
async function discardReply({ body }: Response): Promise<AttemptReason | null> {
  if (body === null) return null;
  const reader = body.getReader();
  let bytes = 0;
  for (;;) {
    const chunk = await readChunk(reader);
    if (chunk === 'interrupted') return 'interrupted';
    if (chunk === null) return null;
    bytes += chunk.byteLength;
    // `withDeadline` aborts its signal when the work returns, which closes the connection.
    if (bytes > MAX_DELIVERY_REPLY_BYTES) return 'too_long';
  }
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null | 'interrupted'> {
  try {
    const { done, value } = await reader.read();
    return done ? null : value;
  } catch {
    // A read fails only when the connection fails.
    return 'interrupted';
  }
}
