/**
 * Installs the dependencies once, before any npm script that needs them. Runs under whatever Node npm itself runs on
 * (20 or later), so it is plain JavaScript; everything after it runs on the Node that the project brings.
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
  // EBADENGINE says that the Node that runs npm is older than the one the project brings: expected, and no failure.
  const complaints = (installed.stderr ?? '').split('\n').filter((line) => line !== '' && !line.includes('EBADENGINE'));
  if (installed.status !== 0) {
    console.error(complaints.join('\n'));
    console.error('npm ci failed; mend the cause above and run the command again.');
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}
