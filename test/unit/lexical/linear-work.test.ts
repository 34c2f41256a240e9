import { describe, expect, it } from 'vitest';
import {
  countContentTokens,
  gatherEvidence,
  indexSources,
  needsCitation,
  scoreCriterion,
} from '../../../src/lexical/index.ts';

/** Hostile texts. Quadratic work on any of them would take hours, far beyond the timeout of the test. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['one letter', 'a'],
  ['one word over and over', 'bridge '],
  ['digits', '1'],
  ['grouped digits', '123,'],
  ['dotted letters', 'A.'],
  ['stops', '. '],
  ['apostrophes', "a'"],
  ['accents', 'é'],
  ['ideographs', '桥'],
  ['lone surrogates', '\ud800'],
  ['nearly equal sentences', 'The old bridge of stone fell down! '],
  ['line breaks', 'x\n\n'],
];

describe('a megabyte of hostile text takes linear time', () => {
  it.each(HOSTILE)('%s', { timeout: 20_000 }, (_, piece) => {
    const text = piece.repeat(Math.floor(1_000_000 / piece.length));
    const claim = `${text.slice(0, text.length >> 1)}b.`;
    const evidence = gatherEvidence(indexSources([{ text }]), claim, [0]);
    expect(evidence.support).toBeLessThanOrEqual(1);
    expect(countContentTokens(text)).toBeGreaterThanOrEqual(0);
    needsCitation(text);
    scoreCriterion({ description: claim }, text);
  });
});
