/**
 * Type-checks every TypeScript project (library, client, CLI and scripts, GPU backend, dashboard, Worker) and lists
 * those that fail.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const projects = ['src', 'lib', 'clients/typescript', 'cli', 'gpu-backend', 'dashboard', '.'];
const failed = projects.filter(
  (project) =>
    spawnSync(resolve(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', project], { cwd: root, stdio: 'inherit' })
      .status !== 0,
);
if (failed.length > 0) {
  console.error(`typecheck failed in ${failed.join(', ')}`);
  process.exit(1);
}
