/** Ranges of keys in SQL conditions, and the cursors of lists. */

/** The end of the range of texts that begin with the prefix: U+10FFFF is no character, so no key contains it. */
export function prefixEnd(prefix: string): string {
  return `${prefix}\u{10FFFF}`;
}

/** A cursor that continues a list after this key. */
export function cursorAfter(key: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(key)));
}

/** The key that a cursor continues after; `''` without a cursor. */
export function keyOfCursor(cursor: string | null | undefined): string {
  if (cursor === null || cursor === undefined) return '';
  return new TextDecoder().decode(Uint8Array.from(atob(cursor), (character) => character.charCodeAt(0)));
}
