import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contains } from '../../../src/text/contains.ts';

describe('contains', () => {
  it('finds what String.prototype.includes finds', () => {
    const repeated = fc.array(fc.constantFrom('a', 'b'), { minLength: 257, maxLength: 600 }).map((all) => all.join(''));
    const periodic = fc
      .tuple(fc.constantFrom('a', 'ab', 'aab'), fc.nat(400))
      .map(([unit, times]) => unit.repeat(times));
    const piece = fc.oneof(repeated, periodic);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), piece, fc.nat(3), (pieces, wanted, drop) => {
        const text = pieces.join('');
        expect(contains(text, wanted)).toBe(text.includes(wanted));
        const part = text.slice(drop, text.length - drop);
        expect(contains(text, part)).toBe(true);
      }),
    );
  });

  it('needs linear time for a text that repeats itself', () => {
    const half = 'a'.repeat(500_000);
    const start = performance.now();
    expect(contains(half.repeat(4), `${half}b${half}`)).toBe(false);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
