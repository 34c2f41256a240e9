/**
 * `npm run build:library`: the npm package in dist/npm. It is published from there and not from the root, since the root
 * carries what only the repository needs: the Worker's framework, and Node itself for machines with an older one.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const output = resolve(root, 'dist/npm');

/** What src/, cli/ and clients/ import at run time; the Worker bundles its own. */
const RUNTIME_DEPENDENCIES = ['canonicalize', 'eventsource-parser', 'zod'];

type Manifest = Readonly<Record<string, unknown>> & { readonly dependencies: Readonly<Record<string, string>> };

rmSync(output, { recursive: true, force: true });
const built = spawnSync(resolve(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.library.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (built.status !== 0) throw new Error('tsc failed');

const manifest: Manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
const { name, version, description, license, type, engines } = manifest;
const published = {
  name,
  version,
  description,
  license,
  type,
  engines,
  exports: {
    '.': { types: './src/index.d.ts', default: './src/index.js' },
    './client': { types: './clients/typescript/index.d.ts', default: './clients/typescript/index.js' },
    './package.json': './package.json',
  },
  bin: { citeward: './cli/main.js' },
  dependencies: Object.fromEntries(RUNTIME_DEPENDENCIES.map((each) => [each, manifest.dependencies[each]])),
};
writeFileSync(resolve(output, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
for (const file of ['README.md', 'LICENSE']) cpSync(resolve(root, file), resolve(output, file));
console.log(`built ${String(name)} ${String(version)} in dist/npm; publish it with: npm publish ./dist/npm`);
