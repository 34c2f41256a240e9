/**
 * The blobs of a bucket that no object has: those that are being written, and those of objects that were deleted or
 * replaced. They are removed when no reader uses them, at the latest at the next start.
 */
import type { BlobTable } from './blob-table.ts';

export class UnusedBlobs {
  readonly #storage: DurableObjectStorage;
  readonly #blobs: BlobTable;
  /** Number of readers and writers of a blob. */
  readonly #uses = new Map<number, number>();

  constructor(storage: DurableObjectStorage, blobs: BlobTable) {
    this.#storage = storage;
    this.#blobs = blobs;
    storage.sql.exec('CREATE TABLE IF NOT EXISTS unused_blobs (blob INTEGER PRIMARY KEY) STRICT');
    // Whoever wrote or read these ended with the process before.
    this.clear();
  }

  /** Makes a blob that its writer fills, and then passes to `take` or to `release`. */
  begin(): number {
    const blob = this.#blobs.begin();
    this.add(blob);
    this.#uses.set(blob, 1);
    return blob;
  }

  /** An object has the blob now. Part of the transaction that stores the object. */
  take(blob: number): void {
    this.#storage.sql.exec('DELETE FROM unused_blobs WHERE blob = ?', blob);
    this.release(blob);
  }

  /** No object has the blob any more. */
  add(blob: number): void {
    this.#storage.sql.exec('INSERT OR IGNORE INTO unused_blobs (blob) VALUES (?)', blob);
  }

  /** Keeps blobs until the returned handle is disposed. */
  keep(blobs: readonly number[]): Disposable {
    for (const blob of blobs) this.#uses.set(blob, (this.#uses.get(blob) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        for (const blob of blobs) this.release(blob);
        this.clear();
      },
    };
  }

  release(blob: number): void {
    const uses = (this.#uses.get(blob) ?? 1) - 1;
    if (uses > 0) this.#uses.set(blob, uses);
    else this.#uses.delete(blob);
  }

  /** Removes the blobs that nothing uses. */
  clear(): void {
    const rows = this.#storage.sql.exec<{ blob: number }>('SELECT blob FROM unused_blobs').toArray();
    const removable = rows.filter(({ blob }) => !this.#uses.has(blob));
    if (removable.length === 0) return;
    this.#storage.transactionSync(() => {
      for (const { blob } of removable) {
        this.#blobs.remove(blob);
        this.#storage.sql.exec('DELETE FROM unused_blobs WHERE blob = ?', blob);
      }
    });
  }
}
