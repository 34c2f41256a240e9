/** The input of a command: a file, or standard input for `-`. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { UsageError } from './exit.ts';

export type Input = {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Where it can be read again; `null` = nowhere (standard input, pipes). */
  readonly path: string | null;
  /** `null` where it is not known beforehand (standard input, pipes). */
  readonly bytes: number | null;
};

/** Opens the one input that a command takes. @throws UsageError if there is none, several, or it cannot be read. */
export async function openInput(positionals: readonly string[], command: string): Promise<Input> {
  const [path, ...more] = positionals;
  if (path === undefined) {
    throw new UsageError('no input', `Try: citeward ${command} examples/rollouts.jsonl (- reads standard input)`);
  }
  if (more.length > 0) throw new UsageError(`one input at a time; also got ${more.join(' ')}`);
  if (path === '-') return { name: 'standard input', chunks: process.stdin, path: null, bytes: null };
  const found = await inspect(path);
  if (found.isDirectory) throw new UsageError(`${path} is a directory; expected a JSONL file`);
  const again = found.bytes === null ? null : path;
  return { name: path, chunks: createReadStream(path), path: again, bytes: found.bytes };
}

async function inspect(path: string): Promise<{ readonly isDirectory: boolean; readonly bytes: number | null }> {
  try {
    const found = await stat(path);
    return { isDirectory: found.isDirectory(), bytes: found.isFile() ? found.size : null };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new UsageError(`no such file: ${path}`);
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`cannot read ${path}: ${why}`);
  }
}
