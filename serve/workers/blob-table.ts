/** Byte strings of any length in SQLite, as rows below its limit of 2 MB. A blob is immutable once it is complete. */

type Chunk = { readonly data: ArrayBuffer };

export class BlobTable {
  static readonly CHUNK_BYTES = 1024 * 1024;

  readonly #sql: SqlStorage;

  constructor({ sql }: DurableObjectStorage) {
    this.#sql = sql;
    sql.exec('CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT');
    sql.exec(`CREATE TABLE IF NOT EXISTS chunks
      (blob INTEGER NOT NULL, position INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (blob, position)) STRICT`);
  }

  /** Makes an empty blob. Returns its id. */
  begin(): number {
    return this.#sql.exec<{ id: number }>('INSERT INTO blobs DEFAULT VALUES RETURNING id').one().id;
  }

  /** Adds the chunk at a position, from 0. Every chunk but the last has CHUNK_BYTES bytes. */
  add(blob: number, position: number, data: Uint8Array<ArrayBuffer>): void {
    this.#sql.exec('INSERT INTO chunks (blob, position, data) VALUES (?, ?, ?)', blob, position, data);
  }

  /** Stores bytes that are in memory. Returns the id. */
  put(bytes: Uint8Array<ArrayBuffer>): number {
    const blob = this.begin();
    for (let position = 0; position * BlobTable.CHUNK_BYTES < bytes.byteLength; position++) {
      const start = position * BlobTable.CHUNK_BYTES;
      this.add(blob, position, bytes.slice(start, start + BlobTable.CHUNK_BYTES));
    }
    return blob;
  }

  /** One chunk. @throws Error if the blob does not have it. */
  chunk(blob: number, position: number): Uint8Array<ArrayBuffer> {
    const sql = 'SELECT data FROM chunks WHERE blob = ? AND position = ?';
    return new Uint8Array(this.#sql.exec<Chunk>(sql, blob, position).one().data);
  }

  whole(blob: number): ArrayBuffer {
    const chunks = this.#sql.exec<Chunk>('SELECT data FROM chunks WHERE blob = ? ORDER BY position', blob).toArray();
    const bytes = new Uint8Array(chunks.reduce((sum, { data }) => sum + data.byteLength, 0));
    let filled = 0;
    for (const { data } of chunks) {
      bytes.set(new Uint8Array(data), filled);
      filled += data.byteLength;
    }
    return bytes.buffer;
  }

  remove(blob: number): void {
    this.#sql.exec('DELETE FROM chunks WHERE blob = ?', blob);
    this.#sql.exec('DELETE FROM blobs WHERE id = ?', blob);
  }
}
