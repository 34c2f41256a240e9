/**
 * Type-checks all TypeScript files and lists the projects that fail: `lib` contains src/ and the client, `cli` all that
 * runs in Node. Other tsconfig.json files are for editors.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const projects = ['lib', 'cli', 'dashboard', '.'];
const failed = projects.filter(
  (project) =>
    spawnSync(resolve(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', project], { cwd: root, stdio: 'inherit' })
      .status !== 0,
);
if (failed.length > 0) {
  console.error(`typecheck failed in ${failed.join(', ')}`);
  process.exit(1);
}
