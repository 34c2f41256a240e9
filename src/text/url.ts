/** Equality of web addresses, as citations need it: the same page under two spellings is one source. */

/** Prefixes of readers and browsers that name the page after them, in lower case. */
const READER_PREFIXES = ['view-source:', 'https://r.jina.ai/', 'http://r.jina.ai/'] as const;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * The normal form of a web address, or `null` if the text is none (http and https only). Two addresses with the same
 * normal form are one page. Removed or lower-cased: white space around it, prefixes of readers (`view-source:`,
 * `https://r.jina.ai/`), scheme and host case, the default port, slashes at the end of the path, and the fragment.
 * Query, path case and percent-encoding are kept, because servers distinguish them.
 *
 * Linear, and independent of ICU: letters outside ASCII are compared as written.
 *
 * @example
 * normalisedUrl('view-source:HTTPS://Example.com:443/a/#top'); // 'https://example.com/a'
 */
export function normalisedUrl(text: string): string | null {
  const address = withoutReaders(text.trim());
  const schemeEnd = address.indexOf('://');
  if (schemeEnd === -1 || schemeEnd > 'https'.length) return null;
  const scheme = lowerAscii(address.slice(0, schemeEnd));
  const defaultPort = Object.hasOwn(DEFAULT_PORTS, scheme) ? DEFAULT_PORTS[scheme] : undefined;
  if (defaultPort === undefined) return null;
  const start = schemeEnd + '://'.length;
  const fragment = address.indexOf('#', start);
  const end = fragment === -1 ? address.length : fragment;
  let hostEnd = start;
  while (hostEnd < end && address.charAt(hostEnd) !== '/' && address.charAt(hostEnd) !== '?') hostEnd++;
  const host = hostOf(address.slice(start, hostEnd), defaultPort);
  if (host === '') return null;
  const query = address.indexOf('?', hostEnd);
  const queryStart = query === -1 || query > end ? end : query;
  let pathEnd = queryStart;
  while (pathEnd > hostEnd && address.charAt(pathEnd - 1) === '/') pathEnd--;
  return `${scheme}://${host}${address.slice(hostEnd, pathEnd)}${address.slice(queryStart, end)}`;
}

/**
 * The same text for all addresses of one page, whichever scheme they have: the normal form without its scheme. A text
 * that is no web address is its own key.
 *
 * @example
 * pageKey('http://example.com/a/') === pageKey('https://Example.com/a'); // true
 */
export function pageKey(address: string): string {
  const normal = normalisedUrl(address);
  return normal === null ? address : normal.slice(normal.indexOf('://') + '://'.length);
}

/** Removes the prefixes of readers. They can occur more than once; only an address after them counts as a page. */
export function withoutReaders(address: string): string {
  let from = 0;
  for (;;) {
    const prefix = READER_PREFIXES.find(
      (one) => lowerAscii(address.slice(from, from + one.length)) === one && hasScheme(address, from + one.length),
    );
    if (prefix === undefined) return address.slice(from);
    from += prefix.length;
  }
}

function hasScheme(address: string, at: number): boolean {
  const next = lowerAscii(address.slice(at, at + 'view-source:'.length));
  return next.startsWith('http://') || next.startsWith('https://') || next === 'view-source:';
}

/** The host in lower case, without the default port; user names and other ports are kept. */
function hostOf(authority: string, defaultPort: string): string {
  const at = authority.lastIndexOf('@') + 1;
  let bare = lowerAscii(authority.slice(at));
  // Repeated, so that the normal form of a malformed address is its own normal form, too.
  for (;;) {
    const colon = bare.lastIndexOf(':');
    const port = colon === -1 || bare.indexOf(']', colon) !== -1 ? null : bare.slice(colon + 1);
    if (port !== '' && port !== defaultPort) break;
    bare = bare.slice(0, colon);
  }
  return bare === '' ? '' : authority.slice(0, at) + bare;
}

/** `toLowerCase` maps letters outside ASCII by Unicode tables, which change; this maps A to Z only. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
