/**
 * Writes a stream of chunks of any size into one R2 object. R2 requires equal multipart parts of at least 5 MiB, except
 * the last (developers.cloudflare.com/r2/objects/multipart-objects), so chunks are collected in buffers: one fills
 * while the other is being sent. An object smaller than one part is a single put.
 */
import { stored } from './stored.ts';

/** Size of one part; two parts are in memory at once. */
export const R2_PART_BYTES = 8 * 1024 * 1024;

/** Small objects are common, so they start with a small buffer. */
const FIRST_BUFFER_BYTES = 64 * 1024;

type PartBuffer = Uint8Array<ArrayBuffer>;

type Sent =
  | { readonly ok: true; readonly part: R2UploadedPart; readonly buffer: PartBuffer }
  | { readonly ok: false; readonly error: unknown; readonly buffer: PartBuffer };

/** Frees the memory now: the garbage collector sees only a small wrapper and would let many buffers accumulate. */
function free(buffer: PartBuffer): void {
  buffer.buffer.transfer(0);
}

/** Writes one object. Calls must not overlap. Call `abort` after a failure, and whenever `close` is not reached. */
export class PartWriter {
  readonly #bucket: R2Bucket;
  readonly #key: string;
  #buffer = new Uint8Array(0);
  #filled = 0;
  #spare: PartBuffer | null = null;
  #bytes = 0;
  #upload: R2MultipartUpload | null = null;
  readonly #parts: R2UploadedPart[] = [];
  #sending: Promise<Sent> | null = null;
  /** False during a call and after a failure, which leaves a gap in the parts. */
  #writable = true;

  constructor(bucket: R2Bucket, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  /**
   * Copies the bytes. Waits while two parts are full: the one being sent and the next.
   * @throws StorageError if a part could not be stored.
   */
  async write(bytes: Uint8Array): Promise<void> {
    this.#begin();
    for (let at = 0; at < bytes.byteLength; ) {
      const taken = bytes.subarray(at, at + R2_PART_BYTES - this.#filled);
      this.#makeRoom(taken.byteLength);
      this.#buffer.set(taken, this.#filled);
      this.#filled += taken.byteLength;
      this.#bytes += taken.byteLength;
      at += taken.byteLength;
      if (this.#filled === R2_PART_BYTES) await this.#send();
    }
    this.#writable = true;
  }

  /** Completes the object. @throws StorageError if it may not exist. */
  async close(): Promise<{ readonly bytes: number }> {
    this.#begin();
    if (this.#upload === null) {
      await stored('r2', 'put', () => this.#bucket.put(this.#key, this.#buffer.subarray(0, this.#filled)));
    } else {
      if (this.#filled > 0) await this.#send();
      await this.#settle();
      const upload = this.#upload;
      await stored('r2', 'complete', () => upload.complete(this.#parts));
      this.#upload = null;
    }
    this.#release();
    return { bytes: this.#bytes };
  }

  /**
   * Drops the parts written so far. It removes no object: after `close` there may be one even if `close` failed, and
   * only the owner of the key knows whether another writer created it, too. Can be repeated.
   * @throws StorageError if parts may be left. R2 drops incomplete uploads after seven days.
   */
  async abort(): Promise<void> {
    this.#writable = false;
    // A part still in flight would otherwise arrive after the abort.
    const sent = await this.#sending;
    this.#sending = null;
    if (sent !== null) free(sent.buffer);
    this.#release();
    if (this.#upload !== null) await abortUpload(this.#upload);
    this.#upload = null;
  }

  #begin(): void {
    if (!this.#writable) throw new Error('PartWriter: called after its end, a failure, or before the last call ended');
    this.#writable = false;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#filled + bytes;
    if (needed <= this.#buffer.byteLength) return;
    const size = Math.max(needed, 2 * this.#buffer.byteLength, FIRST_BUFFER_BYTES);
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(Math.min(size, R2_PART_BYTES)));
  }

  /** Sends the buffer as the next part, once the previous part has arrived. */
  async #send(): Promise<void> {
    await this.#settle();
    this.#upload ??= await stored('r2', 'create', () => this.#bucket.createMultipartUpload(this.#key));
    this.#sending = sendPart(this.#upload, this.#parts.length + 1, this.#buffer, this.#filled);
    this.#buffer = this.#spare ?? new Uint8Array(R2_PART_BYTES);
    this.#spare = null;
    this.#filled = 0;
  }

  /** Waits for the part in flight. @throws StorageError if it did not arrive. */
  async #settle(): Promise<void> {
    const sent = await this.#sending;
    this.#sending = null;
    if (sent === null) return;
    if (!sent.ok) {
      free(sent.buffer);
      throw sent.error;
    }
    this.#parts.push(sent.part);
    this.#spare = sent.buffer;
  }

  #release(): void {
    free(this.#buffer);
    this.#buffer = new Uint8Array(0);
    if (this.#spare !== null) free(this.#spare);
    this.#spare = null;
    this.#filled = 0;
  }
}

/** R2's error for a missing upload: it was completed although the completion was reported as failed. */
const NO_SUCH_UPLOAD = '(10024)';

async function abortUpload(upload: R2MultipartUpload): Promise<void> {
  await stored('r2', 'abort', async () => {
    try {
      await upload.abort();
    } catch (error) {
      if (!(error instanceof Error) || !error.message.endsWith(NO_SUCH_UPLOAD)) throw error;
    }
  });
}

/** Never rejects, because no caller may be waiting yet. */
async function sendPart(upload: R2MultipartUpload, number: number, buffer: PartBuffer, bytes: number): Promise<Sent> {
  try {
    const part = await stored('r2', 'upload_part', () => upload.uploadPart(number, buffer.subarray(0, bytes)));
    return { ok: true, part, buffer };
  } catch (error) {
    return { ok: false, error, buffer };
  }
}
