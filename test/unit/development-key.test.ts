/** The issuer key of `npm run dev`: made once, kept, and never in place of a key that the user configures. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEVELOPMENT_KEY, developmentKey } from '../../scripts/development-key.ts';
import { readIssuer } from '../../src/judgments/issuer-keys.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'citeward-test-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

it('is made at the first start, for this user alone, and stays the same', async () => {
  const first = await developmentKey(root, ['--port', '9000']);
  const [flag, variable = ''] = first.args;
  expect([flag, first.isNew]).toEqual(['--var', true]);
  const key = variable.slice('ISSUER_KEY:'.length);
  expect(await readIssuer(key)).toMatchObject({ ok: true });
  expect(readFileSync(join(root, DEVELOPMENT_KEY), 'utf8')).toBe(`${key}\n`);
  expect(statSync(join(root, DEVELOPMENT_KEY)).mode & 0o777).toBe(0o600);
  expect(await developmentKey(root, [])).toEqual({ args: first.args, isNew: false });
});

it.each([
  ['an argument', ['--var', 'ISSUER_KEY:mine'], ''],
  ['a file of variables', ['--env-file=mine.vars'], ''],
  ['.dev.vars', [], 'OTHER=1\nISSUER_KEY = "mine"\n'],
])('is not used where %s has one', async (_where, args, variables) => {
  writeFileSync(join(root, '.dev.vars'), variables);
  expect(await developmentKey(root, args)).toEqual({ args: [], isNew: false });
});

it('is used beside other settings', async () => {
  writeFileSync(join(root, '.dev.vars'), '# ISSUER_KEY=unset\nISSUER_KEYS_PREVIOUS=[]\n');
  expect((await developmentKey(root, ['--var', 'LOG:1'])).isNew).toBe(true);
});
