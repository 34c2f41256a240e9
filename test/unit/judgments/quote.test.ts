/** A quote is verified only if a cited source contains it word for word, after folding what copying changes. */
import { describe, expect, it } from 'vitest';
import { QuoteFinder } from '../../../src/judgments/kinds/citations/quote.ts';

const TEXTS = [
  'The Aare is 288 kilometres long. It lies entirely within Switzerland.',
  'It “rises” at the Aare Glaciers — in the Bernese Alps, not in Italy.',
  'ﬁnally, the Straße is ½ done 😀 and Ⅷ more <b>bold</b>',
  'Bern',
];

function locate(quote: string, cited: readonly number[] = [0, 1, 2, 3]) {
  return new QuoteFinder(TEXTS).locate(quote, cited);
}

/** The text that a located quote points at. */
function shown(quote: string, cited?: readonly number[]): string | null {
  const found = locate(quote, cited);
  return typeof found === 'string' ? null : (TEXTS[found.source] ?? '').slice(found.start, found.end);
}

describe('a quote is found', () => {
  it.each([
    ['288 kilometres long', '288 kilometres long'],
    ['THE AARE IS 288', 'The Aare is 288'],
    ['the\n  Aare   is 288', 'The Aare is 288'],
    ['"rises" at the Aare Glaciers - in the', 'rises” at the Aare Glaciers — in the'],
    ['‘rises’ at the Aare Glaciers – in', 'rises” at the Aare Glaciers — in'],
    ['finally, the Straße', 'ﬁnally, the Straße'],
    ['done 😀 and VIII more', 'done 😀 and Ⅷ more'],
    ['more ‹b›bold‹/b›', 'more <b>bold</b'],
    ['… It lies entirely within Switzerland...', 'It lies entirely within Switzerland'],
  ])('%j', (quote, text) => {
    expect(shown(quote)).toBe(text);
  });

  it('in the first cited source that has it, and in no other', () => {
    expect(locate('in the Bernese Alps', [0, 1])).toMatchObject({ source: 1 });
    expect(locate('in the Bernese Alps', [0, 2])).toBe('unverified');
    expect(locate('in the Bernese Alps', [])).toBe('unverified');
  });

  it('even if short, where it is the whole source', () => {
    expect(locate('Bern', [3])).toEqual({ source: 3, start: 0, end: 4 });
  });
});

describe('a quote is unverified', () => {
  it.each([
    ['another number', '289 kilometres long'],
    ['a word left out', 'The Aare is kilometres long'],
    ['a word added', 'The Aare is only 288 kilometres long'],
    ['a negation dropped', 'in the Bernese Alps, in Italy'],
    ['two passages joined', 'The Aare is 288 kilometres long ... within Switzerland'],
    ['over the end of a source', 'within Switzerland. It “rises”'],
    ['too short to prove anything', 'long'],
    ['an invention', 'The Aare carries more water than the Danube.'],
  ])('%s', (_name, quote) => {
    expect(locate(quote)).toBe('unverified');
  });
});

it.each(['', '   ', '…', '...', '""', '“ ”', '. … .'])('%j quotes nothing', (quote) => {
  expect(locate(quote)).toBe('absent');
});

it('is checked in linear time', () => {
  const finder = new QuoteFinder(['ab '.repeat(300_000)]);
  for (let n = 0; n < 5; n++) expect(finder.locate(`${'ab'.repeat(200)}c`, [0])).toBe('unverified');
});

it('of a source that does not exist is a bug', () => {
  expect(() => locate('288 kilometres long', [7])).toThrow(RangeError);
});
