/**
 * Stores bodies in the SQLite of an endpoint's object: those of requests until they are scored, those of deliveries
 * until they are deleted. Each body is stored in pieces, because a SQLite row holds at most 2 MB.
 */

const PIECE_BYTES = 1024 * 1024;

export class StoredTexts {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS texts_v1 (
      owner TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (owner, n)
    ) STRICT, WITHOUT ROWID`);
  }

  add(owner: string, bytes: Uint8Array): void {
    for (let n = 0; n * PIECE_BYTES < bytes.length; n++) {
      // A copy, because SQLite stores the whole buffer behind a view.
      const piece = bytes.slice(n * PIECE_BYTES, (n + 1) * PIECE_BYTES);
      this.#sql.exec('INSERT INTO texts_v1 (owner, n, bytes) VALUES (?, ?, ?)', owner, n, piece);
    }
  }

  /** Returns an empty array if the owner has no body. */
  read(owner: string): Uint8Array {
    const pieces = this.#sql
      .exec<{ bytes: ArrayBuffer }>('SELECT bytes FROM texts_v1 WHERE owner = ? ORDER BY n', owner)
      .toArray()
      .map(({ bytes }) => new Uint8Array(bytes));
    const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  delete(owner: string): void {
    this.#sql.exec('DELETE FROM texts_v1 WHERE owner = ?', owner);
  }

  clear(): void {
    this.#sql.exec('DELETE FROM texts_v1');
  }
}
