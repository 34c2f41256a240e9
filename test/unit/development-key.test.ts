/** The issuer key of `npm run dev`: made once, kept, and readable by this user alone. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { developmentKey } from '../../scripts/development-key.ts';
import { readIssuer } from '../../src/judgments/issuer-keys.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-test-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('is made at the first start, for this user alone, and stays the same', async () => {
  const path = join(folder, 'new', 'issuer-key');
  const key = await developmentKey(path);
  expect(await readIssuer(key)).toMatchObject({ ok: true });
  expect(readFileSync(path, 'utf8')).toBe(`${key}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await developmentKey(path)).toBe(key);
});
