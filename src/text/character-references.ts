/**
 * Decodes characters that a web page's conversion left encoded: HTML character references (`&eacute;`, `&#8217;`, and
 * `&amp;nbsp;`, escaped twice), and UTF-8 that was read as Windows-1252 (`â€™`).
 */

/** The characters of Windows-1252 from 0x80 to 0x9f; the five that it lacks stay as they are. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Maps a C1 control, which no text contains, to the character that Windows-1252 has under its code. */
export function windows1252(code: number): number {
  return code >= 0x80 && code <= 0x9f ? WINDOWS_1252.charCodeAt(code - 0x80) : code;
}

type Decoded = { readonly text: string; readonly end: number };

/** The characters whose encoded form begins at `at`, and where it ends; `null` if none does. Bounded look-ahead. */
export function decodedAt(text: string, at: number): Decoded | null {
  switch (text.charAt(at)) {
    case '&':
      return referenceAt(text, at);
    case 'Â':
    case 'Ã':
    case 'â':
      return misreadAt(text, at);
    default:
      return null;
  }
}

const REFERENCE = /(?:amp;)*(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}[0-9]{0,2});/iy;
const AMPERSANDS = /(?:amp;)+/y;

function referenceAt(text: string, at: number): Decoded | null {
  REFERENCE.lastIndex = at + 1;
  const name = REFERENCE.exec(text)?.[1];
  const decoded = name === undefined ? null : charactersOf(name);
  if (decoded !== null) return { text: decoded, end: REFERENCE.lastIndex };
  AMPERSANDS.lastIndex = at + 1;
  return AMPERSANDS.test(text) ? { text: '&', end: AMPERSANDS.lastIndex } : null;
}

function charactersOf(name: string): string | null {
  if (name.startsWith('#')) {
    const digits = name.slice(1);
    const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(windows1252(code)) : null;
  }
  const known = NAMED.get(name);
  if (known !== undefined) return known;
  const accent = ACCENTS.get(name.slice(1));
  return accent === undefined ? null : name.charAt(0) + accent;
}

/** Combining marks by the end of a name: `eacute` is `e` with U+0301. */
const ACCENTS: ReadonlyMap<string, string> = new Map([
  ['grave', '\u0300'],
  ['acute', '\u0301'],
  ['circ', '\u0302'],
  ['tilde', '\u0303'],
  ['uml', '\u0308'],
  ['ring', '\u030a'],
  ['caron', '\u030c'],
  ['cedil', '\u0327'],
]);

const GREEK =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon ' +
  'phi chi psi omega';

/** Names and characters of common references, from the HTML standard's list. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ...(
    'amp & lt < gt > quot " apos \' ndash – mdash — hyphen ‐ lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ laquo « ' +
    'raquo » lsaquo ‹ rsaquo › hellip … bull • middot · prime ′ Prime ″ euro € pound £ yen ¥ cent ¢ copy © reg ® trade ™ ' +
    'sect § para ¶ deg ° plusmn ± minus − times × divide ÷ frac12 ½ frac14 ¼ frac34 ¾ frasl ⁄ sup1 ¹ sup2 ² sup3 ³ ' +
    'micro µ ordf ª ordm º iexcl ¡ iquest ¿ szlig ß aelig æ AElig Æ oelig œ OElig Œ oslash ø Oslash Ø eth ð thorn þ ' +
    'le ≤ ge ≥ ne ≠ asymp ≈ infin ∞ permil ‰ dagger † Dagger ‡ num # lsqb [ rsqb ] lbrack [ rbrack ] lowbar _ vert | ' +
    'verbar | ast * lpar ( rpar ) comma , period . colon : semi ; excl ! quest ? sol / bsol \\ equals = plus + percnt % ' +
    'dollar $ commat @ grave `'
  )
    .split(' ')
    .reduce<[string, string][]>((pairs, word, n, words) => {
      if (n % 2 === 0) pairs.push([word, words[n + 1] ?? '']);
      return pairs;
    }, []),
  ...GREEK.split(' ').map((name, n): [string, string] => [name, String.fromCharCode(0x3b1 + n)]),
  ...['nbsp', 'ensp', 'emsp', 'thinsp', 'numsp', 'puncsp', 'hairsp', 'Tab', 'NewLine'].map((name): [string, string] => [
    name,
    ' ',
  ]),
  ...['shy', 'zwnj', 'zwj', 'lrm', 'rlm'].map((name): [string, string] => [name, '\u200b']),
]);

/**
 * UTF-8 that was read as Windows-1252 or Latin-1: `Â` and `Ã` with a second byte, `â€` with a third. Other first bytes
 * also occur in honest text: `é` before a no-break space and `»`.
 */
function misreadAt(text: string, at: number): Decoded | null {
  const second = byteOf(text.charCodeAt(at + 1));
  if (second === -1) return null;
  const first = text.charCodeAt(at);
  if (first !== 0xe2) return { text: String.fromCharCode(((first & 0x1f) << 6) | (second & 0x3f)), end: at + 2 };
  const third = second === 0x80 ? byteOf(text.charCodeAt(at + 2)) : -1;
  return third === -1 ? null : { text: String.fromCharCode(0x2000 | (third & 0x3f)), end: at + 3 };
}

/** The continuation byte that Windows-1252 shows as this unit; -1 if it shows none so. */
function byteOf(code: number): number {
  if (code >= 0x80 && code <= 0xbf) return code;
  const at = code > 0xff ? WINDOWS_1252.indexOf(String.fromCharCode(code)) : -1;
  return at === -1 ? -1 : 0x80 + at;
}
