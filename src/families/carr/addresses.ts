/**
 * The addresses that an answer cites, and when two addresses are one page. Links are read with balanced parentheses,
 * line by line: `[text](address)`, also in double brackets and lists (`[[0](a), [1](b)]`, full-width separators
 * included), wherever they stand, references included. A numbered note that gives a bare address (`[3]: https://…`,
 * `3. https://…`) counts if its number stands in brackets elsewhere. Linear in the answer.
 */

const READERS = ['https://r.jina.ai/', 'http://r.jina.ai/', 'view-source:'];
const HTTP = /^https?:\/\//i;
/** Longest address that is read: browsers and servers take some 2,000 characters. */
const MAX_ADDRESS_CHARS = 2_048;
/** How the target of a link begins, if it can be an address. */
const TARGET = /^(?:https?:|view-source:)/i;
const LONGEST_TARGET_START = 12;
const NOTE = /^[ \t]*(?:[-*][ \t]+)?(?:\[\^?(?<bracketed>[0-9]+)\]:?|(?<listed>[0-9]+)[.)])[ \t]/;
const MARK = /\[\^?([0-9]+)\](?![(:])/g;

/** The cited addresses in order of appearance, each page once, as written in its first citation. */
export function citedAddresses(answer: string): string[] {
  const cited = new Map<string, string>();
  const add = (address: string): void => {
    const key = addressKey(address);
    if (!cited.has(key)) cited.set(key, withoutReaders(address));
  };
  const marks = new Map<string, number>();
  for (const [, number = ''] of answer.matchAll(MARK)) marks.set(number, (marks.get(number) ?? 0) + 1);
  for (const line of answer.split('\n')) {
    const links = linksIn(line);
    for (const link of links) add(link);
    const note = NOTE.exec(line);
    if (note === null || links.length > 0) continue;
    const { bracketed, listed } = note.groups ?? {};
    // The note's own brackets are one mark, unless a colon follows them.
    const own = bracketed !== undefined && !note[0].includes(':') ? 1 : 0;
    if ((marks.get(bracketed ?? listed ?? '') ?? 0) <= own) continue;
    const bare = bareAddress(line, note[0].length);
    if (bare !== null) add(bare);
  }
  return [...cited.values()];
}

/** The targets of the Markdown links of a line. */
function linksIn(line: string): string[] {
  const links: string[] = [];
  for (let at = line.indexOf(']('); at !== -1; at = line.indexOf('](', at + 2)) {
    const start = line.charAt(at + 2) === '<' ? at + 3 : at + 2;
    if (!TARGET.test(line.slice(start, start + LONGEST_TARGET_START))) continue;
    const end = addressEnd(line, start);
    const address = line.slice(start, end);
    if (end < line.length && HTTP.test(withoutReaders(address))) {
      links.push(address);
      at = end - 2;
    }
  }
  return links;
}

/**
 * Where an address ends: at white space, `>`, or the parenthesis that closes the link. The length of the line if another
 * link begins before, or the address is too long.
 */
function addressEnd(line: string, start: number): number {
  let depth = 0;
  const limit = Math.min(line.length, start + MAX_ADDRESS_CHARS);
  for (let i = start; i < limit; i++) {
    const unit = line.charAt(i);
    if (unit === '[') break;
    if (unit === '(') depth++;
    else if (unit === ')' && depth-- === 0) return i;
    else if (unit === '>' || unit.trim() === '') return i;
  }
  return line.length;
}

const TRAILING = /[.,;:!?)\]>"'。，；）】》]$/;

function bareAddress(line: string, from: number): string | null {
  const at = line.indexOf('http', from);
  if (at === -1) return null;
  let end = at;
  while (end < line.length && line.charAt(end).trim() !== '') end++;
  while (end > at && TRAILING.test(line.charAt(end - 1))) end--;
  const address = line.slice(at, end);
  return HTTP.test(address) ? address : null;
}

function withoutReaders(address: string): string {
  let bare = address;
  for (let found = true; found; ) {
    const prefix = READERS.find((reader) => bare.startsWith(reader));
    found = prefix !== undefined;
    bare = bare.slice(prefix?.length ?? 0);
  }
  return bare;
}

/**
 * Equal for addresses of one page: without the prefixes of readers, the scheme, the fragment, a default port and a slash
 * at the end; the host in lower case.
 */
export function addressKey(address: string): string {
  const bare = withoutReaders(address.trim());
  const [whole = ''] = bare.split('#', 1);
  const rest = whole.replace(HTTP, '');
  const slash = rest.search(/[/?]/);
  const host = (slash === -1 ? rest : rest.slice(0, slash)).toLowerCase().replace(/:(?:80|443)$/, '');
  const path = slash === -1 ? '' : rest.slice(slash);
  return host + (path.endsWith('/') ? path.slice(0, -1) : path);
}
