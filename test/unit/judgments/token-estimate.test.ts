/** The longest prefix of a text within a budget of tokens. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateTokens, unitsWithin } from '../../../src/judgments/protocol/token-estimate.ts';

const texts = fc.array(fc.constantFrom('the ', 'Xq', '12', '\n', '  ', 'é', '語', '😀', '\ud83d', '\ude00'), {
  maxLength: 60,
});

it('is the longest that fits, and splits no surrogate pair', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 90 }), (pieces, tokens) => {
      const text = pieces.join('');
      const ends = [0];
      for (const point of text) ends.push((ends.at(-1) ?? 0) + point.length);
      const longest = ends.findLast((end) => estimateTokens(text.slice(0, end)) <= tokens);
      expect(unitsWithin(text, tokens)).toBe(longest);
    }),
  );
});
