/**
 * Decides where deliveries may go, to prevent server-side request forgery: an admin chooses the URL, but the Worker
 * sends the request. Allowed are public host names over TLS on port 443 or 8443. A name that resolves to a private
 * address is stopped by `global_fetch_strictly_public`, and a Worker has no private network. The checks read the host
 * that the WHATWG parser returns, because the parser turns every spelling of an IPv4 address (decimal, octal,
 * hexadecimal, full-width, percent-encoded) into the dotted form.
 */
import { MAX_WEBHOOK_URL_CHARS } from '../../src/limits.ts';

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

type EndpointUrl =
  | { readonly ok: true; readonly url: string }
  /** Describes what is wrong with the URL, without quoting it. */
  | { readonly ok: false; readonly problem: string };

/**
 * Reads and checks the URL of a receiver.
 * @param allowLoopback also accepts `http://127.0.0.1` on any port, for tests and local development.
 */
export function readEndpointUrl(text: string, allowLoopback: boolean): EndpointUrl {
  const problem = problemOf(text, allowLoopback);
  return problem === null ? { ok: true, url: new URL(text).href } : { ok: false, problem };
}

function problemOf(text: string, allowLoopback: boolean): string | null {
  if (text.length > MAX_WEBHOOK_URL_CHARS) return `expected at most ${MAX_WEBHOOK_URL_CHARS} characters`;
  // The parser would drop or repair these characters; the registered URL must be the one that was sent.
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return 'expected an absolute URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'expected no user info: requests are signed';
  if (text.includes('#')) return 'expected no fragment';
  if (allowLoopback && url.protocol === 'http:' && url.hostname === '127.0.0.1') return null;
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
