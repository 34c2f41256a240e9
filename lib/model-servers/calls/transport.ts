/**
 * Sends one request to a server and reads the headers of its reply. The public internet, a Workers VPC service and a
 * test double share the type `Transport`. A transport never retries; only the router does.
 */

export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** Connects over the public internet, or to a server on this machine. */
export const publicTransport: Transport = (url, init) => fetch(url, init);

/** Returns the media type of a reply in lower case, without parameters; empty if the header is missing. */
export function mediaType(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';', 1).join('').trim().toLowerCase();
}

/** Longer values of `Retry-After` are shortened to this. */
const MAX_RETRY_AFTER_S = 3_600;

/**
 * Reads `Retry-After` (seconds or an HTTP date) or `retry-after-ms`. Returns seconds, at most 3,600; `null` if there is
 * none.
 * @param now_ms the time now in milliseconds since 1970, for HTTP dates.
 */
export function retryAfterSeconds(headers: Headers, now_ms: number): number | null {
  const milliseconds = numberOf(headers.get('retry-after-ms'));
  if (milliseconds !== null) return bounded(milliseconds / 1000);
  const text = headers.get('retry-after');
  const seconds = numberOf(text);
  if (seconds !== null) return bounded(seconds);
  // `Date.parse` accepts many other texts; an HTTP date starts with a weekday.
  const date = text !== null && /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : bounded((date - now_ms) / 1000);
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function bounded(seconds: number): number {
  return Math.min(MAX_RETRY_AFTER_S, Math.max(0, seconds));
}
