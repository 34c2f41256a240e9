/** Terminal output: widths in columns instead of characters, and text that cannot overwrite other text. */

import { describe, expect, test } from 'vitest';
import { durationText } from '../../../cli/shared/number-text.ts';
import { progressText } from '../../../cli/shared/progress.ts';
import { remarksOfFindings, remarksText } from '../../../cli/shared/remarks.ts';
import { type Column, Table, type TableRow } from '../../../cli/shared/table.ts';
import { fitText, textWidth } from '../../../cli/shared/text-width.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';

const FAMILY = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}';

describe('text width', () => {
  test.each([
    ['plain', 5],
    ['', 0],
    ['日本語', 6],
    ['한국어', 6],
    ['ｆｕｌｌ', 8],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['👍🏽', 2],
    [FAMILY, 2],
    ['❤️', 2],
    ['naïve – “x”', 11],
    ['עברית', 5],
  ])('%s takes %i columns', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test.each([
    ['plain text', 20, 'plain text'],
    ['plain text', 6, 'plain…'],
    ['日本語の文', 6, '日本…'],
    ['日本語の文', 5, '日本…'],
    ['日本語', 6, '日本語'],
    [`${FAMILY}${FAMILY}`, 3, `${FAMILY}…`],
    ['x', 0, ''],
    ['ab', 1, '…'],
  ])('%s in %i columns', (text, width, fitted) => {
    expect(fitText(text, width)).toBe(fitted);
    expect(textWidth(fitted)).toBeLessThanOrEqual(width);
  });

  test('a very long text is cut without being measured in full', () => {
    expect(fitText('界'.repeat(2_000_000), 9)).toBe('界界界界…');
  });

  test('removes escape sequences, line breaks and direction marks', () => {
    expect(plainLine('a\u001b[31mb\u001b]0;title\u0007c\r\nd\u2028e\u0000f')).toBe('abc d e f');
    expect(plainLine('a\u202Eb\u2066c\u200Fd')).toBe('abcd');
    expect(plainLine('x\uD800y').isWellFormed()).toBe(true);
    expect(plainLine(FAMILY)).toBe(FAMILY);
  });
});

describe('table', () => {
  const columns: readonly Column[] = [
    { title: 'id', align: 'left', most: 8 },
    { title: 'reward', align: 'right', most: 8 },
    { title: 'none', align: 'left', most: 8 },
    { title: 'note', align: 'left', most: 100 },
  ];
  async function print(rows: readonly TableRow[], width: number): Promise<string[]> {
    const lines: string[] = [];
    const table = new Table(
      columns,
      width,
      (_colour, text) => text,
      async (line) => {
        lines.push(line);
      },
    );
    for (const row of rows) await table.add(row);
    await table.end();
    return lines;
  }
  const row = (id: string, reward: string, note: string): TableRow => ({
    cells: [{ text: id }, { text: reward }, { text: '' }, { text: note }],
  });

  test('columns are aligned in columns of the terminal, empty ones are left out, the last is cut', async () => {
    const lines = await print(
      [row('日本', '9.50', 'a short note'), row('identifier-long', '10.00', '好'.repeat(40))],
      40,
    );
    expect(lines).toEqual([
      'id        reward  note',
      '日本        9.50  a short note',
      `identif…   10.00  ${'好'.repeat(10)}…`,
    ]);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(40);
  });

  test('leaves the last column out without room', async () => {
    expect(await print([row('a', '1.00', 'a note that does not fit')], 30)).toEqual(['id  reward', 'a     1.00']);
  });

  test('a row without numbers shows its reason over the columns', async () => {
    const unscored = { cells: [{ text: 'b' }], spread: { text: 'unscored: judgment_missing (not in the store)' } };
    expect(await print([row('a', '1.00', ''), unscored], 40)).toEqual([
      'id  reward',
      'a     1.00',
      'b   unscored: judgment_missing (not in…',
    ]);
  });

  test('prints rows before the last one is there', async () => {
    const rows = Array.from({ length: 60 }, (_, position) => row(`row ${position}`, '1.00', ''));
    const lines: string[] = [];
    const table = new Table(
      columns,
      80,
      (_colour, text) => text,
      async (line) => {
        lines.push(line);
      },
    );
    for (const one of rows.slice(0, 50)) await table.add(one);
    expect(lines.length).toBe(51);
    await table.add(row('an id far longer than before', '1.00', ''));
    expect(lines.at(-1)).toBe('an id…    1.00');
  });

  test('no rows, no table', async () => {
    expect(await print([], 80)).toEqual([]);
  });
});

test('remarks: the most important first, as many as fit', () => {
  const remarks = remarksOfFindings({ citation_id_unknown: 2, ids_shotgun: 1, no_answer: 1, number_not_in_source: 3 });
  expect(remarksText(remarks, 80)).toBe('no answer, 2 invented ids, 1 shotgun, 3 numbers not in source');
  expect(remarksText(remarks, 28)).toBe('no answer, 2 invented ids +2');
  expect(remarksText(remarks, 12)).toBe('no answer +3');
  expect(remarksText([], 12)).toBe('');
});

test('progress shows the remaining time only if it is known', () => {
  expect(progressText(0, 0, null, 0)).toBe('0 rows');
  expect(progressText(1, 10, null, 2)).toBe('1 row  0.5 rows/s');
  expect(progressText(1_234, 50, 200, 10)).toBe('1,234 rows  123 rows/s  25%  about 30.0 s left');
  expect(progressText(9, 200, 200, 10)).toBe('9 rows  0.9 rows/s');
});

test.each([
  [0.123, '0.12 s'],
  [9.96, '10.0 s'],
  [119.7, '2 min 0 s'],
  [3_725, '1 h 2 min'],
])('%d s reads %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
