import { describe, expect, it } from 'vitest';
import { createSourceReader } from '../../../src/citations/recent-sources.ts';
import { parseSources, sourcesOf } from '../../../src/citations/sources.ts';

const textOf = (year: number): string => `<snippet id=S1>The bridge opened in ${year}.</snippet>`;
const outputOf = (year: number) => ({ tool_output: textOf(year) });

describe('createSourceReader', () => {
  it('reads equal texts once, and reads what parseSources reads', () => {
    const read = createSourceReader({ entries: 2, size: 1_000 });
    const set = read(outputOf(1937));
    expect(set).toEqual(parseSources(textOf(1937)));
    expect(read(outputOf(1937))).toBe(set);
    expect(read(outputOf(1938))).toEqual(parseSources(textOf(1938)));
    expect(read(outputOf(1937))).toBe(set);
  });

  it('reads equal lists once, and never takes a tool output for the list whose JSON it is', () => {
    const read = createSourceReader({ entries: 2, size: 1_000 });
    const list = { sources: [{ id: 'S1', text: 'The bridge opened in 1937.' }] };
    const set = read(list);
    expect(set).toEqual(sourcesOf(list));
    expect(read(structuredClone(list))).toBe(set);
    const tool_output = JSON.stringify(list.sources);
    expect(read({ tool_output })).toEqual(parseSources(tool_output));
    expect(read(list)).toEqual(sourcesOf(list));
  });

  it('keeps no more texts and characters than its limits', () => {
    const { length } = textOf(1937);
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
