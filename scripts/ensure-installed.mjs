/**
 * Installs the dependencies once, before npm scripts that need them. Plain JavaScript, because it runs on npm's own
 * Node (20 or later); the scripts after it run on the Node that the project installs.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const stamp = resolve(root, 'node_modules/.citeward-installed');
const lock = createHash('sha256')
  .update(readFileSync(resolve(root, 'package-lock.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.error('Installing dependencies (once, about 20 seconds) …');
  const installed = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  // EBADENGINE only says that npm's Node is older than the Node that the project installs.
  const complaints = (installed.stderr ?? '').split('\n').filter((line) => line !== '' && !line.includes('EBADENGINE'));
  if (installed.status !== 0) {
    console.error(complaints.join('\n'));
    console.error('npm ci failed; fix the cause above and run the command again.');
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}
