/**
 * A file that is written line by line. Each line is handed to the operating system before the next one, so that a
 * killed process loses at most its current line. The file is created with its first line.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { RunError } from '../../shared/exit.ts';
import { messageOf } from '../../shared/input.ts';

export class LineFile {
  readonly path: string;
  readonly #flag: 'w' | 'a';
  #handle: FileHandle | null = null;
  #bytes = 0;

  /** @param flag `w` replaces an existing file, `a` appends to it. */
  constructor(path: string, flag: 'w' | 'a') {
    this.path = path;
    this.#flag = flag;
  }

  /** Bytes written by this object. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws RunError if the file cannot be written. */
  async write(data: Uint8Array): Promise<void> {
    try {
      this.#handle ??= await open(this.path, this.#flag);
      await this.#handle.appendFile(data);
    } catch (error) {
      throw new RunError(`cannot write ${this.path}: ${messageOf(error)}`);
    }
    this.#bytes += data.byteLength;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}
