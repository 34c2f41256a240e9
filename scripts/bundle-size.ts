/**
 * `npm run build`: bundles the Worker like a deployment (a dry run without account or network) and checks its size
 * against a budget, because start-up time grows with the size.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureDashboard } from './build-dashboard.ts';

/** The platform's limit is 3 MB. The SDK of the Model Context Protocol takes 60 KB of the bundle, zod 30 KB. */
const BUDGET_GZIP_BYTES = 525_000;

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
if (modules.length === 0) throw new Error(`the build wrote no modules to ${output}`);
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
  console.error('the bundle exceeds its budget; the source map in dist/worker shows what grew');
  process.exitCode = 1;
}
