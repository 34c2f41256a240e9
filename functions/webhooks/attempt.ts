/**
 * One attempt to deliver: a signed POST, and what became of it. Delivered is a 2xx whose whole reply came in time; what
 * a receiver says beyond its status is read and thrown away, and nothing of it is kept or logged.
 */

import { withDeadline } from '../../lib/model-servers/calls/deadline.ts';
import { retryAfterSeconds } from '../../lib/model-servers/calls/transport.ts';
import { DELIVERY_TIMEOUT_MS, MAX_DELIVERY_REPLY_BYTES } from '../../src/limits.ts';
import { readEndpointUrl } from './endpoint-url.ts';
import { signatureHeader } from './signature.ts';

/** Why an attempt failed. */
export type AttemptReason =
  | 'timeout'
  | 'unreachable'
  | 'interrupted'
  | 'too_long'
  | 'redirect'
  /** 410: the receiver wants nothing more, ever. */
  | 'gone'
  | `status_${number}`
  /** The endpoint's URL is not one that this deployment would register now. */
  | 'url_refused'
  /** A bug of ours; the log says where. */
  | 'internal';

export type Attempt = {
  /** `null` = delivered. */
  readonly reason: AttemptReason | null;
  /** Of the reply; `null` where none came. */
  readonly status: number | null;
  /** When the receiver wants to be asked again, in seconds from then. */
  readonly retry_after_s: number | null;
  /** When it began, in milliseconds since 1970, and how long it took. */
  readonly at_ms: number;
  readonly duration_ms: number;
};

export type Outgoing = {
  readonly url: string;
  /** The `webhook-id`: the same for every attempt of a message. */
  readonly id: string;
  readonly body: Uint8Array;
  /** All that are valid now: one signature each. */
  readonly secrets: readonly Uint8Array[];
  readonly allowLoopback: boolean;
};

type Result = Pick<Attempt, 'reason' | 'status' | 'retry_after_s'>;

/** Sends a message once. */
export async function attemptDelivery(outgoing: Outgoing): Promise<Attempt> {
  const at_ms = Date.now();
  const result = await resultOf(outgoing, Math.floor(at_ms / 1000));
  return { ...result, at_ms, duration_ms: Date.now() - at_ms };
}

async function resultOf(outgoing: Outgoing, timestamp: number): Promise<Result> {
  const { url, id, body, secrets, allowLoopback } = outgoing;
  // Checked again: what may be registered can have changed since.
  if (!readEndpointUrl(url, allowLoopback).ok) return failed('url_refused');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'citeward-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': await signatureHeader(id, timestamp, body, secrets),
  };
  let status: number | null = null;
  const done = await withDeadline(DELIVERY_TIMEOUT_MS, async (signal) => {
    const response = await answerTo(url, { method: 'POST', redirect: 'manual', headers, body, signal });
    if (response === null) return failed('unreachable');
    status = response.status;
    const reason = response.ok ? await discardReply(response) : reasonOfStatus(status);
    return { reason, status, retry_after_s: retryAfterSeconds(response.headers, Date.now()) };
  });
  return done.expired ? { ...failed('timeout'), status } : done.value;
}

async function answerTo(url: string, init: RequestInit): Promise<Response | null> {
  try {
    return await fetch(url, init);
  } catch {
    // The error says no more than that no reply came, and may quote the URL.
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

/** Reads the reply to its end. `null` = it ended well. */
async function discardReply({ body }: Response): Promise<AttemptReason | null> {
  if (body === null) return null;
  const reader = body.getReader();
  let bytes = 0;
  for (;;) {
    const chunk = await readChunk(reader);
    if (chunk === 'interrupted') return 'interrupted';
    if (chunk === null) return null;
    bytes += chunk.byteLength;
    // What is left is dropped with the connection, as the deadline's signal is aborted once the work is done.
    if (bytes > MAX_DELIVERY_REPLY_BYTES) return 'too_long';
  }
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null | 'interrupted'> {
  try {
    const { done, value } = await reader.read();
    return done ? null : value;
  } catch {
    // Reading fails only when the connection does.
    return 'interrupted';
  }
}
