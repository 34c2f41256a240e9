/** The evidence of a claim follows from the claim and the texts that it cites, and from nothing that was read before. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { gatherEvidence, indexSources, type SourceText } from '../../../src/lexical/index.ts';

const WORDS = [
  'the tower bridge has 45 12 5 floors third first quarter quarters may May of in not fell rose km percent half a dozen',
  'two hundred twenty one Q3 17:00 pm $5 million point and per cent',
].flatMap((words) => words.split(' '));
const text = (most: number) => fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: most });
const sentence = (most: number) => text(most).map((words) => words.join(' '));

function evidenceOf(claim: string, sources: readonly SourceText[]) {
  return gatherEvidence(
    indexSources(sources),
    claim,
    sources.map((_, at) => at),
  );
}

test.each([
  ['The tower rose in the third', 'The tower rose in Q3.', 'quarter '.repeat(12)],
  ['The tower fell and has 45 floors and 12', 'The tower fell and has 45 floors and 13.', 'May '.repeat(12)],
])('%s, after a longer claim', (claim, source, before) => {
  const first = evidenceOf(claim, [{ text: source }]);
  evidenceOf(before, [{ text: 'a source' }]);
  expect(evidenceOf(claim, [{ text: source }])).toEqual(first);
});

test('is the same after any other claim, and after any other source of its list was read', () => {
  const inputs = [sentence(6), sentence(14), sentence(16), sentence(8)] as const;
  fc.assert(
    fc.property(...inputs, (claim, other, source, stranger) => {
      const index = indexSources([{ text: source }, { text: stranger, title: other }]);
      const first = gatherEvidence(index, claim, [0]);
      gatherEvidence(index, other, [1]);
      expect(gatherEvidence(index, claim, [0])).toEqual(first);
    }),
    { numRuns: 2_000 },
  );
});

describe('a source that was read before', () => {
  const long = 'The old bridge of stone opened in May 1937. '.repeat(10);

  it('has the title of this request', () => {
    const claim = 'The Alder bridge opened in 1937.';
    const untitled = evidenceOf(claim, [{ text: long }]);
    const titled = evidenceOf(claim, [{ text: long, title: 'Alder' }]);
    expect(untitled.missing_names).toHaveLength(1);
    expect(titled.missing_names).toEqual([]);
    expect(evidenceOf(claim, [{ text: long }])).toEqual(untitled);
  });

  it('is compared as it was, also with half a surrogate', () => {
    const broken = `${long}\ud800 It cost 5 pounds.`;
    const first = evidenceOf('It cost 5 pounds.', [{ text: broken }]);
    expect(evidenceOf('It cost 5 pounds.', [{ text: broken }])).toEqual(first);
    expect(first.support).toBeGreaterThan(0.5);
  });

  it('is another one if a single unit differs, wherever that is', () => {
    for (let place = 0; place < 40; place++) {
      const other = (number: string) => [
        { text: `${'- '.repeat(place)}The bridge has ${number} arches. ${long}${long}` },
      ];
      expect(evidenceOf('The bridge has 45 arches.', other('45')).missing_numbers).toEqual([]);
      expect(evidenceOf('The bridge has 45 arches.', other('46')).missing_numbers).toHaveLength(1);
    }
  });

  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  /** Twice: buffers are freed beside the program, at the latest when the next collection begins. */
  const collect = (): void => {
    gc();
    gc();
  };

  it('keeps no request in memory, of which its text and title are slices', () => {
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    // Read twice: what is found again must not be kept by the text that found it.
    const read = (n: number): void => {
      for (let time = 0; time < 2; time++) {
        const request = `${n} The long title of the page|${n} ${long}|${'x'.repeat(4_000_000)}`;
        const [title = '', text = ''] = request.slice(0, 2_000).split('|');
        evidenceOf('The old bridge opened.', [{ text, title }]);
      }
    };
    read(0);
    const before = used();
    for (let n = 1; n <= 20; n++) read(n);
    expect(used() - before).toBeLessThan(20_000_000);
  });

  it('is forgotten: more sources than fit are compared alike, in memory that does not grow', () => {
    const sources = Array.from({ length: 400 }, (_, n) => ({ text: `${n} ${long.repeat(100)}` }));
    const round = (): number => {
      for (const source of sources) evidenceOf('The old bridge opened.', [source]);
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const [first, second] = [round(), round()];
    expect(second - first).toBeLessThan(40_000_000);
  });
});

test('counts the sentences of every source: where in its source a sentence stands changes nothing', () => {
  const claim = 'The old bridge of stone opened in May.';
  const [said, filler] = ['The bridge opened.', 'Rain fell.'];
  const second = (text: string) => evidenceOf(claim, [{ text: `${said} ${filler}` }, { text }]);
  const { support, coverage } = second(`${filler} ${said}`);
  expect(second(`${said} ${filler}`)).toMatchObject({ support, coverage });
});
