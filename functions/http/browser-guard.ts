/**
 * Keeps web pages away from servers that answer without a key. A page that a visitor opens can reach such a server in two
 * ways. By DNS rebinding, the name of its own site resolves to the server's address: then `Host` is that name. By a
 * request that needs no preflight, such as a form or a link: then the browser says where it came from, in `Origin` or
 * `Sec-Fetch-Site`. Programs that are no browsers send neither, and call a server by its address, `localhost`, or a name
 * of the setting ALLOWED_HOSTS.
 */
import { RequestError } from '../../service/failures.ts';
import type { Context } from './context.ts';

/** @throws RequestError if a web page of another site may have sent the request. */
export function refuseWebPages(c: Context): void {
  const host = hostOf(c.req.url);
  if (host === null || !(isAddress(host.hostname) || isOwnName(c, host.hostname))) {
    throw new RequestError({ reason: 'host_not_allowed' });
  }
  refuseForeignOrigins(c);
  if (c.req.header('origin') === undefined && c.req.header('sec-fetch-site') === 'cross-site') {
    throw new RequestError({ reason: 'origin_not_allowed' });
  }
}

/**
 * Refuses a request of a page whose origin is neither the server's own, nor on this machine, nor of ALLOWED_HOSTS. A
 * request without `Origin` passes. @throws RequestError
 */
export function refuseForeignOrigins(c: Context): void {
  const origin = c.req.header('origin');
  if (origin === undefined) return;
  const from = hostOf(origin);
  const own = hostOf(c.req.url);
  // The scheme is not compared: behind a proxy with TLS the server sees another one.
  if (from !== null && (from.host === own?.host || isLoopback(from.hostname) || isOwnName(c, from.hostname))) return;
  throw new RequestError({ reason: 'origin_not_allowed' });
}

/** The host of a URL or an origin; `null` = it has none, as `null` and malformed ones. */
function hostOf(url: string): URL | null {
  const parsed = URL.parse(url);
  return parsed === null || parsed.hostname === '' ? null : parsed;
}

function isOwnName(c: Context, hostname: string): boolean {
  return hostname === 'localhost' || c.get('settings').allowedHosts.has(hostname);
}

/** The parser of URLs writes every form of an IPv4 address in this one. */
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || IPV4.test(hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || (IPV4.test(hostname) && hostname.startsWith('127.'));
}
