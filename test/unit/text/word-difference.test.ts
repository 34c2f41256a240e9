/** The words in which two texts differ. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wordDifference } from '../../../src/text/word-difference.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

function words(one: string, other: string): [string[], string[]] {
  const found = wordDifference(one, other);
  return [
    found.one.map(({ start, end }) => one.slice(start, end)),
    found.other.map(({ start, end }) => other.slice(start, end)),
  ];
}

it('names a changed, an added and a removed word', () => {
  expect(words('It opened in 1914 in Panama.', 'It opened in 1920 in Panama.')).toEqual([['1914'], ['1920']]);
  expect(words('It opened in Panama.', 'It opened late in Panama.')).toEqual([[], ['late']]);
  expect(words('a b c', '')).toEqual([['a b c'], []]);
});

it('keeps a sentence that moved behind another as one difference', () => {
  const found = words('Ships wait. Rain falls. Locks lift.', 'Rain falls. Locks lift. Ships wait.');
  expect(found).toEqual([['Ships wait.'], ['. Ships wait']]);
});

it('takes a tag as one word', () => {
  expect(words('<snippet id=S1>Rain</snippet>', '<snippet id=S9>Rain</snippet>')).toEqual([
    ['<snippet id=S1>'],
    ['<snippet id=S9>'],
  ]);
});

it('finds nothing in equal texts, and leaves equal words when the differences are cut out', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'dd', '.', '<x>'), { maxLength: 30 })
    .map((all) => all.join(' '));
  const rest = (of: string, spans: readonly { start: number; end: number }[]): string[] => {
    const kept = [...of].map((one, n) => (spans.some(({ start, end }) => n >= start && n < end) ? ' ' : one));
    return kept.join('').split(' ').filter(Boolean);
  };
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(wordDifference(one, one)).toEqual({ one: [], other: [] });
      const found = wordDifference(one, other);
      expect(rest(one, found.one)).toEqual(rest(other, found.other));
    }),
  );
});

it('takes linear time, also where the texts have the opposite order or repeat one word', () => {
  const unique = (length: number) => Array.from({ length }, (_, n) => `w${n}`);
  const opposite = (length: number): [string, string] => [unique(length).join(' '), unique(length).reverse().join(' ')];
  const repeated = (length: number): [string, string] => ['a '.repeat(length), 'a b '.repeat(length)];
  const tags = (length: number): [string, string] => ['<'.repeat(length), '< '.repeat(length)];
  for (const texts of [opposite, repeated, tags]) {
    expectLinear(([one, other]) => wordDifference(one, other), texts(2_000), texts(2_000 * GROWTH));
  }
});
