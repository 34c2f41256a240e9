/**
 * Reads blocks of segments from R2 by ranges of bytes. Members that follow each other closely are one request, and the
 * last members stay decompressed: rollouts without a step are ordered by group, so a page may take some from each
 * segment of its run, and the next page the blocks that follow there.
 */

import { StorageError } from '../../service/storage-error.ts';
import { logEvent } from '../log-event.ts';
import { stored } from '../storage/stored.ts';
import type { SegmentBlock } from './ledger-messages.ts';
import { gunzipMember, parseLines } from './packed-lines.ts';

/** Members with a smaller gap are read together, with the bytes of the gap. */
const MAX_GAP_BYTES = 64 * 1024;
/** Compressed bytes of one request. */
const MAX_RANGE_BYTES = 1024 * 1024;
/** Decompressed bytes that one reader keeps. */
const MAX_KEPT_BYTES = 12 * 1024 * 1024;
/** The platform opens six connections at a time. */
const CONCURRENT_READS = 6;

const LINE_FEED = 10;

type Range = { readonly key: string; readonly offset: number; end: number; readonly members: SegmentBlock[] };

/** A segment does not exist any more: it was merged into another, or its run was erased. */
export class SegmentGone extends StorageError {
  constructor() {
    super('r2', 'segment_get', 'absent');
  }
}

export class SegmentReader {
  readonly #bucket: R2Bucket;
  /** Decompressed members, the longest unused first. */
  readonly #kept = new Map<string, Uint8Array>();
  #keptBytes = 0;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  /** Reads the members of blocks ahead, in few requests, as far as their segments exist. @throws StorageError. */
  async prepare(blocks: readonly SegmentBlock[]): Promise<void> {
    const left = rangesOf(blocks.filter((block) => !this.#kept.has(nameOf(block)))).values();
    const work = async (): Promise<void> => {
      // All concurrent workers take their ranges from one iterator.
      for (const range of left) await this.#read(range);
    };
    await Promise.all(Array.from({ length: CONCURRENT_READS }, work));
  }

  /** The lines of a block, without its header. @throws StorageError; SegmentGone. */
  async lines(block: SegmentBlock): Promise<unknown[]> {
    return parseLines(await this.text(block));
  }

  /** The same lines as UTF-8. */
  async text(block: SegmentBlock): Promise<Uint8Array> {
    const name = nameOf(block);
    if (!this.#kept.has(name)) await this.prepare([block]);
    const member = this.#kept.get(name);
    if (member === undefined) throw new SegmentGone();
    this.#kept.delete(name);
    this.#kept.set(name, member);
    return member.subarray(member.indexOf(LINE_FEED, block.start) + 1, block.end);
  }

  async #read({ key, offset, end, members }: Range): Promise<void> {
    const bytes = await stored('r2', 'segment_get', async () => {
      const object = await this.#bucket.get(key, { range: { offset, length: end - offset } });
      return object === null ? null : new Uint8Array(await object.arrayBuffer());
    });
    if (bytes === null) return;
    for (const block of members) {
      const from = block.offset - offset;
      this.#keep(nameOf(block), await decompressed(bytes.slice(from, from + block.bytes)));
    }
  }

  #keep(name: string, member: Uint8Array): void {
    if (this.#kept.has(name)) return;
    this.#kept.set(name, member);
    this.#keptBytes += member.byteLength;
    for (const [oldest, { byteLength }] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES || oldest === name) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= byteLength;
    }
  }
}

function nameOf({ key, offset }: SegmentBlock): string {
  return `${offset} ${key}`;
}

async function decompressed(member: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  try {
    return await gunzipMember(member);
  } catch (error) {
    logEvent('error', { event: 'segment_damaged' });
    throw new StorageError('r2', 'segment_read', error);
  }
}

/** The requests that read the members of blocks, each member once. */
function rangesOf(blocks: readonly SegmentBlock[]): Range[] {
  const members = new Map(blocks.map((block) => [nameOf(block), block]));
  const inOrder = [...members.values()].sort((one, other) =>
    one.key === other.key ? one.offset - other.offset : one.key < other.key ? -1 : 1,
  );
  const ranges: Range[] = [];
  for (const block of inOrder) {
    const last = ranges.at(-1);
    const end = block.offset + block.bytes;
    const isNear =
      last !== undefined &&
      last.key === block.key &&
      block.offset - last.end <= MAX_GAP_BYTES &&
      end - last.offset <= MAX_RANGE_BYTES;
    if (last !== undefined && isNear) {
      last.end = end;
      last.members.push(block);
    } else ranges.push({ key: block.key, offset: block.offset, end, members: [block] });
  }
  return ranges;
}
