/** docs/deploy.md lists every setting of the Worker, and creates every resource that wrangler.toml binds. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const page = read('docs/deploy.md');

function matchesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(({ groups }) => groups?.['name'] ?? '');
}

it('has a row for every setting', () => {
  const optional = matchesOf(read('functions/environment.ts'), /^ {2}readonly (?<name>[A-Z_]+)\?: string;/gmu);
  const switches = matchesOf(read('wrangler.toml'), /^(?<name>ALLOW_[A-Z_]+) = /gmu);
  expect(optional.length + switches.length).toBeGreaterThan(8);
  const rows = matchesOf(page, /^\| `(?<name>[A-Z_]+)` \|/gmu);
  expect(rows.sort()).toEqual([...optional, ...switches].sort());
});

it('creates every resource', () => {
  const resources = matchesOf(
    read('wrangler.toml'),
    /^(?:bucket_name|database_name|queue|dead_letter_queue) = "(?<name>[^"]+)"/gmu,
  );
  expect(new Set(resources).size).toBeGreaterThan(3);
  for (const name of new Set(resources)) expect(page).toMatch(new RegExp(`create ${name}$`, 'mu'));
  expect(page).toContain('kv namespace create JUDGMENTS');
});
