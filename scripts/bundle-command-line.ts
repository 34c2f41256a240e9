/**
 * Bundles the compiled command line of the npm package: to find and open 500 modules one by one takes longer than the
 * first row of `score` itself.
 */
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Code that several commands share. As deep as a command, because commands find files of the package relative to theirs. */
const SHARED = 'commands/shared';

/**
 * Replaces the folder `cli` of a compiled package by bundled modules, one for each command and for what some share.
 * Packages stay imports, but for zod, which has 95 modules; the manifest becomes part of the code.
 *
 * @param output the folder of the package, with its manifest.
 */
export async function bundleCommandLine(output: string): Promise<void> {
  const manifest = 'citeward/package.json';
  await build({
    configFile: false,
    logLevel: 'error',
    root: output,
    publicDir: false,
    ssr: { noExternal: ['zod'] },
    resolve: { alias: { [manifest]: resolve(output, 'package.json'), zod: fileURLToPath(import.meta.resolve('zod')) } },
    build: {
      outDir: resolve(output, 'cli'),
      emptyOutDir: true,
      target: 'esnext',
      minify: false,
      ssr: true,
      rolldownOptions: {
        input: { main: resolve(output, 'cli/main.js') },
        external: (name) => !name.startsWith('.') && !isAbsolute(name) && name !== manifest && name !== 'zod',
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          chunkFileNames: `${SHARED}/[name]-[hash].js`,
        },
      },
    },
  });
}
