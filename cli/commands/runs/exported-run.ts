/** A run of a Worker as a file, for commands that read its rollouts more than once. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../../clients/typescript/client.ts';
import { chunksOf } from '../../shared/input.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';

/** Exports a run to a temporary file, which exists while `use` reads it. @throws RunError if the Worker refuses. */
export async function withExport<T>({ runs }: Client, id: string, use: (path: string) => Promise<T>): Promise<T> {
  const opened = await runs.export(id);
  if (!opened.ok) throw runErrorOf(opened.failure);
  const folder = await mkdtemp(join(tmpdir(), 'citeward-run-'));
  try {
    const path = join(folder, 'run.jsonl');
    // A connection that is lost cuts the file off, which its reader refuses.
    await writeFile(
      path,
      chunksOf(opened.body, () => undefined),
    );
    return await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}
