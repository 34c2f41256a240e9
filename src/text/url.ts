/** Equality of web addresses, as citations need it: the same page under two spellings is one source. */

/** Prefixes of readers and browsers that name the page after them, in lower case. */
const READER_PREFIXES = ['view-source:', 'https://r.jina.ai/', 'http://r.jina.ai/'] as const;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * The normal form of a web address, or `null` if the text is none (http and https only). Two addresses with the same
 * normal form are one page. Removed or lower-cased: white space around it, prefixes of readers (`view-source:`,
 * `https://r.jina.ai/`), scheme and host case, the default port, slashes at the end of the path, and the fragment, unless
 * it is the route of a page (`#/users`, `#!/users`). Query, path case and percent-encoding are kept, because servers
 * distinguish them.
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
  return `${scheme}://${host}${address.slice(hostEnd, pathEnd)}${address.slice(queryStart, end)}${routeAt(address, end)}`;
}

/** The fragment at `at` if it is the route of a page, without a text fragment (`:~:text=…`) and slashes at its end. */
function routeAt(address: string, at: number): string {
  const mark = address.charAt(at + 1);
  if (mark !== '/' && mark !== '!') return '';
  const directive = address.indexOf(':~:', at);
  let end = directive === -1 ? address.length : directive;
  while (end > at && '/!#'.includes(address.charAt(end - 1))) end--;
  return address.slice(at, end);
}

/**
 * The same text for all spellings of one page's address: the normal form without scheme, `www.` and tracking
 * parameters, user names and dots in the path, with one spelling of percent signs, of `&amp;` and of international hosts. A DOI and a paper of arXiv
 * have one key in all their forms (`10.1000/x`, `doi:`, `dx.doi.org`; `/abs`, `/pdf`, `/html`, `arXiv:`), as pages of
 * Wikimedia have on their mobile hosts, and videos of YouTube. A text that is no web address is its own key. What a site may answer differently
 * stays apart: path case, the order of parameters, `ref`, file names, versions of a paper.
 *
 * @example
 * pageKey('http://www.example.com/a/?utm_source=x') === pageKey('https://Example.com/a'); // true
 */
export function pageKey(address: string): string {
  return keyOfPage(address) ?? address;
}

/**
 * The key of the page that a text names, or `null` if the text names none. International hosts follow the UTS 46 of the
 * platform.
 */
export function keyOfPage(address: string): string | null {
  const named = addressOfName(address);
  const written = named ?? address;
  const asked = written.indexOf('?');
  const normal = normalisedUrl(
    asked === -1 ? written : written.slice(0, asked) + written.slice(asked).replace(ESCAPED_AND, '&'),
  );
  if (normal === null) return null;
  const start = normal.indexOf('://') + '://'.length;
  let hostEnd = start;
  while (hostEnd < normal.length && !'/?#'.includes(normal.charAt(hostEnd))) hostEnd++;
  const fragment = normal.indexOf('#', hostEnd);
  const end = fragment === -1 ? normal.length : fragment;
  const query = normal.slice(0, end).indexOf('?', hostEnd);
  const host = pageHost(normal.slice(start, hostEnd));
  const path = withoutDots(oneSpelling(normal.slice(hostEnd, query === -1 ? end : query)));
  const rest = query === -1 ? '' : oneSpelling(withoutTracking(normal.slice(query + 1, end))).replace(ESCAPED_AND, '&');
  const page = videoPage(host, path, rest) ?? pageOn(host, path) + (rest === '' ? '' : `?${rest}`);
  return showsWholePage(page) ? page : page + oneSpelling(normal.slice(end));
}

/** Whether the routes behind `#` show the same page: a picture of a wiki's page, or anything of a work. */
function showsWholePage(page: string): boolean {
  return /^(?:doi\.org\/10\.|arxiv\.org\/abs\/|[a-z-]+\.wik[a-z]+\.org\/)/.test(page);
}

