/** A quote is verified only if a cited source contains it word for word, after folding what copying changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldForQuote, QuoteFinder } from '../../../src/judgments/kinds/citations/quote.ts';

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

describe('foldForQuote', () => {
  const MARKS = '"\'`´‘’‚‛“”„‟«»‹›<>';
  const SHOWN: Readonly<Record<string, string>> = { '⁅': '[', '⁆': ']', '¦': '|', '▁': '_' };

  /** The same fold, for each code point alone. */
  function foldOf(point: string): string {
    const units = [...point.normalize('NFKC').toLowerCase()].flatMap((folded) => folded.split(''));
    const kept = units.filter((unit) => unit.trim() !== '' && !MARKS.includes(unit));
    return kept.map((unit) => ('-‐‑‒–—―−'.includes(unit) ? '-' : (SHOWN[unit] ?? unit))).join('');
  }

  it('folds each code point alone, and has the offset of each unit', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('\ud83d', '\ude00', 'ﬁ', '–', '＜', '⁅', '\u00a0', 'ﷺ', 'İ', '\0', 'K', ' ', 'A'),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 20 }), (units) => {
        const text = units.join('');
        const points = [...text];
        const folded = foldForQuote(text);
        expect(folded.text).toBe(points.map(foldOf).join(''));
        let at = 0;
        const offsets = points.flatMap((point) => {
          const own = Array.from({ length: foldOf(point).length }, () => at);
          at += point.length;
          return own;
        });
        expect([...folded.offsets]).toEqual(offsets);
      }),
      { numRuns: 100 },
    );
    const long = 'The Aare ﬂows. '.repeat(600);
    expect(foldForQuote(long).text).toBe([...long].map(foldOf).join(''));
  });
});
