/**
 * Results of a batch's chunks in R2, one object each, written once (put if absent): first the lines of the output file,
 * then those of the error file; the metadata say where the border is.
 */
import * as z from 'zod';
import type { OutputLine } from '../../src/wire/batches/result-line.ts';
import { stored } from '../storage/storage-error.ts';
import { MAX_R2_BULK_KEYS } from '../storage/uploads.ts';

export type ChunkCounts = { readonly completed: number; readonly failed: number };

/** Its bytes: the first `outputBytes` of them belong to the output file, the rest to the error file. */
export type OpenResults = {
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

  /** Counts of a chunk that has been scored; `null` where it has not. */
  async find(batch: string, n: number): Promise<ChunkCounts | null> {
    const object = await stored('r2', 'head', () => this.#bucket.head(keyOf(batch, n)));
    return object === null ? null : countsOf(object);
  }

  /** Writes the results unless there are some. @returns the counts of what stands there. */
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
    if (there === null) throw new Error('ChunkResults: the results were there, and are not');
    return there;
  }

  /** The results of a chunk; `null` where it has not been scored. */
  async open(batch: string, n: number): Promise<OpenResults | null> {
    const object = await stored('r2', 'get', () => this.#bucket.get(keyOf(batch, n)));
    if (object === null) return null;
    return { body: object.body, bytes: object.size, outputBytes: Number(metadataOf(object).output_bytes) };
  }

  /** Removes what the finaliser has no more use for. */
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
  if (!parsed.success) throw new Error('ChunkResults: an object without the metadata of a chunk');
  return parsed.data;
}

function countsOf(object: R2Object): ChunkCounts {
  const { completed, failed } = metadataOf(object);
  return { completed: Number(completed), failed: Number(failed) };
}
