import { describe, expect, it } from 'vitest';
import { createSourceReader } from '../../../src/citations/recent-sources.ts';
import { parseSources } from '../../../src/citations/sources.ts';

const outputOf = (year: number): string => `<snippet id=S1>The bridge opened in ${year}.</snippet>`;

describe('createSourceReader', () => {
  it('reads equal texts once, and reads what parseSources reads', () => {
    const read = createSourceReader({ entries: 2, size: 1_000 });
    const set = read(outputOf(1937));
    expect(set).toEqual(parseSources(outputOf(1937)));
    expect(read(outputOf(1937))).toBe(set);
    expect(read(outputOf(1938))).toEqual(parseSources(outputOf(1938)));
    expect(read(outputOf(1937))).toBe(set);
  });

  it('keeps no more texts and characters than its limits', () => {
    const length = outputOf(1937).length;
    for (const limits of [
      { entries: 1, size: 1_000 },
      { entries: 10, size: 2 * length - 1 },
    ]) {
      const read = createSourceReader(limits);
      const set = read(outputOf(1937));
      read(outputOf(1938));
      expect(read(outputOf(1937))).not.toBe(set);
    }
    const read = createSourceReader({ entries: 10, size: length - 1 });
    expect(read(outputOf(1937))).not.toBe(read(outputOf(1937)));
  });
});
