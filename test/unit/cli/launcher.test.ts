/**
 * bin/citeward.mjs under a Node that is too old: a preloaded module changes the version that Node reports, so the
 * launcher decides as it would there.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const launcher = resolve(import.meta.dirname, '../../../bin/citeward.mjs');
const OLD = "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-launcher-'));
  place('bin/citeward.mjs', null);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a file of the folder; null copies the launcher. */
function place(path: string, text: string | null): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  if (text === null) cpSync(launcher, join(folder, path));
  else writeFileSync(join(folder, path), text);
}

function runOld(...args: readonly string[]): { readonly status: number | null; readonly out: string } {
  const ran = spawnSync(process.execPath, ['--import', OLD, join(folder, 'bin/citeward.mjs'), ...args], {
    encoding: 'utf8',
  });
  return { status: ran.status, out: ran.stdout + ran.stderr };
}

test('in the package it names the Node that it needs, in one line', () => {
  place('cli/main.js', "throw new Error('started')");
  expect(runOld('score')).toEqual({ status: 1, out: 'citeward needs Node 22.18 or later; this is 20.20.2.\n' });
});

test('in a clone without a Node of its own it says the same', () => {
  place('scripts/ensure-installed.mjs', '');
  expect(runOld('score')).toEqual({ status: 1, out: 'citeward needs Node 22.18 or later; this is 20.20.2.\n' });
});

test('in a clone it runs the Node of the project, and so do the scripts that this Node starts', () => {
  place('scripts/ensure-installed.mjs', '');
  const bundled = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin`);
  mkdirSync(bundled, { recursive: true });
  symlinkSync(process.execPath, join(bundled, 'node'));
  const main = `
    import { execFileSync } from 'node:child_process';
    console.log(process.argv.slice(2).join(' '));
    console.log(execFileSync('sh', ['-c', 'command -v node'], { encoding: 'utf8' }).trim());
  `;
  place('cli/main.ts', main);
  expect(runOld('score', 'rows.jsonl')).toEqual({ status: 0, out: `score rows.jsonl\n${join(bundled, 'node')}\n` });
});
