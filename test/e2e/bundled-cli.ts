/**
 * Vitest's global set-up for tests that run `citeward` many times: bundles the command line once, because a start from
 * 300 TypeScript files takes half a second of a processor. `serve` and the packed package are tested as they are.
 */
import { rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { build } from 'vite';
import { BUNDLED_CLI, root } from './processes.ts';

export async function setup(): Promise<void> {
  const outDir = dirname(resolve(root, BUNDLED_CLI));
  rmSync(outDir, { recursive: true, force: true });
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      target: 'esnext',
      minify: false,
      rolldownOptions: {
        input: ['main', 'dispatch'].map((name) => resolve(root, `cli/${name}.ts`)),
        external: [/^node:/u, 'workerd'],
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
}
