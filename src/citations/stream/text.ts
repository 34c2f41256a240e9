/**
 * The text of a stream so far, in flat blocks: appending a unit costs the same however long the text is, which a growing
 * string does not do (reading it flattens the whole rope after every append).
 */

/** Small chunks are joined to blocks of about this many UTF-16 code units. */
const BLOCK_CHARS = 4096;

export class StreamedText {
  readonly #blocks: string[] = [];
  /** Where each block begins. */
  readonly #starts: number[] = [];
  #tail: string[] = [];
  #tailStart = 0;
  #last = '';
  #lastStart = 0;

  /** Length so far. */
  get end(): number {
    return this.#lastStart + this.#last.length;
  }

  append(chunk: string): void {
    this.#lastStart = this.end;
    this.#last = chunk;
    this.#tail.push(chunk);
    if (this.end - this.#tailStart < BLOCK_CHARS) return;
    this.#blocks.push(this.#tail.join(''));
    this.#starts.push(this.#tailStart);
    this.#tail = [];
    this.#tailStart = this.end;
  }

  /** The text in `[start, end)`. */
  slice(start: number, end: number): string {
    if (start >= this.#lastStart) return this.#last.slice(start - this.#lastStart, end - this.#lastStart);
    let text = '';
    if (start < this.#tailStart) {
      for (let n = this.#blockAt(start); n < this.#blocks.length; n++) {
        const blockStart = this.#starts[n] ?? end;
        if (blockStart >= end) return text;
        text += this.#blocks[n]?.slice(Math.max(0, start - blockStart), end - blockStart);
      }
    }
    return text + this.#readTail(Math.max(start, this.#tailStart), end);
  }

  /** All of it. */
  whole(): string {
    return this.#blocks.join('') + this.#tail.join('');
  }

  #readTail(start: number, end: number): string {
    if (end <= this.#tailStart) return '';
    const joined = this.#tail.join('');
    this.#tail = [joined];
    return joined.slice(start - this.#tailStart, end - this.#tailStart);
  }

  /** The block that holds a place before the tail. */
  #blockAt(place: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
