/**
 * `npm run build`: bundles the Worker as a deployment would (a dry run: no account, no network), and holds its size
 * against a budget, as start-up time grows with it.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureDashboard } from './build-dashboard.ts';

/**
 * Four recipe families, the exact readers of public code, adapters, batches, generation, the agent, runs and replay; 35 KB
 * are the OpenAPI file and 30 KB zod. The platform takes 3 MB.
 */
const BUDGET_GZIP_BYTES = 300_000;

const root = resolve(import.meta.dirname, '..');
const output = resolve(root, 'dist/worker');

await ensureDashboard();
rmSync(output, { recursive: true, force: true });
const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
const built = spawnSync(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', output], {
  cwd: root,
  encoding: 'utf8',
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
});
if (built.status !== 0) {
  console.error(`${built.stdout}${built.stderr}`);
  throw new Error(`wrangler deploy --dry-run ended with ${built.status ?? built.signal}`);
}

const modules = readdirSync(output).filter((name) => /\.(js|mjs|wasm|json)$/.test(name));
if (modules.length === 0) throw new Error(`the build left no modules in ${output}`);
let plain = 0;
let gzipped = 0;
for (const name of modules) {
  const bytes = readFileSync(resolve(output, name));
  plain += bytes.byteLength;
  gzipped += gzipSync(bytes).byteLength;
}
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`;
console.log(`worker: ${kilobytes(plain)}, gzipped ${kilobytes(gzipped)} of ${kilobytes(BUDGET_GZIP_BYTES)}`);
if (gzipped > BUDGET_GZIP_BYTES) {
  console.error('the bundle is over its budget: dist/worker and its source map show what grew');
  process.exitCode = 1;
}
