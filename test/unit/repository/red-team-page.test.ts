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

it('shows seeds that two commands trained with the same settings in one row', () => {
  const [line = ''] = read('scripts/red-team/results.jsonl').split('\n');
  const result: { seeds: unknown[]; note: string | null } = JSON.parse(line);
  const [first, ...others] = result.seeds;
  const apart = [
    { ...result, seeds: [first] },
    { ...result, date: '2026-11-27', seeds: others },
  ];
  expect(redTeamTables(apart.map((one) => JSON.stringify(one)).join('\n'))).toEqual(redTeamTables(line));
  const noted = { ...result, note: 'otherwise', seeds: others };
  expect(redTeamTables([apart[0], noted].map((one) => JSON.stringify(one)).join('\n')).runs).toContain('\n2. ');
});
