/**
 * Vitest's global set-up for tests that start `citeward` many times: bundles the command line once, because a start
 * from 300 TypeScript files takes half a second of a processor. `serve` and the packed package are tested as they are.
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
      ssr: resolve(root, 'cli/main.ts'),
      outDir,
      target: 'esnext',
      minify: false,
      rolldownOptions: {
        external: [/^node:/u, 'workerd'],
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
}
