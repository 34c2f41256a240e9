/**
 * Decides where deliveries may go, to prevent server-side request forgery: an admin chooses the URL, but the Worker
 * sends the request. Allowed are public host names over TLS on port 443 or 8443. A public name may resolve to a private
 * address, so the sender connects to public addresses only. The checks read the host that the WHATWG parser returns,
 * because the parser turns every spelling of an IPv4 address (decimal, octal, hexadecimal, full-width, percent-encoded)
 * into the dotted form.
 */

import { MAX_WEBHOOK_URL_CHARS } from '../limits.ts';
import type { Failure, Result } from '../result.ts';

/** The parser returns an empty text for the default port. */
const PORTS: ReadonlySet<string> = new Set(['', '8443']);

const DOTTED_IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** Last labels that never name a public host (RFC 6761, RFC 6762, RFC 8375, and common names of private networks). */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set([
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'test',
  'invalid',
  'onion',
  'arpa',
]);

/** `isLoopback` = on this machine: the only address that need not be public. */
type EndpointUrl = { readonly url: string; readonly isLoopback: boolean };

/**
 * Reads and checks the URL of a receiver. An error describes what is wrong with the URL, without quoting it.
 * @param allowLoopback also accepts `http://127.0.0.1` on any port, for tests and local development.
 */
export function readEndpointUrl(text: string, allowLoopback: boolean): Result<EndpointUrl, string> {
  if (text.length > MAX_WEBHOOK_URL_CHARS) return refused(`expected at most ${MAX_WEBHOOK_URL_CHARS} characters`);
  // The parser would drop or repair these characters; the registered URL must be the one that was sent.
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return refused('expected an absolute URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return refused('expected no user info: requests are signed');
  if (text.includes('#')) return refused('expected no fragment');
  const isLoopback = allowLoopback && url.protocol === 'http:' && url.hostname === '127.0.0.1';
  const problem = isLoopback ? null : publicProblem(url);
  return problem === null ? { ok: true, value: { url: url.href, isLoopback } } : refused(problem);
}

function refused(problem: string): Failure<string> {
  return { ok: false, error: problem };
}

function publicProblem(url: URL): string | null {
  if (url.protocol !== 'https:') return 'expected an https URL';
  if (!PORTS.has(url.port)) return 'expected port 443 or 8443';
  return hostProblem(url.hostname);
}

function hostProblem(host: string): string | null {
  if (host.startsWith('[') || DOTTED_IPV4.test(host)) return 'expected a host name, not an IP address';
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (last === '' || labels.length < 2) return 'expected a public host name, with a dot in it and none at its end';
  return PRIVATE_SUFFIXES.has(last) ? 'expected a public host name' : null;
}
