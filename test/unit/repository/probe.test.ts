/** The page about probing: its names and its shares. Its tables are made again in test/slow/documented-figures.test.ts. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { CANNED_ANSWERS } from '../../../src/probe/canned-answers.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/guides/probe.md'), 'utf8');

it('names every canned answer', () => {
  const short = (name: string): string =>
    name.replace(/_(?:2|3|4)$/u, '_1').replace('good_answer_all_sources_repeated', '…_repeated');
  for (const name of CANNED_ANSWERS) expect(page).toContain(`\`${short(name)}\``);
});

it('shows that refiner-guarded pays at most a fifth without the answer, and two fifths where ids are sprayed', () => {
  const containing = [
    'copies and cites every source sentence',
    'answers well and cites every source',
    'answers well and cites every source three times',
    "pastes the rubric's words and cites sources",
  ];
  const table = page.split('<!-- demo rows -->')[1]?.split('<!-- /demo rows -->')[0] ?? '';
  const shares = table
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('*', '')))
    .flatMap(([, does = '', ...shown]) =>
      shown.at(-2)?.endsWith(' %') === true ? [{ does, guarded: shown.at(-2) }] : [],
    )
    .map(({ does, guarded = '' }) => ({ does, share: Number.parseInt(guarded, 10) }));
  expect(shares.map(({ does }) => does)).toEqual(expect.arrayContaining(containing));
  const others = shares.filter(({ does }) => !containing.includes(does));
  expect(others.length).toBeGreaterThan(12);
  expect(others.filter(({ share }) => !(share <= 20))).toEqual([]);
  const sprayed = shares.filter(({ does }) => does.startsWith('answers well and cites every source'));
  expect(sprayed.length).toBe(2);
  expect(sprayed.filter(({ share }) => !(share <= 40))).toEqual([]);
});
