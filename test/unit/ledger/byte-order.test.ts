/** The order of texts in the ledger is that of SQLite: by the bytes of UTF-8. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareBytes } from '../../../functions/ledger/byte-order.ts';

it('compares texts as the bytes of their UTF-8', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}'),
  });
  fc.assert(
    fc.property(text, text, (one, other) => {
      const expected = Buffer.compare(Buffer.from(one), Buffer.from(other));
      expect(Math.sign(compareBytes(one, other))).toBe(expected);
    }),
  );
});
