/**
 * How a request reaches a server: the public internet or a Workers VPC service. One function type, so that both, and a
 * test's double, share one code path. Nothing here retries: retries live in the router alone.
 */

export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** By public hostname, or a server on this machine. */
export const publicTransport: Transport = (url, init) => fetch(url, init);

/** The media type of a reply, in lower case and without parameters; empty if there is none. */
export function mediaType(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';', 1).join('').trim().toLowerCase();
}

/** A server that asks for more than this is taken to be down for now; nobody waits a day for it. */
const MAX_RETRY_AFTER_S = 3_600;

/**
 * Seconds from `Retry-After` (seconds or an HTTP date) or `retry-after-ms`; `null` where neither can be read.
 * @param now_ms the time now, as dates are relative to it.
 */
export function retryAfterSeconds(headers: Headers, now_ms: number): number | null {
  const milliseconds = numberOf(headers.get('retry-after-ms'));
  if (milliseconds !== null) return bounded(milliseconds / 1000);
  const text = headers.get('retry-after');
  const seconds = numberOf(text);
  if (seconds !== null) return bounded(seconds);
  // `Date.parse` reads much that is no HTTP date; those begin with a weekday.
  const date = text !== null && /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : bounded((date - now_ms) / 1000);
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function bounded(seconds: number): number {
  return Math.min(MAX_RETRY_AFTER_S, Math.max(0, seconds));
}
