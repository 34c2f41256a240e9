/** Bundles the dashboard; scripts/build-dashboard.ts runs it and writes the output. */
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

const root = resolve(import.meta.dirname);
/** Modules of the scoring library have no effects but their exports, so a page gets only those that it uses. */
const PURE = resolve(root, '../src/');

export default defineConfig({
  root,
  // Hashed files are served under /assets/, where the Worker has no routes.
  base: '/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(root, '../dist/dashboard'),
    target: 'es2022',
    // These versions support light-dark() and nesting, so the CSS is not transformed.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // All targeted browsers support module preload.
    modulePreload: { polyfill: false },
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !id.startsWith(PURE) } },
    // The Content Security Policy allows no data: URLs for scripts and connections.
    assetsInlineLimit: 0,
    // Served as /licenses.txt: the licences of the packages in the bundle ask that copies carry them.
    license: { fileName: 'licenses.txt' },
  },
});
