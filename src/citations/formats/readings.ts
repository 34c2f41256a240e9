/**
 * Reads a vendor's offsets: units and ends differ between vendors, and some documents contradict the wire. Every
 * reading is tried in order of likelihood; the first whose slice fits is taken.
 */
import { isHighSurrogate, isLowSurrogate } from '../../text/characters.ts';
import type { Span } from '../../text/span.ts';
import type { OffsetUnit } from '../offset-units.ts';

/** How two offsets are read. */
export type Reading = { readonly unit: OffsetUnit; readonly end: 'exclusive' | 'inclusive' };

/** The readings in the order in which they are tried, the usual unit of the vendor first. */
export function readingsOf(
  usual: OffsetUnit,
  usualEnd: Reading['end'] = 'exclusive',
): readonly [Reading, ...Reading[]] {
  const others = (['codepoints', 'utf16', 'utf8'] as const).filter((unit) => unit !== usual);
  const otherEnd = usualEnd === 'exclusive' ? 'inclusive' : 'exclusive';
  return [
    { unit: usual, end: usualEnd },
    { unit: usual, end: otherEnd },
    ...others.map((unit): Reading => ({ unit, end: usualEnd })),
    ...others.map((unit): Reading => ({ unit, end: otherEnd })),
  ];
}

/** Text units between two remembered places: a look-up scans at most this many. */
const STEP = 256;

/** Converts bytes and code points of one text to UTF-16 offsets, with little memory: one number for 256 units. */
export class UnitReader {
  readonly text: string;
  readonly #marks = new Map<OffsetUnit, Uint32Array>();

  constructor(text: string) {
    this.text = text;
  }

  /** The range of two offsets; `null` if it is outside the text or reversed. */
  span(start: number, end: number, reading: Reading): Span | null {
    const last = end + (reading.end === 'inclusive' ? 1 : 0);
    if (start > last) return null;
    const from = this.#at(start, reading.unit);
    const to = this.#at(last, reading.unit);
    return from === null || to === null ? null : { start: from, end: to };
  }

  /** The UTF-16 offset; `null` if it is outside the text or inside a character. */
  #at(offset: number, unit: OffsetUnit): number | null {
    if (unit === 'utf16') return offset <= this.text.length ? offset : null;
    const marks = this.#marksOf(unit);
    let low = 0;
    let high = marks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((marks[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    let at = marks[low] ?? 0;
    let i = low * STEP;
    // A mark between the halves of a pair counts the whole pair before it.
    if (i > 0 && splitsPair(this.text, i)) i++;
    for (; at < offset && i < this.text.length; ) {
      const [units, size] = stepAt(this.text, i, unit);
      i += units;
      at += size;
    }
    return at === offset ? i : null;
  }

  #marksOf(unit: OffsetUnit): Uint32Array {
    const known = this.#marks.get(unit);
    if (known !== undefined) return known;
    const marks = new Uint32Array(Math.floor(this.text.length / STEP) + 1);
    let total = 0;
    let next = 0;
    for (let i = 0; i < this.text.length; ) {
      while (next < marks.length && next * STEP <= i) marks[next++] = total;
      const [units, size] = stepAt(this.text, i, unit);
      i += units;
      total += size;
    }
    while (next < marks.length) marks[next++] = total;
    this.#marks.set(unit, marks);
    return marks;
  }
}

function splitsPair(text: string, at: number): boolean {
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1));
}

/** UTF-16 units of the character at `at`, and its size in the unit. */
function stepAt(text: string, at: number, unit: OffsetUnit): readonly [number, number] {
  const code = text.charCodeAt(at);
  const isPair = isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(at + 1));
  if (unit === 'codepoints') return isPair ? [2, 1] : [1, 1];
  if (isPair) return [2, 4];
  return [1, code < 0x80 ? 1 : code < 0x800 ? 2 : 3];
}
