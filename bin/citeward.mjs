#!/usr/bin/env node
/**
 * Starts the command line. In the published package it imports compiled JavaScript. In a clone it imports TypeScript:
 * it installs the dependencies once, and runs the Node that the project brings if this one is too old.
 * Plain JavaScript, so that it starts under Node 20. npx remembers the path of this file: it must not move.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));

// Before the first TypeScript file, so that Node need not load its TypeScript reader for one file on every start.
module.enableCompileCache?.();

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 18);
const compiled = new URL('../cli/main.js', import.meta.url);
if (existsSync(compiled)) {
  if (!isRecent) refuse();
  await import(compiled.href);
} else {
  await import('../scripts/ensure-installed.mjs');
  if (isRecent) {
    await import('../cli/main.ts');
  } else {
    const bundled = pathOf(`../node_modules/node-${process.platform}-${process.arch}/bin/node`);
    if (!existsSync(bundled)) refuse();
    const child = spawn(bundled, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
      // First in PATH, because the build of `serve` starts scripts as `node FILE`.
      env: {
        ...process.env,
        PATH: `${dirname(bundled)}${delimiter}${process.env.PATH ?? ''}`,
        CITEWARD_LAUNCHER: String(process.pid),
      },
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)));
  }
}

function refuse() {
  console.error(`citeward needs Node 22.18 or later; this is ${process.versions.node}.`);
  process.exit(1);
}
