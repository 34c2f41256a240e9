/**
 * The text of a stream: `StreamedText` keeps it, and `TagScanner` finds the tags in it. Chunks may be split anywhere,
 * also inside a tag.
 */
import { EQUALS, GREATER_THAN, isAsciiLetter, isSpace, LESS_THAN, SLASH } from '../../text/characters.ts';
import { closingQuote, isIdSeparator, readTag, shiftTag, type Tag } from '../tags.ts';

/** Size from which small chunks are joined to a block, in UTF-16 code units. */
const BLOCK_CHARS = 4096;

/**
 * The text so far, in flat blocks. Appending takes the same time however long the text is. A growing string would not:
 * V8 flattens it on every read after an append.
 */
export class StreamedText {
  readonly #blocks: string[] = [];
  /** Start of each block in the text. */
  readonly #starts: number[] = [];
  /** Pieces that V8 joins when the tail is read. */
  #tail = '';
  #tailStart = 0;
  #last = '';
  #lastStart = 0;

  /** Length so far, in UTF-16 code units. */
  get end(): number {
    return this.#lastStart + this.#last.length;
  }

  append(chunk: string): void {
    this.#lastStart = this.end;
    this.#last = chunk;
    this.#tail += chunk;
    if (this.#tail.length < BLOCK_CHARS) return;
    // V8 joins the pieces when a unit is read. Before that they take twenty times as much memory.
    this.#tail.charCodeAt(0);
    this.#blocks.push(this.#tail);
    this.#starts.push(this.#tailStart);
    this.#tail = '';
    this.#tailStart = this.end;
  }

  /** Returns the text in `[start, end)`. */
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
    if (end <= this.#tailStart) return text;
    return text + this.#tail.slice(Math.max(0, start - this.#tailStart), end - this.#tailStart);
  }

  /** Returns the whole text. */
  whole(): string {
    return this.#blocks.join('') + this.#tail;
  }

  /** Finds the block that contains a place before the tail. */
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

/** A tag that `TagScanner` found. */
export type StreamedTag = {
  readonly tag: Tag;
  /** The text of the tag alone, and the tag with offsets into that text. */
  readonly header: string;
  readonly local: Tag;
};

const OUTSIDE = 0;
const IN_NAME = 1;
const IN_HEADER = 2;

/**
 * Finds the tags of a stream. It reports a tag as soon as no later text can change it: at its `>`, or, if a quote in it
 * is never closed, at the next tag-like `<`, which no header crosses. Takes linear time: it reads each unit once, and
 * `readTag` reads each header once more.
 */
export class TagScanner {
  readonly #text: StreamedText;
  readonly #names: readonly string[];
  readonly #headerEnd = new HeaderEnd();
  #state = OUTSIDE;
  /** Offset of the `<` of the tag that is being read. */
  #start = 0;
  /** The names that begin with the text after that `<`, as bits; how long it is; and whether a `/` stands before it. */
  #candidates = 0;
  #length = 0;
  #closing = false;
  /** The last unit is a `<` inside a header. The next unit decides whether it begins another tag. */
  #lessThan = false;
  #place: number;
  #found: StreamedTag | null = null;

  /** @param start Offset in `text` where the scan begins. */
  constructor(text: StreamedText, names: readonly string[], start = 0) {
    this.#text = text;
    this.#names = names;
    this.#place = start;
  }

  /** All text before this offset is decided: it is part of a reported tag or of no tag. */
  get settled(): number {
    return this.#state === OUTSIDE ? this.#place : this.#start;
  }

  /** The tag that the last `step` found, or `null`. */
  get found(): StreamedTag | null {
    return this.#found;
  }

  /**
   * Reads `chunk`, the latest piece of the text, from `from` to the end of the next tag or of the chunk. Returns the
   * offset in the chunk where the next step continues.
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

  /** Ends the text. Returns the tag that only the end decides, or `null`. */
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
    this.#candidates = -1;
    this.#length = 0;
    this.#closing = false;
  }

  /** Reads one unit of a possible tag name. */
  #readName(chunk: string, at: number): number {
    const code = chunk.charCodeAt(at);
    if (code === SLASH && this.#length === 0 && !this.#closing) {
      this.#closing = true;
      return at + 1;
    }
    const folded = isAsciiLetter(code) ? code | 0x20 : code;
    let candidates = 0;
    let isName = false;
    for (let n = 0; n < this.#names.length; n++) {
      if ((this.#candidates & (1 << n)) === 0) continue;
      const name = this.#names[n] ?? '';
      if (name.length === this.#length) isName = true;
      else if (name.charCodeAt(this.#length) === folded) candidates |= 1 << n;
    }
    if (candidates !== 0) {
      this.#candidates = candidates;
      this.#length++;
      return at + 1;
    }
    if (isName && (code === GREATER_THAN || code === SLASH || isSpace(code))) {
      this.#state = IN_HEADER;
      this.#lessThan = false;
      this.#headerEnd.begin();
    } else this.#state = OUTSIDE;
    return at;
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
        this.#headerEnd.push(LESS_THAN);
      }
      if (code === LESS_THAN) this.#lessThan = true;
      else if (this.#headerEnd.push(code)) {
        this.#found = this.#read(base + i + 1);
        this.#state = OUTSIDE;
        return i + 1;
      }
    }
    return chunk.length;
  }

  /** Reads the tag at `#start`. Its header ends at `limit` at the latest. */
  #read(limit: number): StreamedTag | null {
    const text = this.#text.slice(this.#start, limit);
    const local = readTag(text, 0, text.length, this.#names);
    if (local === null) return null;
    return { tag: shiftTag(local, this.#start), header: text.slice(0, local.span.end), local };
  }
}

const BETWEEN = 0;
const NAME = 1;
const AFTER_NAME = 2;
const AFTER_EQUALS = 3;
const QUOTED = 4;
const UNQUOTED = 5;
const UNQUOTED_SPACE = 6;

/**
 * Finds the end of a tag's header unit by unit, by the rules of `readTag`, so that the text can stop anywhere. It only
 * finds the end; `readTag` then reads the header. One state and no closures: this runs for every unit of a header.
 */
class HeaderEnd {
  #phase = BETWEEN;
  /** The quote that closes the value. */
  #quote = 0;
  /** The last unit of an unquoted value is an id separator. */
  #separated = false;

  begin(): void {
    this.#phase = BETWEEN;
  }

  /**
   * A quoted value is open. If it is never closed, the quote is part of an unquoted value and the header may have ended
   * before. Only `readTag` on the whole header can decide that.
   */
  get inQuotes(): boolean {
    return this.#phase === QUOTED;
  }

  /** Reads one unit after the tag's name. Returns true if it is the `>` that ends the header. */
  push(code: number): boolean {
    switch (this.#phase) {
      case BETWEEN:
        return this.#between(code);
      case NAME:
        return this.#name(code);
      case AFTER_NAME:
        if (isSpace(code)) return false;
        if (code !== EQUALS) return this.#between(code);
        this.#phase = AFTER_EQUALS;
        return false;
      case AFTER_EQUALS:
        return this.#valueStart(code);
      case QUOTED:
        if (code === this.#quote) this.#phase = BETWEEN;
        return false;
      case UNQUOTED:
        return this.#unquoted(code);
      default:
        if (isSpace(code)) return false;
        if (code === GREATER_THAN) return true;
        return this.#separated || isIdSeparator(code) ? this.#unquoted(code) : this.#between(code);
    }
  }

  #between(code: number): boolean {
    if (code === GREATER_THAN) return true;
    this.#phase = isSpace(code) || code === SLASH || code === EQUALS ? BETWEEN : NAME;
    return false;
  }

  #name(code: number): boolean {
    if (code === GREATER_THAN) return true;
    if (code === EQUALS) this.#phase = AFTER_EQUALS;
    else this.#phase = isSpace(code) ? AFTER_NAME : NAME;
    return false;
  }

  #valueStart(code: number): boolean {
    if (isSpace(code)) return false;
    this.#quote = closingQuote(code);
    this.#separated = false;
    if (this.#quote === -1) return this.#unquoted(code);
    this.#phase = QUOTED;
    return false;
  }

  #unquoted(code: number): boolean {
    if (code === GREATER_THAN) return true;
    if (isSpace(code)) {
      this.#phase = UNQUOTED_SPACE;
      return false;
    }
    this.#phase = UNQUOTED;
    this.#separated = isIdSeparator(code);
    return false;
  }
}
