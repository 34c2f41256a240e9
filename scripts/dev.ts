/**
 * `npm run dev`: the Worker on this machine, with no account and no network. Requests need no key, the built-in lexical
 * judge answers, and a fake stands in for Workers AI. Further arguments go to wrangler (`npm run dev -- --port 9000`);
 * BACKENDS and other secrets are read from .dev.vars.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { ensureDashboard } from './build-dashboard.ts';

const root = resolve(import.meta.dirname, '..');
const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
// Two Workers: this one, and the fake AI that it is bound to. Address, port and variables stand in the first one's
// configuration, so that an argument can replace them.
const workers = ['-c', 'wrangler.dev.toml', '-c', 'fake-ai/wrangler.toml'];
await ensureDashboard();
const options = ['--local', '--show-interactive-dev-session=false'];

const child = spawn(process.execPath, [wrangler, 'dev', ...workers, ...options, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  // No metrics, and no download of the Request.cf sample: both would need the network.
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 0);
});
