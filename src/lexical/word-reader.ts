import { BYTE_ROLES, FIRST_LETTER, PLAIN_MARK, POINT } from './byte-roles.ts';
import { HASH_FACTOR, HASH_SEED } from './token-hash.ts';
import type { TokenList } from './token-list.ts';

// The module's own names for them: V8 compiles a module's constants in, but fetches an imported one at every use, which doubled the time of this loop.
const ROLES = BYTE_ROLES;
const LETTERS = FIRST_LETTER;
const PLAIN = PLAIN_MARK;
const POINT_ROLE = POINT;
const FACTOR = HASH_FACTOR;
const SEED = HASH_SEED;

/** The hot loop of the tokeniser: words of ASCII letters, and what merely separates them. All else is left to the caller. */
export class WordReader {
  /** The byte it stopped at: the end, a byte with a role of its own, or the end of a word there was no room for. */
  at = 0;
  /** First byte of the word before `at` that there was no room for, or that may go on behind it; `at` if there is none. */
  start = 0;
  /** Role of the byte at `at`; PLAIN_MARK at the end. */
  role = 0;

  /**
   * Writes unstemmed words behind the list's last token, up to index `limit`, which the list has room for, and returns the index after them; the
   * list's count is not changed. `shift` turns byte offsets into offsets of the text.
   */
  read(list: TokenList, bytes: Uint8Array, from: number, end: number, shift: number, limit: number): number {
    const { hashes, starts, ends } = list;
    let n = list.count;
    let h = SEED;
    let start = from;
    let role = PLAIN;
    let i = from;
    for (; i < end; i++) {
      role = ROLES[bytes[i] ?? 0] ?? 0;
      if (role >= LETTERS) h = (Math.imul(h, FACTOR) + role) | 0;
      else if (role === PLAIN) {
        if (i !== start) {
          if (n >= limit) break;
          hashes[n] = h;
          starts[n] = start + shift;
          ends[n] = i + shift;
          n++;
          h = SEED;
        }
        start = i + 1;
      } else break;
    }
    if (i >= end) role = PLAIN;
    // A full stop behind a single letter may be that of an initial.
    if (i !== start && n < limit && (role < POINT_ROLE || (role === POINT_ROLE && i - start > 1))) {
      hashes[n] = h;
      starts[n] = start + shift;
      ends[n] = i + shift;
      n++;
      start = i;
    }
    this.at = i;
    this.start = start;
    this.role = role;
    return n;
  }
}
