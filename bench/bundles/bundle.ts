/** Bundles an import of the built package for a browser. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'vite';

const root = resolve(import.meta.dirname, '../..');

/**
 * The code of a module, bundled and minified with what it imports.
 *
 * @param folder where the code lies, with the built package in `citeward/`.
 */
export async function bundledCode(folder: string, code: string): Promise<string> {
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) symlinkSync(resolve(root, 'node_modules'), modules);
  const input = join(folder, 'entry.js');
  writeFileSync(input, code);
  const output = await build({
    configFile: false,
    logLevel: 'error',
    root: folder,
    build: { write: false, target: 'es2024', modulePreload: { polyfill: false }, rolldownOptions: { input } },
  });
  if (Array.isArray(output) || !('output' in output)) throw new Error('bundledCode: expected one build');
  return output.output.flatMap((file) => (file.type === 'chunk' ? [file.code] : [])).join('\n');
}
