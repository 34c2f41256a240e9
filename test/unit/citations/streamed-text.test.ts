import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StreamedText } from '../../../src/citations/stream/streamed-text.ts';

it('returns the appended text for any chunks', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.nat(6_000).map((length) => 'abcdefghij'.repeat(length / 10 + 1)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.infiniteStream(fc.nat()), (pieces, places) => {
      const text = new StreamedText();
      let whole = '';
      for (const piece of pieces) {
        text.append(piece);
        whole += piece;
        expect(text.end).toBe(whole.length);
        for (let n = 0; n < 4; n++) {
          const start = Number(places.next().value) % (whole.length + 1);
          const end = start + (Number(places.next().value) % (whole.length - start + 1));
          expect(text.slice(start, end)).toBe(whole.slice(start, end));
        }
      }
      expect(text.whole()).toBe(whole);
    }),
    { numRuns: 300 },
  );
});
