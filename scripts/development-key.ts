/** The key that signs receipts and judgments in `npm run dev`, made at the first start. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newIssuerKey } from './demo-run/state.ts';

/** Relative to the root of the project; ignored by git. */
export const DEVELOPMENT_KEY = '.citeward/dev/issuer-key';

export type DevelopmentKey = {
  /** Arguments for wrangler; none if the caller configures the key. */
  readonly args: readonly string[];
  /** Whether the key was made now. */
  readonly isNew: boolean;
};

/**
 * Reads the development key, or makes it. The key stays the same, so that old signatures stay valid.
 *
 * @param root folder of the project.
 * @param args of wrangler. A key there, in a file of variables, or in .dev.vars wins.
 */
export async function developmentKey(root: string, args: readonly string[]): Promise<DevelopmentKey> {
  const named = args.some((arg) => arg.includes('ISSUER_KEY:') || arg.startsWith('--env-file'));
  if (named || /^\s*(?:export\s+)?ISSUER_KEY\s*=/mu.test(await textOf(join(root, '.dev.vars')))) {
    return { args: [], isNew: false };
  }
  const path = join(root, DEVELOPMENT_KEY);
  const stored = (await textOf(path)).trim();
  const key = stored === '' ? await newIssuerKey() : stored;
  if (stored === '') {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${key}\n`, { mode: 0o600 });
  }
  return { args: ['--var', `ISSUER_KEY:${key}`], isNew: stored === '' };
}

/** The text of a file; '' if there is none. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
