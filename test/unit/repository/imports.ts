/** Reads the import graph of the production code, type imports included. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../..');

/** Tracked files of the repository, by path from the root. Other tests create untracked files at the same time. */
export function repositoryFiles(): string[] {
  const listed = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
  return listed.stdout.split('\n').filter((file) => file !== '' && existsSync(resolve(root, file)));
}

/** Matches `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`. */
const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*'(?<path>\.{1,2}\/[^']+)'/gu;

/** Relative imports by file, both as paths from the root. A `?raw` suffix and imports of missing files are dropped. */
export function importsOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const code = readFileSync(resolve(root, file), 'utf8');
      const imported = [...code.matchAll(RELATIVE_IMPORT)].map(({ groups }) =>
        normalize(join(dirname(file), groups?.['path'] ?? '')),
      );
      return [file, [...new Set(imported)].filter((target) => known.has(target))];
    }),
  );
}
