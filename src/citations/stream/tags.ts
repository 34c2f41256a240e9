/**
 * Finds the tags of a stream that may be cut anywhere. Each is reported as soon as no later text can change it: at its
 * `>`, or, if a quote in it was never closed, at the next tag-like `<`, which no header crosses. Linear: a unit is looked
 * at once here, and each header is read once more by `readTag`.
 */
import { GREATER_THAN, isAsciiLetter, isSpace, LESS_THAN, SLASH } from '../../text/characters.ts';
import { readTag, shiftTag, type Tag } from '../tags.ts';
import { HeaderEnd } from './header.ts';
import type { StreamedText } from './text.ts';

export type StreamedTag = {
  readonly tag: Tag;
  /** The tag's own text, and the tag as it stands in there. */
  readonly header: string;
  readonly local: Tag;
};

const OUTSIDE = 0;
const IN_NAME = 1;
const IN_HEADER = 2;

export class TagScanner {
  readonly #text: StreamedText;
  readonly #names: readonly string[];
  readonly #headerEnd = new HeaderEnd();
  #state = OUTSIDE;
  /** Where the `<` of the tag stands that is being read. */
  #start = 0;
  /** What follows that `<`, folded, as long as it begins a name. */
  #name = '';
  /** A `<` in a header: its end, if what follows makes it tag-like. */
  #lessThan = false;
  #place: number;
  #found: StreamedTag | null = null;

  /** @param start where in `text` the scan begins. */
  constructor(text: StreamedText, names: readonly string[], start = 0) {
    this.#text = text;
    this.#names = names;
    this.#place = start;
  }

  /** Everything before belongs to a tag that was reported, or to none. */
  get settled(): number {
    return this.#state === OUTSIDE ? this.#place : this.#start;
  }

  /** The tag that the last step found. */
  get found(): StreamedTag | null {
    return this.#found;
  }

  /**
   * Reads on in `chunk`, which is the text's next piece, from `from` to the next tag or the end of the chunk. Returns
   * where in the chunk to go on.
   */
  step(chunk: string, from: number): number {
    this.#found = null;
    const base = this.#place - from;
    let i = from;
    while (i < chunk.length && this.#found === null) {
      if (this.#state === OUTSIDE) i = this.#findLessThan(chunk, i, base);
      else if (this.#state === IN_NAME) i = this.#readName(chunk, i);
      else i = this.#readHeader(chunk, i, base);
      this.#place = base + i;
    }
    return i;
  }

  /** No more text comes. Returns the tag that only this decides. */
  finish(): StreamedTag | null {
    const undecided = this.#state === IN_HEADER && this.#headerEnd.inQuotes;
    this.#state = OUTSIDE;
    return undecided ? this.#read(this.#place) : null;
  }

  #findLessThan(chunk: string, from: number, base: number): number {
    const at = chunk.indexOf('<', from);
    if (at === -1) return chunk.length;
    this.#begin(base + at);
    return at + 1;
  }

  #begin(start: number): void {
    this.#state = IN_NAME;
    this.#start = start;
    this.#name = '';
  }

  /** Takes one unit of what may be a tag's name. */
  #readName(chunk: string, at: number): number {
    const code = chunk.charCodeAt(at);
    const closing = this.#name.startsWith('/') ? 1 : 0;
    const longer = this.#name + (isAsciiLetter(code) ? String.fromCharCode(code | 0x20) : chunk.charAt(at));
    if (longer === '/' || this.#beginsName(longer.slice(closing))) {
      this.#name = longer;
      return at + 1;
    }
    if ((code === GREATER_THAN || code === SLASH || isSpace(code)) && this.#names.includes(this.#name.slice(closing))) {
      this.#state = IN_HEADER;
      this.#lessThan = false;
      this.#headerEnd.begin();
    } else this.#state = OUTSIDE;
    return at;
  }

  #beginsName(text: string): boolean {
    for (let n = 0; n < this.#names.length; n++) if (this.#names[n]?.startsWith(text)) return true;
    return false;
  }

  #readHeader(chunk: string, from: number, base: number): number {
    for (let i = from; i < chunk.length; i++) {
      const code = chunk.charCodeAt(i);
      if (this.#lessThan) {
        this.#lessThan = false;
        if (code === SLASH || isAsciiLetter(code)) {
          const limit = base + i - 1;
          if (this.#headerEnd.inQuotes) this.#found = this.#read(limit);
          this.#begin(limit);
          return i;
        }
        this.#headerEnd.takes(LESS_THAN);
      }
      if (code === LESS_THAN) this.#lessThan = true;
      else if (this.#headerEnd.takes(code)) {
        this.#found = this.#read(base + i + 1);
        this.#state = OUTSIDE;
        return i + 1;
      }
    }
    return chunk.length;
  }

  /** Reads the tag whose header ends at `limit` at the latest. */
  #read(limit: number): StreamedTag | null {
    const text = this.#text.slice(this.#start, limit);
    const local = readTag(text, 0, text.length, this.#names);
    if (local === null) return null;
    return { tag: shiftTag(local, this.#start), header: text.slice(0, local.span.end), local };
  }
}
