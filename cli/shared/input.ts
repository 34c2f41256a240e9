/** The input of a command: a file, or standard input for `-`. */

import { createReadStream, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { RowLine } from '../../src/wire/rows/row-line.ts';
import { UsageError } from './exit.ts';
import { CITEWARD } from './program.ts';
import type { Shell } from './shell.ts';

export type Input = {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** What the numbers of its lines count: lines of the file, or rows of a converted file (row-files/open-rows.ts). */
  readonly unit: 'line' | 'row';
  /** Path of a file that can be read again in place; `null` for standard input, pipes and converted files. */
  readonly path: string | null;
  /** `null` if the size is not known beforehand (standard input, pipes). */
  readonly bytes: number | null;
};

/** An input of rows. Take its lines, or its bytes; each reads the file. */
export type RowInput = (Input | ConvertedInput) & {
  /** A line that cannot be read is a fault, and the next ones are read on. Their numbers are those of the file. */
  readonly lines: AsyncIterable<RowLine>;
};

/** A converted file, of which there are lines only. */
type ConvertedInput = Omit<Input, 'chunks'> & { readonly chunks: null };

/**
 * Opens the only input of a command.
 * @param example a command with an input, printed if there is none.
 * @throws UsageError if none or several are named, or if it cannot be read.
 */
export async function openInput(
  positionals: readonly string[],
  stdin: Shell['stdin'],
  example: string,
): Promise<Input> {
  const [path, ...more] = positionals;
  if (path === undefined) {
    throw new UsageError('no input: give a file, or - for standard input', `Try: ${CITEWARD} ${example}`);
  }
  if (more.length > 0) throw new UsageError(`expected one input; also got ${more.join(' ')}`);
  if (path === '-') return { name: 'standard input', unit: 'line', chunks: stdin, path: null, bytes: null };
  const found = await statOfFile(path);
  const chunks = createReadStream(path);
  return found.isFile()
    ? { name: path, unit: 'line', chunks, path, bytes: found.size }
    : { name: path, unit: 'line', chunks, path: null, bytes: null };
}

/** What the system says of a file. @throws UsageError if there is none, or for a folder, whose files are read one by one. */
export async function statOfFile(path: string): Promise<Stats> {
  const found = await stat(path).catch((error: unknown) => {
    throw readError(path, error);
  });
  if (found.isDirectory()) throw new UsageError(`${path} is a folder`, 'Give one of its files.');
  return found;
}

/** Reads a whole file as text. @throws UsageError if it cannot be read. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw readError(path, error);
  }
}

export function readError(path: string, error: unknown): UsageError {
  return new UsageError(isMissingFile(error) ? `no such file: ${path}` : `cannot read ${path}: ${messageOf(error)}`);
}

/** Whether an error of the file system means that there is no such file. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads the body of a reply. `onLost` is called if the connection breaks; unless it throws, the chunks end there. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  onLost: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const read = await reader.read().catch((error: unknown) => {
        onLost(error);
        return null;
      });
      if (read === null || read.done) return;
      yield read.value;
    }
  } finally {
    // The caller may stop early; then the rest is not downloaded.
    reader.cancel().catch(() => undefined);
  }
}
