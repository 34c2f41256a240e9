/**
 * Stores the results of a batch's chunks in R2, one object per chunk, written once (put if absent). An object holds the
 * lines of the output file, then those of the error file; its metadata says where the error lines start.
 */
import * as z from 'zod';
import type { OutputLine } from '../../src/wire/batches/result-line.ts';
import { stored } from '../storage/storage-error.ts';
import { MAX_R2_BULK_KEYS } from '../storage/uploads.ts';

type ChunkCounts = { readonly completed: number; readonly failed: number };

/** The stored bytes: the first `outputBytes` belong to the output file, the rest to the error file. */
type OpenResults = {
  readonly body: ReadableStream<Uint8Array>;
  readonly bytes: number;
  readonly outputBytes: number;
};

const VERSION = '1';

const metadataSchema = z.object({
  v: z.literal(VERSION),
  output_bytes: z.string().regex(/^\d+$/),
  completed: z.string().regex(/^\d+$/),
  failed: z.string().regex(/^\d+$/),
});

const encoder = new TextEncoder();

export class ChunkResults {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  /** Returns the counts of a scored chunk, or `null` if it is not scored. */
  async find(batch: string, n: number): Promise<ChunkCounts | null> {
    const object = await stored('r2', 'head', () => this.#bucket.head(keyOf(batch, n)));
    return object === null ? null : countsOf(object);
  }

  /** Writes the results if there are none. Returns the counts of the stored results. */
  async putIfAbsent(batch: string, n: number, lines: readonly OutputLine[]): Promise<ChunkCounts> {
    const output = lines.flatMap(({ file, text }) => (file === 'output' ? [text] : []));
    const error = lines.flatMap(({ file, text }) => (file === 'error' ? [text] : []));
    const outputBytes = encoder.encode(output.join(''));
    const errorBytes = encoder.encode(error.join(''));
    const whole = new Uint8Array(outputBytes.byteLength + errorBytes.byteLength);
    whole.set(outputBytes);
    whole.set(errorBytes, outputBytes.byteLength);
    const options = {
      onlyIf: new Headers({ 'if-none-match': '*' }),
      customMetadata: {
        v: VERSION,
        output_bytes: String(outputBytes.byteLength),
        completed: String(output.length),
        failed: String(error.length),
      },
    };
    const written = await stored('r2', 'put', () => this.#bucket.put(keyOf(batch, n), whole, options));
    if (written !== null) return { completed: output.length, failed: error.length };
    const there = await this.find(batch, n);
    if (there === null) throw new Error('ChunkResults: the results were deleted while they were written');
    return there;
  }

  /** Opens the results of a chunk. Returns `null` if it is not scored. */
  async open(batch: string, n: number): Promise<OpenResults | null> {
    const object = await stored('r2', 'get', () => this.#bucket.get(keyOf(batch, n)));
    if (object === null) return null;
    return { body: object.body, bytes: object.size, outputBytes: Number(metadataOf(object).output_bytes) };
  }

  /** Deletes results after the finaliser has used them. */
  async remove(batch: string, chunks: readonly number[]): Promise<void> {
    for (let from = 0; from < chunks.length; from += MAX_R2_BULK_KEYS) {
      const keys = chunks.slice(from, from + MAX_R2_BULK_KEYS).map((n) => keyOf(batch, n));
      await stored('r2', 'delete', () => this.#bucket.delete(keys));
    }
  }
}

function keyOf(batch: string, n: number): string {
  return `batches/${batch}/chunks/${n}`;
}

function metadataOf(object: R2Object): z.infer<typeof metadataSchema> {
  const parsed = metadataSchema.safeParse(object.customMetadata);
  if (!parsed.success) throw new Error('ChunkResults: the object lacks the metadata of a chunk');
  return parsed.data;
}

function countsOf(object: R2Object): ChunkCounts {
  const { completed, failed } = metadataOf(object);
  return { completed: Number(completed), failed: Number(failed) };
}
