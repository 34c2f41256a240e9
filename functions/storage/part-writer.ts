/**
 * Bytes of any chunking into one R2 object. R2 wants the parts of a multipart upload to be equal and of at least 5 MiB, the
 * last one excepted (developers.cloudflare.com/r2/objects/multipart-objects), so what comes is gathered into buffers of that
 * size: one fills while the other is on its way. What is smaller than one part is a single put.
 */
import { stored } from './storage-error.ts';

/** One part of a multipart object in R2, which wants equal parts of at least 5 MiB; two of them are in memory at once. */
export const R2_PART_BYTES = 8 * 1024 * 1024;

/** A small object, of which there are many, does not take a whole part of memory. */
const FIRST_BUFFER_BYTES = 64 * 1024;

type PartBuffer = Uint8Array<ArrayBuffer>;

type Sent =
  | { readonly ok: true; readonly part: R2UploadedPart; readonly buffer: PartBuffer }
  | { readonly ok: false; readonly error: unknown; readonly buffer: PartBuffer };

/** Gives the memory back now: a garbage collector sees only the small object, and would leave many of them lying. */
function free(buffer: PartBuffer): void {
  buffer.buffer.transfer(0);
}

/**
 * Writes one object. Calls follow each other; none may begin before the one before has ended. After a failure, and
 * whenever `close` is not reached, call `abort`.
 */
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
  /** Only between calls that succeeded: after a failure a part would be missing in the middle. */
  #writable = true;

  constructor(bucket: R2Bucket, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  /**
   * Takes a copy of the bytes. Waits while two parts are full: the one on its way and the next.
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

  /** Makes the object. @throws StorageError if it may not be there. */
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
   * Drops what was written: no part is left. It removes no object: where `close` was called there may be one, even if it
   * reported a failure, and only the owner of the key knows whether another writer has made it too. May be called again.
   * @throws StorageError if parts may be left. R2 itself drops parts that were never completed after seven days.
   */
  async abort(): Promise<void> {
    this.#writable = false;
    // A part that is on its way would arrive after the end.
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

  /** Sends what is in the buffer as the next part, once the part before has arrived. */
  async #send(): Promise<void> {
    await this.#settle();
    this.#upload ??= await stored('r2', 'create', () => this.#bucket.createMultipartUpload(this.#key));
    this.#sending = sendPart(this.#upload, this.#parts.length + 1, this.#buffer, this.#filled);
    this.#buffer = this.#spare ?? new Uint8Array(R2_PART_BYTES);
    this.#spare = null;
    this.#filled = 0;
  }

  /** Waits for the part on its way. @throws StorageError if it did not arrive. */
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

/** R2's error for an upload that is not there any more: it was completed, although that was reported as failed. */
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

/** Never rejects, as nobody may be waiting yet. */
async function sendPart(upload: R2MultipartUpload, number: number, buffer: PartBuffer, bytes: number): Promise<Sent> {
  try {
    const part = await stored('r2', 'upload_part', () => upload.uploadPart(number, buffer.subarray(0, bytes)));
    return { ok: true, part, buffer };
  } catch (error) {
    return { ok: false, error, buffer };
  }
}
