/**
 * `npm run bench:bundles`: what a browser loads for parts of the library. The built package is bundled and minified;
 * sizes are after gzip.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildLibrary } from '../scripts/build-library.ts';
import { bundledCode } from './bundles/bundle.ts';

/** Imported names, as a user writes them. */
const PARTS = ['compose', 'compose, recipes', 'advantages', 'verifyCitations', 'replay', 'createScorer, lexicalJudge'];

const folder = mkdtempSync(join(tmpdir(), 'citeward-bundles-'));
try {
  await buildLibrary(join(folder, 'citeward'));
  for (const names of PARTS) {
    const code = `import { ${names} } from './citeward/lib/index.js';\nglobalThis.citeward = { ${names} };\n`;
    const bytes = gzipSync(await bundledCode(folder, code)).byteLength;
    console.log(`${`{ ${names} }`.padEnd(30)} ${(bytes / 1000).toFixed(1).padStart(6)} kB`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
