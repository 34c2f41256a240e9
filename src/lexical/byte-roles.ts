import { ASCII_FOLD } from './character-classes.ts';

// What a byte of UTF-8 is to the tokeniser. A letter or digit is its folded value, which is above all of these.
/** White space and marks that only separate. */
export const PLAIN_MARK = 0;
export const LINE_FEED = 1;
/** ! and ? */
export const STOP_MARK = 2;
export const PERCENT_SIGN = 3;
/** Ends a sentence, or stands between initials. */
export const POINT = 4;
export const APOSTROPHE = 5;
/** A byte of a unit beyond ASCII. */
export const BEYOND_ASCII = 6;
export const FIRST_DIGIT = 48;
export const FIRST_LETTER = 97;

export const BYTE_ROLES: Uint8Array = byteRoles();

function byteRoles(): Uint8Array {
  const table = new Uint8Array(256).fill(BEYOND_ASCII, 128);
  table.set(ASCII_FOLD);
  table[0x0a] = LINE_FEED;
  table[0x21] = STOP_MARK;
  table[0x25] = PERCENT_SIGN;
  table[0x27] = APOSTROPHE;
  table[0x2e] = POINT;
  table[0x3f] = STOP_MARK;
  return table;
}
