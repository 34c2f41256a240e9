/**
 * `npm run dev`: runs the Worker locally, without account or network. Requests need no key, the built-in lexical judge
 * is on, a fake replaces Workers AI, and a development key signs receipts. Arguments are passed to wrangler (`npm run dev
 * -- --port 9000`); BACKENDS and other secrets are read from .dev.vars.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { ensureDashboard } from './build-dashboard.ts';
import { DEVELOPMENT_KEY, developmentKey } from './development-key.ts';

const root = resolve(import.meta.dirname, '..');
const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
// Two Workers: Citeward and the fake AI bound to it. Address, port and variables are in the first configuration file,
// so that arguments can override them.
const workers = ['-c', 'wrangler.dev.toml', '-c', 'fake-ai/wrangler.toml'];
await ensureDashboard();
const own = process.argv.slice(2);
const key = await developmentKey(root, own);
if (key.isNew) {
  console.log(`Made a key that signs receipts and judgments on this machine: ${DEVELOPMENT_KEY} (not in git).`);
}
const options = ['--local', '--show-interactive-dev-session=false', ...key.args];

const child = spawn(process.execPath, [wrangler, 'dev', ...workers, ...options, ...own], {
  cwd: root,
  stdio: 'inherit',
  // Turns off metrics and the download of the Request.cf sample, which need the network.
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 0);
});
