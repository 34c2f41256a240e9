/** The key that signs receipts and judgments in `npm run dev`, made at the first start. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { newIssuerKey } from './demo-run/state.ts';

/**
 * Reads the key, or makes it. The key stays the same, so that old signatures stay valid.
 *
 * @param path of the file that holds the key.
 */
export async function developmentKey(path: string): Promise<string> {
  const stored = (await fileText(path)).trim();
  if (stored !== '') return stored;
  const key = await newIssuerKey();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${key}\n`, { mode: 0o600 });
  return key;
}

/** The text of a file; '' if there is none. */
export async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
