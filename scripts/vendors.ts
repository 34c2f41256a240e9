/**
 * Installs the vendors' packages of test/vendors (about 650 MB, a minute) if their lock has changed, and type-checks
 * that folder. They stay out of the project's own dependencies, so that `npm test` and the demo do not wait for them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const folder = resolve(root, 'test/vendors');
const stamp = resolve(folder, 'node_modules/.citeward-installed');
const lock = createHash('sha256')
  .update(readFileSync(resolve(folder, 'package-lock.json')))
  .digest('hex');

function run(command: string, ...parameters: readonly string[]): void {
  const { status } = spawnSync(command, parameters, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`${command} ${parameters.join(' ')} failed in test/vendors`);
    process.exit(1);
  }
}

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.error("Installing the vendors' packages (once, about a minute) …");
  // promptfoo's optional packages, such as browsers and databases, would add to the size; no test needs them.
  run('npm', 'ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error');
  writeFileSync(stamp, lock);
}
run(resolve(root, 'node_modules/.bin/tsc'), '--noEmit', '-p', '.');
