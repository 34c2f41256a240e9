/** docs/reference/red-team.md has what scripts/red-team-page.ts makes of the results. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { pageWith } from '../../../bench/hacks/page.ts';
import { redTeamTables } from '../../../scripts/red-team/tables.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

it('is made from the results', () => {
  const page = read('docs/reference/red-team.md');
  expect(pageWith(page, redTeamTables(read('scripts/red-team/results.jsonl')))).toBe(page);
});