/** The `&` of an address that was copied from HTML. */
const ESCAPED_AND = /&(?:amp;|#38;|#x26;)+/gi;

/** Names of works and the pages that show them, in lower case. */
const NAMED_PAGES: readonly (readonly [string, string])[] = [
  ['doi:', 'https://doi.org/'],
  ['arxiv:', 'https://arxiv.org/abs/'],
];

/** A DOI without `doi:`, or with a site of DOIs and no scheme. */
const BARE_DOI = /^(?:doi\s+|(?:https?:)?(?:\/\/)?(?:dx\.)?doi\.org\/)?(?=10\.\d{4,9}\/\S)/i;

/** `doi:10.1000/x` → its address; `null` for other texts. */
function addressOfName(text: string): string | null {
  const name = text.trim();
  const bare = BARE_DOI.exec(name);
  if (bare !== null && !SPACE.test(name.slice(bare[0].length))) return `https://doi.org/${name.slice(bare[0].length)}`;
  if (WITHOUT_SCHEME.test(name) && !SPACE.test(name)) return `https://${name}`;
  for (const [prefix, site] of NAMED_PAGES) {
    if (lowerAscii(name.slice(0, prefix.length)) !== prefix) continue;
    const work = name.slice(prefix.length).trimStart();
    if (work !== '' && !work.includes('://')) return site + work;
  }
  return null;
}

const SPACE = /\s/;

/** An address whose scheme is left out: it says `www.`, or is a path of arXiv. */
const WITHOUT_SCHEME = /^(?:www\.[^\s/.:@]+\.[^\s:@]|arxiv\.org\/(?:abs|pdf|html)\/)/i;

/** Sites that show the papers of arXiv. */
const ARXIV = new Set(['arxiv.org', 'export.arxiv.org', 'ar5iv.org', 'ar5iv.labs.arxiv.org']);
const ARXIV_PATH = /^\/(?:(?:abs|html)\/(.+)|pdf\/(.+?)(?:\.pdf)?)$/;
/** The DOI of a paper of arXiv. */
const ARXIV_DOI = '/10.48550/arxiv.';
/** The mobile hosts of Wikimedia show the same pages. */
const MOBILE_WIKI = /^([a-z-]+)\.m\.(wik[a-z]+\.org)$/;

const VIDEO_HOST = /^(?:(?:m\.)?youtube(?:-nocookie)?\.com|youtu\.be)$/;
/** The id of a video in a path (of its short host, or as embedded), or in a query. */
const VIDEO_PATH = /^(?:youtu\.be|.*\/(?:embed|shorts|live|v))\/([\w-]{11})$/;
const VIDEO_QUERY = /(?:^|&)v=([\w-]{11})(?:&|$)/;

/** The page of a video of YouTube, whatever part or list of it an address asks for; `null` for any other page. */
function videoPage(host: string, path: string, query: string): string | null {
  if (!VIDEO_HOST.test(host)) return null;
  const id = path === '/watch' ? VIDEO_QUERY.exec(query)?.[1] : VIDEO_PATH.exec(host + path)?.[1];
  return id === undefined ? null : `youtu.be/${id}`;
}

/** Joins host and path; the pages of a DOI, of a paper of arXiv and of Wikimedia have one form. */
function pageOn(host: string, path: string): string {
  if ((host === 'doi.org' || host === 'dx.doi.org') && path.startsWith('/10.')) {
    const doi = lowerAscii(path);
    return doi.startsWith(ARXIV_DOI) ? `arxiv.org/abs/${doi.slice(ARXIV_DOI.length)}` : `doi.org${doi}`;
  }
  if (ARXIV.has(host)) {
    const found = ARXIV_PATH.exec(path);
    const paper = found?.[1] ?? found?.[2];
    // Before `.pdf` there may be a dot or slash, too.
    if (paper !== undefined) return `arxiv.org${withoutDots(`/abs/${lowerAscii(paper)}`)}`;
  }
  return (host.includes('.m.wik') ? host.replace(MOBILE_WIKI, '$1.$2') : host) + path;
}

/** Longest host (RFC 1035). A longer one is none, and stays as written. */
const MAX_HOST_CHARS = 253;

/**
 * The host without the name of a user and `www.`, as registrars write it (`xn--…`). One that no site may have stays as
 * written, and so does one with a backslash, which browsers take for a slash.
 */
function pageHost(authority: string): string {
  if (authority.includes('\\')) return authority;
  let host = authority.slice(authority.lastIndexOf('@') + 1);
  while (host.startsWith('www.') && host.indexOf('.', 'www.'.length) !== -1) host = host.slice('www.'.length);
  // The point of the root: example.com.
  if (/^[^:]*[^.:]\.$/.test(host)) host = host.slice(0, -1);
  if (!isAscii(host) && host.length <= MAX_HOST_CHARS && URL.canParse(`http://${host}`))
    host = new URL(`http://${host}`).host;
  return host;
}

/** A path without `.` and `..`, which browsers resolve, and slashes at its end. */
function withoutDots(path: string): string {
  if (!path.includes('/.') && !path.endsWith('/')) return path;
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part !== '..' && part !== '.') kept.push(part);
    else if (part === '..' && kept.length > 1) kept.pop();
  }
  let end = kept.length;
  while (end > 0 && kept[end - 1] === '') end--;
  return kept.slice(0, end).join('/');
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Parameters that say where a reader came from, in lower case. `utm_` and `hsa_` begin others. */
const TRACKING: ReadonlySet<string> = new Set([
  ...['gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'gad_source', 'srsltid', '_ga', '_gl'],
  ...['fbclid', 'msclkid', 'yclid', 'ysclid', 'ttclid', 'twclid', 'li_fat_id', 'igshid', 'igsh'],
  ...['mc_cid', 'mc_eid', 'mkt_tok', '_hsenc', '_hsmi', 'vero_id', 'wickedid', 'oly_anon_id', 'oly_enc_id'],
]);

function withoutTracking(query: string): string {
  return query
    .split('&')
    .filter((parameter) => !isTracking(parameter))
    .join('&');
}

function isTracking(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  const name = lowerAscii(equals === -1 ? parameter : parameter.slice(0, equals));
  return name.startsWith('utm_') || name.startsWith('hsa_') || TRACKING.has(name);
}

/** Characters that a percent sign need not hide (RFC 3986, 2.3, and the marks of RFC 2396). */
const PLAIN = /[A-Za-z0-9\-._~!'()*]/;

/** Writes percent signs in capitals and only where needed, and characters outside ASCII with them. */
function oneSpelling(text: string): string {
  const spelled = text.replace(/%[0-9A-Fa-f]{2}/g, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return PLAIN.test(character) ? character : escaped.toUpperCase();
  });
  return isAscii(spelled) ? spelled : spelled.toWellFormed().replace(/[^\0-\x7f]+/g, encodeURIComponent);
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
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
}
