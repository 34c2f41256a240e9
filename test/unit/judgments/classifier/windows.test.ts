/** Windows of a source: nothing is lost, none is too long, and a short sentence is whole in one of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowsOf } from '../../../../src/judgments/classifier/windows.ts';
import { estimateTokens } from '../../../../src/judgments/protocol/token-estimate.ts';

const TOKENS = 40;

test('the windows of any text cover its words in order, overlap, and are never too long', () => {
  const word = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.constantFrom('288', 'Ärger', '😀😀', '長', ' \n\n '),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 400 }), (words) => {
      const text = words.join(' ');
      let covered = 0;
      for (const window of windowsOf(text, TOKENS)) {
        expect(estimateTokens(window)).toBeLessThanOrEqual(TOKENS);
        expect(window.isWellFormed() || !text.isWellFormed()).toBe(true);
        // Only white space lies between two windows.
        const left = text.slice(covered);
        const at = text.lastIndexOf(window, covered + left.length - left.trimStart().length);
        expect(at).toBeGreaterThanOrEqual(0);
        covered = Math.max(covered, at + window.length);
      }
      expect(text.slice(covered).trim()).toBe('');
    }),
    { numRuns: 200 },
  );
});

test('a sentence shorter than the overlap is whole in one window, wherever it stands', () => {
  const words = Array.from({ length: 300 }, (_, n) => `w${n}`);
  for (let at = 0; at < words.length - 2; at++) {
    const sentence = words.slice(at, at + 2).join(' ');
    expect(windowsOf(words.join(' '), TOKENS).some((window) => window.includes(sentence))).toBe(true);
  }
});

test('short texts are one window, and blank ones none', () => {
  expect(windowsOf('The Aare is 288 km long.', TOKENS)).toEqual(['The Aare is 288 km long.']);
  expect(windowsOf(' \n ', TOKENS)).toEqual([]);
});
