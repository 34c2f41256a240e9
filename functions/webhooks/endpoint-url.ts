/**
 * Where deliveries may go. An admin names the URL, but the Worker makes the requests: whoever could point it at an
 * address of its network would look through its eyes. So names only, over TLS, at the two ports where receivers live. A
 * name that resolves to a private address is the resolver's to stop: `global_fetch_strictly_public` is set, and a Worker
 * has no private network. What the WHATWG parser makes of a host is judged, never its text: it turns every spelling of an
 * IPv4 address (decimal, octal, hexadecimal, full-width, percent-encoded) into the dotted one.
 */
import { MAX_WEBHOOK_URL_CHARS } from '../../src/limits.ts';

/** As the parser leaves them: the default port is empty. */
const PORTS: ReadonlySet<string> = new Set(['', '8443']);

const DOTTED_IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** Last labels that never name a public host (RFC 6761, RFC 6762, RFC 8375, and what private networks use). */
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

export type EndpointUrl =
  | { readonly ok: true; readonly url: string }
  /** What was expected; holds nothing of the text. */
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the URL of a receiver.
 * @param allowLoopback also `http://127.0.0.1` at any port: tests, and receivers under development.
 */
export function readEndpointUrl(text: string, allowLoopback: boolean): EndpointUrl {
  const problem = problemOf(text, allowLoopback);
  return problem === null ? { ok: true, url: new URL(text).href } : { ok: false, problem };
}

function problemOf(text: string, allowLoopback: boolean): string | null {
  if (text.length > MAX_WEBHOOK_URL_CHARS) return `expected at most ${MAX_WEBHOOK_URL_CHARS} characters`;
  // The parser would drop or mend these: what is registered should be what was sent.
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
