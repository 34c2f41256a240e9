/**
 * The form of a segment: gzip members, one after the other. A member holds the blocks of some records; a block is a
 * header line and the lines of the record as they were packed (packed-lines.ts). All rows come first, in the order of
 * the run, so that a replay reads them in one sweep; the details follow.
 *
 *     {"seq":7,"step":0,"group":"g","at":…,"entries":[…]}      header of the rows of a record
 *     {"v":1,"facts":…}                                        one line for each rollout
 *     {"seq":8,…}
 *     …
 *     {"seq":7}                                                header of its details
 *     {"report":…,"rollout":…}
 *
 * `gunzip` reads a segment as one file. Workers do not decompress concatenated members, so readers take one member at a
 * time, by its range of bytes.
 */
import * as z from 'zod';
import { gzipMember } from './packed-lines.ts';

/** Uncompressed bytes of a member. DEFLATE looks back 32 KB, so larger members are hardly smaller in sum. */
const MEMBER_BYTES = 64 * 1024;

/** Where a block is: the range of its member in the segment, and its range in the decompressed member. */
export const blockSchema = z.tuple([
  z.int(), // first byte of the member
  z.int(), // bytes of the member
  z.int(), // first byte of the block
  z.int(), // byte after the block
]);
type Block = z.infer<typeof blockSchema>;

/** The blocks of a record; `null` = the record has no such lines, or they are an object of their own in R2. */
export type RecordBlocks = { rows: Block | null; details: Block | null };

type Pending = { readonly seq: number; readonly start: number; readonly end: number };
export type Section = keyof RecordBlocks;

/** Writes a segment in memory. */
export class SegmentWriter {
  readonly #members: Uint8Array[] = [];
  #bytes = 0;
  readonly #blocks = new Map<number, RecordBlocks>();
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #pending: Pending[] = [];

  /** Adds a record, possibly without lines. */
  addRecord(seq: number): void {
    this.#blocks.set(seq, { rows: null, details: null });
  }

  /**
   * Adds a block of an added record. @param header JSON. @param lines the record's lines, as UTF-8.
   * @returns whether a member was compressed.
   */
  async add(section: Section, seq: number, header: string, lines: Uint8Array): Promise<boolean> {
    const head = new TextEncoder().encode(`${header}\n`);
    const start = this.#openBytes;
    this.#append(head);
    this.#append(lines);
    this.#pending.push({ seq, start, end: this.#openBytes });
    this.#append(LINE_FEED);
    if (this.#openBytes < MEMBER_BYTES) return false;
    await this.endMember(section);
    return true;
  }

  #append(bytes: Uint8Array): void {
    this.#open.push(bytes);
    this.#openBytes += bytes.byteLength;
  }

  /** Ends the open member, at the latest after the last block of a section. */
  async endMember(section: Section): Promise<void> {
    if (this.#pending.length === 0) return;
    const member = await gzipMember(joined(this.#open, this.#openBytes));
    for (const { seq, start, end } of this.#pending) {
      const blocks = this.#blocks.get(seq);
      if (blocks === undefined) throw new Error('SegmentWriter: a block without its record');
      blocks[section] = [this.#bytes, member.byteLength, start, end];
    }
    this.#members.push(member);
    this.#bytes += member.byteLength;
    this.#open = [];
    this.#openBytes = 0;
    this.#pending = [];
  }

  /** The bytes of the segment, and the blocks of each record by its number. */
  finish(): { readonly bytes: Uint8Array<ArrayBuffer>; readonly blocks: ReadonlyMap<number, RecordBlocks> } {
    return { bytes: joined(this.#members, this.#bytes), blocks: this.#blocks };
  }
}

const LINE_FEED = new TextEncoder().encode('\n');

function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}
