/**
 * Type-checks all TypeScript files and lists the projects that fail: `lib` contains src/ and the client, `cli` all that
 * runs in Node, and `serve` the Workers around Citeward under `citeward serve`. Other tsconfig.json files are for
 * editors. What a run finds is kept in .cache/, so the next one checks only what has changed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const cache = resolve(root, '.cache/types');
mkdirSync(cache, { recursive: true });

/** Each project's folder by its name. */
const PROJECTS = { lib: 'lib', cli: 'cli', dashboard: 'dashboard', worker: '.', serve: 'serve/workers' } as const;

const failed = Object.entries(PROJECTS).filter(([name, folder]) => {
  const incremental = ['--incremental', '--tsBuildInfoFile', resolve(cache, `${name}.json`)];
  // Each checker instantiates the types of schemas anew: four take twice the processor time of one.
  const args = ['--noEmit', '-p', folder, '--checkers', '1', ...incremental];
  return spawnSync(resolve(root, 'node_modules/.bin/tsc'), args, { cwd: root, stdio: 'inherit' }).status !== 0;
});
if (failed.length > 0) {
  console.error(`typecheck failed in ${failed.map(([, folder]) => folder).join(', ')}`);
  process.exit(1);
}
