/** How the dashboard is bundled; scripts/build-dashboard.ts runs it and writes what comes out. */
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

const root = resolve(import.meta.dirname);

export default defineConfig({
  root,
  // Hashed names lie under /assets/; nothing here can have the path of a route of the Worker.
  base: '/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(root, '../dist/dashboard'),
    target: 'es2022',
    // light-dark() and nesting as they are written: every browser that has them has them alike.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The polyfill is an inline script's worth of code for browsers that the target leaves out.
    modulePreload: { polyfill: false },
    // A data: URL is nothing that connect-src or script-src would let through.
    assetsInlineLimit: 0,
  },
});
