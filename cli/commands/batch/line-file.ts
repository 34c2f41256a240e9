/**
 * A file that grows line by line. Each line is with the operating system before the next one begins, so that of a process
 * that is killed no more is lost than the line it was at. A file without a line is never made.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { RunError } from '../../shared/exit.ts';

export class LineFile {
  readonly path: string;
  readonly #flag: 'w' | 'a';
  #handle: FileHandle | null = null;
  #bytes = 0;

  /** @param flag `w` replaces what is there, `a` goes on after it. */
  constructor(path: string, flag: 'w' | 'a') {
    this.path = path;
    this.#flag = flag;
  }

  /** Written here so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws RunError where the file system refuses. */
  async write(data: Uint8Array): Promise<void> {
    try {
      this.#handle ??= await open(this.path, this.#flag);
      await this.#handle.appendFile(data);
    } catch (error) {
      throw new RunError(`cannot write ${this.path}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#bytes += data.byteLength;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}
