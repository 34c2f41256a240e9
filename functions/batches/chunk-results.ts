/**
 * Stores the results of a batch's chunks in R2. A chunk has one part for each round that finished lines, usually a
 * single one. Parts are numbered from 0 without gaps. Each is written once (put if absent), and each line is in one
 * part only. A part holds lines of the output file, then lines of the error file; its metadata says which lines.
 */
import * as z from 'zod';
import type { OutputLine } from '../../src/wire/batches/result-line.ts';
import { PartWriter } from '../storage/part-writer.ts';
import { stored } from '../storage/stored.ts';
import { MAX_R2_BULK_KEYS } from '../storage/uploads.ts';
import type { ChunkCounts } from './batch-messages.ts';

/** The two files of results of a batch. */
export type ResultFile = OutputLine['file'];

/** A result, with the number of its line in the input file. */
export type FinishedLine = OutputLine & { readonly line: number };

/** Line numbers by file, in the order of the stored lines; `null` = all lines of the chunk. */
type PartLines = { readonly output: readonly number[]; readonly error: readonly number[] } | null;

/** The contents of a part, without its bytes. */
type PartHead = ChunkCounts & { readonly lines: PartLines; readonly outputBytes: number };

/** An opened part: the first `outputBytes` bytes belong to the output file, the rest to the error file. */
export type OpenPart = PartHead & { readonly body: ReadableStream<Uint8Array>; readonly bytes: number };

/** The stored results of a chunk. */
export type StoredResults = ChunkCounts & {
  /** Number of parts. */
  readonly parts: number;
  /** Numbers of the finished lines; `null` = all lines of the chunk. */
  readonly lines: ReadonlySet<number> | null;
};

const NOTHING: StoredResults = { parts: 0, completed: 0, failed: 0, lines: new Set() };

const count = z.string().regex(/^\d+$/).transform(Number);
const numbers = z
  .string()
  .regex(/^(\d+(,\d+)*)?$/)
  .transform((text) => (text === '' ? [] : text.split(',').map(Number)));

const metadataSchema = z.union([
  z.object({ v: z.literal('2'), output_bytes: count, output_lines: numbers, error_lines: numbers }).transform(
    ({ output_bytes, output_lines: output, error_lines: error }): PartHead => ({
      outputBytes: output_bytes,
      completed: output.length,
      failed: error.length,
      lines: { output, error },
    }),
  ),
  // The previous version wrote whole chunks only.
  z.object({ v: z.literal('1'), output_bytes: count, completed: count, failed: count }).transform(
    ({ output_bytes, completed, failed }): PartHead => ({
      outputBytes: output_bytes,
      completed,
      failed,
      lines: null,
    }),
  ),
]);

const encoder = new TextEncoder();

/** The results of the batches of one project. */
export class ChunkResults {
  readonly #bucket: R2Bucket;
  readonly #project: string;

  constructor(bucket: R2Bucket, project: string) {
    this.#bucket = bucket;
    this.#project = project;
  }

  /** Returns what is stored of a chunk. */
  find(batch: string, n: number): Promise<StoredResults> {
    return this.#findFrom(batch, n, NOTHING);
  }

  /** Stores finished lines as a new part, except lines that another consumer stored. Returns all that is stored. */
  async add(
    batch: string,
    n: number,
    before: StoredResults,
    finished: readonly FinishedLine[],
  ): Promise<StoredResults> {
    let known = before;
    for (;;) {
      const { lines } = known;
      const fresh = lines === null ? [] : finished.filter(({ line }) => !lines.has(line));
      if (fresh.length === 0) return known;
      const written = await this.#putIfAbsent(this.#keyOf(batch, n, known.parts), fresh);
      if (written !== null) return withPart(known, headOf(written));
      const next = await this.#findFrom(batch, n, known);
      if (next.parts === known.parts) throw new Error('ChunkResults: the results were deleted while they were written');
      known = next;
    }
  }

  /** Opens a part. Returns `null` if there is none. */
  async open(batch: string, n: number, part: number): Promise<OpenPart | null> {
    const object = await stored('r2', 'get', () => this.#bucket.get(this.#keyOf(batch, n, part)));
    return object === null ? null : { ...headOf(object), body: object.body, bytes: object.size };
  }

  /** A writer of the merged results of consecutive chunks, in one of the two files. */
  mergedWriter(batch: string, name: string, file: ResultFile): PartWriter {
    return new PartWriter(this.#bucket, this.#mergedKey(batch, name, file));
  }

  /** Opens merged results. Returns `null` if there are none. */
  async openMerged(batch: string, name: string, file: ResultFile): Promise<R2ObjectBody | null> {
    return stored('r2', 'get', () => this.#bucket.get(this.#mergedKey(batch, name, file)));
  }

  #mergedKey(batch: string, name: string, file: ResultFile): string {
    return `${this.#prefixOf(batch)}merged/${name}/${file}`;
  }

  /** Deletes the results of all chunks after the finaliser has used them. */
  async removeAll(batch: string): Promise<void> {
    for (;;) {
      const page = await stored('r2', 'list', () =>
        this.#bucket.list({ prefix: this.#prefixOf(batch), limit: MAX_R2_BULK_KEYS }),
      );
      const keys = page.objects.map(({ key }) => key);
      if (keys.length > 0) await stored('r2', 'delete', () => this.#bucket.delete(keys));
      if (!page.truncated) return;
    }
  }

  /** The R2 key of a part. The key of the first part contains no part number. */
  #keyOf(batch: string, n: number, part: number): string {
    return `${this.#prefixOf(batch)}${part === 0 ? n : `${n}/${part}`}`;
  }

  #prefixOf(batch: string): string {
    return `batches/${this.#project}/${batch}/chunks/`;
  }

  async #findFrom(batch: string, n: number, before: StoredResults): Promise<StoredResults> {
    let found = before;
    for (;;) {
      const object = await stored('r2', 'head', () => this.#bucket.head(this.#keyOf(batch, n, found.parts)));
      if (object === null) return found;
      found = withPart(found, headOf(object));
    }
  }

  /** Writes a part. Returns `null`, and writes nothing, if the part exists already. */
  async #putIfAbsent(key: string, finished: readonly FinishedLine[]): Promise<R2Object | null> {
    const output = finished.filter(({ file }) => file === 'output');
    const error = finished.filter(({ file }) => file === 'error');
    const outputBytes = encoder.encode(output.map(({ text }) => text).join(''));
    const errorBytes = encoder.encode(error.map(({ text }) => text).join(''));
    const whole = new Uint8Array(outputBytes.byteLength + errorBytes.byteLength);
    whole.set(outputBytes);
    whole.set(errorBytes, outputBytes.byteLength);
    const options = {
      onlyIf: new Headers({ 'if-none-match': '*' }),
      customMetadata: {
        v: '2',
        output_bytes: String(outputBytes.byteLength),
        output_lines: output.map(({ line }) => line).join(','),
        error_lines: error.map(({ line }) => line).join(','),
      },
    };
    return stored('r2', 'put', () => this.#bucket.put(key, whole, options));
  }
}

function withPart({ parts, completed, failed, lines }: StoredResults, part: PartHead): StoredResults {
  return {
    parts: parts + 1,
    completed: completed + part.completed,
    failed: failed + part.failed,
    lines:
      lines === null || part.lines === null ? null : new Set([...lines, ...part.lines.output, ...part.lines.error]),
  };
}

function headOf(object: R2Object): PartHead {
  const parsed = metadataSchema.safeParse(object.customMetadata);
  if (!parsed.success) throw new Error('ChunkResults: the object lacks the metadata of a part');
  return parsed.data;
}
