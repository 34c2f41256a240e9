/**
 * Splits the bytes of a JSONL file into lines with their numbers and byte offsets, in one pass and holding one line.
 * Lines end with `\n` or `\r\n`. A byte-order mark at the start of the file is dropped. Blank lines are counted.
 */

import { joined } from '../../text/lines.ts';

export type ByteLine = {
  /** Line number, from 1. */
  readonly number: number;
  /** Byte offset of the line, and of the next line. */
  readonly start: number;
  readonly next: number;
  /** The bytes without the line end; `null` = the line exceeds the limit. */
  readonly bytes: Uint8Array | null;
};

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

export class LineSplitter {
  readonly #maxBytes: number;
  #number: number;
  /** Byte offset of the current line in the file. */
  #start: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  /** @param from line number and byte offset of the first byte that `push` receives. */
  constructor(maxBytes: number, from: { readonly number: number; readonly start: number } = { number: 1, start: 0 }) {
    this.#maxBytes = maxBytes;
    this.#number = from.number;
    this.#start = from.start;
  }

  /** Yields the lines that these bytes complete. */
  *push(chunk: Uint8Array): Generator<ByteLine> {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      this.#hold(chunk.subarray(from, at));
      yield this.#end(1);
      from = at + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  /** Yields the last line if the file does not end with a line end. */
  *finish(): Generator<ByteLine> {
    if (this.#heldBytes > 0) yield this.#end(0);
  }

  #hold(bytes: Uint8Array): void {
    this.#heldBytes += bytes.byteLength;
    // A line beyond the limit needs only its length.
    if (this.#heldBytes <= this.#maxBytes) this.#held.push(bytes.slice());
    else this.#held = [];
  }

  #end(terminatorBytes: number): ByteLine {
    const start = this.#start;
    const next = start + this.#heldBytes + terminatorBytes;
    const bytes = this.#heldBytes > this.#maxBytes ? null : trimmed(joined(this.#held, this.#heldBytes), start === 0);
    const line = { number: this.#number, start, next, bytes };
    this.#number++;
    this.#start = next;
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }
}

function trimmed(bytes: Uint8Array, first: boolean): Uint8Array {
  const marked = first && BYTE_ORDER_MARK.every((byte, position) => bytes[position] === byte);
  const from = marked ? BYTE_ORDER_MARK.length : 0;
  const to = bytes.at(-1) === CARRIAGE_RETURN ? bytes.byteLength - 1 : bytes.byteLength;
  return bytes.subarray(from, Math.max(from, to));
}

/** Whether a line contains only whitespace, and so no request. */
export function isBlankLine(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === CARRIAGE_RETURN);
}
