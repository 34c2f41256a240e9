/**
 * The examples in the comments of src/ run, and a line `expression; // value` has that value. Examples of lib/ and of
 * the client are fenced and import the package; test/slow/package.test.ts runs those against the installed package.
 */
import { deepEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import * as citations from '../../lib/citations.ts';
import { verifyCitations } from '../../lib/verify.ts';
import { indexSources } from '../../src/lexical/index.ts';

const root = resolve(import.meta.dirname, '../..');

type Example = { readonly file: string; readonly code: string };

function examples(): readonly Example[] {
  return globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
    const text = readFileSync(resolve(root, file), 'utf8');
    const blocks = text.matchAll(/^ \* @example\n(?<code>(?: \* [^@\n].*\n)+)/gmu);
    return [...blocks].map(({ groups }) => ({ file, code: (groups?.['code'] ?? '').replaceAll(/^ \* /gmu, '') }));
  });
}

/** Runs one example with the exports of its file, of citeward/citations and of the lexical evidence in scope. */
async function runExample({ file, code }: Example): Promise<void> {
  const own: Readonly<Record<string, unknown>> = await import(resolve(root, file));
  const scope = { ...citations, verifyCitations, indexSources, ...own, deepEqual };
  const checked = code.replaceAll(/^(?<expression>[^\n]+); \/\/ (?<value>['[{\d-].*)$/gmu, 'deepEqual($1, $2);');
  const run = new Function(...Object.keys(scope), `'use strict'; ${checked}`);
  run(...Object.values(scope));
}

const all = examples();

it('finds the examples', () => {
  expect(all.length).toBeGreaterThan(10);
});

it.each(all.map((one) => [one.file, one] as const))('%s', (_, example) => runExample(example));
