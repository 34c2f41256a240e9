/**
 * Says which UTF-16 code units make up a token. Token counts decide what a judge is asked, so these are fixed tables
 * that, unlike `\p{L}`, do not change with the ICU version of the runtime.
 */

/**
 * Maps an ASCII unit to its lower case if it is a letter, to itself if it is a digit, and to 0 if it is a separator.
 */
export const ASCII_FOLD: Uint8Array = asciiFold();

function asciiFold(): Uint8Array {
  const table = new Uint8Array(128);
  for (let c = 48; c <= 57; c++) table[c] = c;
  for (let c = 97; c <= 122; c++) {
    table[c] = c;
    table[c - 32] = c;
  }
  return table;
}

/** Runs of white space, punctuation and symbols from U+0080 on: first and last unit, inclusive, ascending. */
const SEPARATOR_RUNS: readonly (readonly [number, number])[] = [
  [0x0080, 0x00a9],
  [0x00ab, 0x00b4],
  [0x00b6, 0x00b9],
  [0x00bb, 0x00bf],
  [0x00d7, 0x00d7],
  [0x00f7, 0x00f7],
  [0x037e, 0x037e],
  [0x0387, 0x0387],
  [0x055a, 0x055f],
  [0x0589, 0x058a],
  [0x05be, 0x05be],
  [0x05c0, 0x05c0],
  [0x05c3, 0x05c3],
  [0x060c, 0x060d],
  [0x061b, 0x061f],
  [0x066a, 0x066d],
  [0x06d4, 0x06d4],
  [0x0964, 0x0965],
  [0x0e4f, 0x0e4f],
  [0x0e5a, 0x0e5b],
  [0x104a, 0x104f],
  [0x1361, 0x1368],
  [0x1680, 0x1680],
  [0x17d4, 0x17da],
  [0x2000, 0x206f],
  [0x20a0, 0x20cf],
  [0x2190, 0x2bff],
  [0x2e00, 0x2e7f],
  [0x3000, 0x3004],
  [0x3008, 0x3020],
  [0x3030, 0x3030],
  [0x303d, 0x303f],
  [0x30a0, 0x30a0],
  [0x30fb, 0x30fb],
  [0xfe10, 0xfe1f],
  [0xfe30, 0xfe6f],
  [0xfeff, 0xfeff],
  [0xff01, 0xff0f],
  [0xff1a, 0xff20],
  [0xff3b, 0xff40],
  [0xff5b, 0xff65],
  [0xffe0, 0xffee],
  [0xfff0, 0xffff],
];

/** Runs of scripts written without spaces between words. Korean is one: its endings fuse with the words. */
const SINGLE_RUNS: readonly (readonly [number, number])[] = [
  [0x0e01, 0x0e4e],
  [0x0e80, 0x0edf],
  [0x1000, 0x1049],
  [0x1780, 0x17d3],
  [0x3005, 0x3007],
  [0x3041, 0x309f],
  [0x30a1, 0x30fa],
  [0x30fc, 0x30ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff66, 0xff9d],
];

export const SEPARATOR = 0;
export const LETTER = 1;
/** A unit that is a token by itself: CJK, kana, Hangul syllables, Thai and others. */
export const SINGLE = 2;

const UNIT_CLASS: Uint8Array = unitClasses();

function unitClasses(): Uint8Array {
  const table = new Uint8Array(65536).fill(LETTER, 128);
  for (let c = 0; c < 128; c++) table[c] = (ASCII_FOLD[c] ?? 0) === 0 ? SEPARATOR : LETTER;
  for (const [first, last] of SEPARATOR_RUNS) table.fill(SEPARATOR, first, last + 1);
  for (const [first, last] of SINGLE_RUNS) table.fill(SINGLE, first, last + 1);
  return table;
}

/** Returns SEPARATOR, LETTER (also for digits and lone surrogates) or SINGLE for any UTF-16 code unit. */
export function unitClass(unit: number): number {
  return UNIT_CLASS[unit] ?? SEPARATOR;
}

/** Whether a unit is a letter or digit of a script that is written with spaces between words. */
export function isSpacedUnit(unit: number): boolean {
  return unitClass(unit) === LETTER;
}

/** An apostrophe, straight or typographic: it joins a word to its ending. */
export function isApostrophe(unit: number): boolean {
  return unit === 0x27 || unit === 0x2019;
}
