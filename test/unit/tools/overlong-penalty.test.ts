import { describe, expect, it } from 'vitest';
import { overlongPenalty } from '../../../src/tools/overlong-penalty.ts';

const OPTIONS = { maxTokens: 10_480, bufferTokens: 3000, factor: 1 };

describe('overlong penalty', () => {
  it('is 0 up to the buffer, then falls linearly, also beyond the limit', () => {
    expect([0, 7480, 8980, 10_480, 13_480].map((tokens) => overlongPenalty(tokens, OPTIONS))).toEqual([
      0, 0, -0.5, -1, -2,
    ]);
  });

  it('is 0, not minus 0, with a factor of 0', () => {
    expect(overlongPenalty(10_480, { ...OPTIONS, factor: 0 })).toBe(0);
  });

  it.each([
    ['no buffer', 1, { ...OPTIONS, bufferTokens: 0 }],
    ['a buffer below 0', 1, { ...OPTIONS, bufferTokens: -1 }],
    ['a buffer longer than the limit', 1, { ...OPTIONS, bufferTokens: 10_481 }],
    ['a response of less than nothing', -1, OPTIONS],
    ['a response that is no number', Number.NaN, OPTIONS],
    ['an endless response', Number.POSITIVE_INFINITY, OPTIONS],
    ['a limit that is no number', 1, { ...OPTIONS, maxTokens: Number.NaN }],
    ['an endless limit', 1, { ...OPTIONS, maxTokens: Number.POSITIVE_INFINITY }],
    ['a buffer that is no number', 1, { ...OPTIONS, bufferTokens: Number.NaN }],
    ['a factor that is no number', 1, { ...OPTIONS, factor: Number.NaN }],
    ['a factor that would pay for length', 1, { ...OPTIONS, factor: -1 }],
    ['a penalty past all numbers', 1e308, { ...OPTIONS, factor: 1e308 }],
  ])('refuses %s', (_what, tokens, options) => {
    expect(() => overlongPenalty(tokens, options)).toThrow(RangeError);
  });
});
