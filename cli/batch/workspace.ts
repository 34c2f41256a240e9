/** A directory for what a command puts aside while it runs, gone when it ends, also by Ctrl-C. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onInterruption } from '../interruption.ts';

/** Runs `work` with the path of such a directory. */
export async function withWorkspace<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'citeward-batch-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const stayed = onInterruption(remove);
  try {
    return await work(directory);
  } finally {
    stayed();
    remove();
  }
}
