/** Recipe families stay behind their lists; structure.test.ts holds who may import one. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { FAMILY_NAMES } from '../../../src/families/composers.ts';

const root = resolve(import.meta.dirname, '../../..');
const PRODUCTION = ['src', 'lib', 'service', 'hosts', 'functions', 'cli', 'dashboard', 'clients', 'scripts'];

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Files that name something else, the trainer dr-tulu: its rules for rubrics that evolve, and the rows of its data sets. */
const NAMESAKES = ['src/rubrics/evolution-rules.ts', 'src/wire/training-rows.ts'];

it('families are named in their own folders only', () => {
  const listed = execFileSync('git', ['ls-files', '-z', '-c', '-o', '--exclude-standard', ...PRODUCTION], {
    cwd: root,
  });
  const files = listed
    .toString()
    .split('\0')
    .filter((file) => /\.tsx?$/.test(file) && existsSync(join(root, file)));
  const names = new RegExp(`'(?:${FAMILY_NAMES.join('|')})'`);
  const naming = files.filter((file) => names.test(textOf(file)));
  const others = naming.filter((file) => !NAMESAKES.includes(file));
  expect(others.filter((file) => !FAMILY_NAMES.some((name) => file.startsWith(`src/families/${name}/`)))).toEqual([]);
});

it.each(FAMILY_NAMES)('%s composes without zod, so that compose can be bundled alone', (name) => {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    expect(textOf(file), file).not.toMatch(/^import (?!type)[^;]*from 'zod'/m);
    for (const [, path = ''] of textOf(file).matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)';/gm)) {
      visit(join(dirname(file), path));
    }
  };
  visit(`src/families/${name}/composer.ts`);
});
