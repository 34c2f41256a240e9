/** The example for pull requests: the table of changed answers. */
import { expect, it } from 'vitest';
import { commentOf } from '../../../examples/github/score-changed.ts';

it('lists changed answers, the largest loss first, and means over those with both rewards', () => {
  const before = new Map<string, number | null>([
    ['a', 8],
    ['b', 2],
    ['c', null],
  ]);
  const after = new Map<string, number | null>([
    ['b', 3],
    ['a', 4.5],
    ['c', 6],
    ['new', 1],
  ]);
  expect(commentOf(before, after).split('\n')).toEqual([
    '**Citeward**: 4 changed answers; mean 5.00 → 3.75',
    '',
    '| answer | before | after | change |',
    '|---|---:|---:|---:|',
    '| `a` | 8.00 | 4.50 | -3.50 |',
    '| `c` | not scored | 6.00 |  |',
    '| `new` | new | 1.00 |  |',
    '| `b` | 2.00 | 3.00 | +1.00 |',
  ]);
});

it('shows an id as text: no markup, no mention, no cell of its own', () => {
  const rows = commentOf(new Map(), new Map([['x` | <b>@all</b>\n| y', null]])).split('\n');
  expect(rows.slice(4)).toEqual(['| `x <b>@all</b> y` | new | not scored |  |']);
  expect(rows[0]).toBe('**Citeward**: 1 changed answer; 1 not scored');
});
