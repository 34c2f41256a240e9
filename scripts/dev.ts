/**
 * `npm run dev`: the Worker on this machine, with no account and no network. Requests need no key and the built-in
 * lexical judge answers. Further arguments go to wrangler (`npm run dev -- --port 9000`).
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
// Address and port stand in wrangler.toml, so that an argument can replace them.
const options = ['--local', '--show-interactive-dev-session=false'];
const variables = ['--var', 'ALLOW_ANONYMOUS:true', '--var', 'ALLOW_LEXICAL_JUDGE:true'];

const child = spawn(process.execPath, [wrangler, 'dev', ...options, ...variables, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  // No metrics, and no download of the Request.cf sample: both would need the network.
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 0);
});
