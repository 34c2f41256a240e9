/**
 * A Vite plugin for tests inside workerd: their imports of the product's sources are answered from one bundle, made
 * once a run. Vitest fetches module by module into each test file's own isolate, and for the Worker's 700 modules that
 * takes longer than most files' tests. In watch mode there is no bundle, since it would not follow edits.
 *
 * The bundle is made when an import is resolved, and Vitest resolves no imports of a test file that it has in its cache
 * on disk: the tests would run an earlier bundle. So this cache is off.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { build, type Plugin } from 'vite';
import type {} from 'vitest/config';

const root = resolve(import.meta.dirname, '..');
const output = resolve(root, '.cache/bundled-sources');

/** Statements that import values; what is imported as types only loads nothing. */
const VALUE_IMPORT = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gmu;
const OF_THE_PRODUCT = /^(?:src|service|hosts|functions|lib|clients\/typescript)\//u;

/** The bundle of this run, which the projects share. */
let bundle: Promise<ReadonlyMap<string, string>> | null = null;

/** `tests`: a pattern of the files whose imports are answered, relative to the repository; the same for every project. */
export function bundledSources(tests: string): Plugin {
  let isWatching = false;
  return {
    name: 'citeward-bundled-sources',
    enforce: 'pre',
    config: () => ({ test: { fsModuleCache: false } }),
    configureVitest: ({ vitest }) => {
      isWatching = vitest.config.watch;
    },
    async resolveId(source, importer) {
      if (isWatching || importer === undefined) return null;
      const file = fileOf(source, importer);
      if (file === null) return null;
      bundle ??= bundleSources(tests);
      return (await bundle).get(file) ?? null;
    },
    load(id) {
      // Without a source map, which Vitest would send with the code to each file's isolate.
      return id.startsWith(output) ? { code: readFileSync(id, 'utf8'), map: { mappings: '' } } : null;
    },
  };
}

const manifest: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(resolve(root, 'package.json'), 'utf8'),
);

/** The source file of the product that an import names, or null if it names none. */
function fileOf(source: string, importer: string): string | null {
  const [specifier = ''] = source.split('?', 1);
  if (specifier !== source) return null;
  const ofPackage = /^citeward(\/.*)?$/u.exec(specifier);
  const file =
    ofPackage === null
      ? specifier.startsWith('.') && resolve(dirname(importer), specifier)
      : resolve(root, manifest.exports[`.${ofPackage[1] ?? ''}`] ?? '');
  return file !== false && file.endsWith('.ts') && OF_THE_PRODUCT.test(relative(root, file)) ? file : null;
}

async function bundleSources(tests: string): Promise<ReadonlyMap<string, string>> {
  const imported = globSync(tests, { cwd: root }).flatMap((test) => {
    const path = resolve(root, test);
    return [...readFileSync(path, 'utf8').matchAll(VALUE_IMPORT)].map(([, source = '']) => fileOf(source, path));
  });
  const files = [...new Set(imported)].filter((file) => file !== null);
  const nameOf = (file: string): string => relative(root, file).slice(0, -'.ts'.length);
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    publicDir: false,
    resolve: { conditions: ['workerd', 'worker', 'module', 'browser', 'development'] },
    build: {
      outDir: output,
      emptyOutDir: true,
      target: 'esnext',
      minify: false,
      sourcemap: false,
      rolldownOptions: {
        input: Object.fromEntries(files.map((file) => [nameOf(file), file])),
        external: [/^cloudflare:/u, /^node:/u],
        preserveEntrySignatures: 'strict',
        output: {
          format: 'es',
          comments: false,
          entryFileNames: '[name].js',
          chunkFileNames: '[name].js',
          codeSplitting: { groups: [{ name: 'all' }] },
        },
      },
    },
  });
  return new Map(files.map((file) => [file, resolve(output, `${nameOf(file)}.js`)]));
}
