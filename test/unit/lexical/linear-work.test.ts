import { describe, expect, it } from 'vitest';
import { rubricCalls } from '../../../src/judgments/kinds/rubric/rubric-calls.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import {
  countContentTokens,
  gatherEvidence,
  indexSources,
  markWords,
  needsCitation,
  scoreCriterion,
} from '../../../src/lexical/index.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

const LARGE_CHARS = 100_000;

/** Hostile texts, repeated to a length. */
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
  ['one number over and over', '5 '],
  ['amounts that fall', 'fell -$5m, '],
  ['percentages', '45 percent '],
  ['Indian groups', '1,50,'],
  ['dates with points', '27.05.1937 '],
  ['middle dots', '1·5'],
  ['identifiers', 'GPT-4 '],
  ['units and powers', '.5 mg per l, 5 M€ g/'],
  ['numbers in words', 'twenty-one twenty-first 2019/20 '],
  ['numbers in several words', 'one point two five million three hundred and '],
  ['decimals in words', 'one point two three '],
  ['dozens and parts', 'half a dozen of two thirds of twice half a '],
  ['fractions, hours and codes', '8 1/2 3/4 of 17:00 5 pm USD34 5% points '],
];

describe('hostile text takes linear time', () => {
  it.each(HOSTILE)('%s', (_, piece) => {
    const work = (text: string) => {
      const claim = `${text.slice(0, text.length >> 1)}b.`;
      const evidence = gatherEvidence(indexSources([{ text }]), claim, [0]);
      expect(evidence.support).toBeLessThanOrEqual(1);
      expect(countContentTokens(text)).toBeGreaterThanOrEqual(0);
      needsCitation(text);
      scoreCriterion({ description: claim }, markWords(text));
    };
    const text = (chars: number) => piece.repeat(Math.floor(chars / piece.length));
    expectLinear(work, text(LARGE_CHARS / GROWTH), text(LARGE_CHARS));
  });
});

describe('many sentences that say something else take linear time', () => {
  it.each([
    ['fell after 8 days. ', 'did not fall after 7 days, and fell later. '],
    ['did not fall after 8 days. ', 'fell after 7 days and was refused. '],
    ['桥8天后关，', '桥7天后不关，'],
    ['not 5 not ', 'no 6 no, but no 6 '],
  ])('%s against: %s', (claim, source) => {
    const work = (count: number) => {
      const text = `The old bridge of stone ${source}`.repeat(count);
      const sources = indexSources([{ title: claim.repeat(1_000), text }]);
      const evidence = gatherEvidence(sources, `The old bridge of stone ${claim}`.repeat(count), [0]);
      expect(evidence.support).toBeLessThanOrEqual(1);
    };
    expectLinear(work, 4_000 / GROWTH, 4_000);
  });
});

describe('a long claim is read once for all its sources', () => {
  it.each([
    ['dam not ', 'The dam is not old.'],
    ['no dam nor dam; ', 'dam'],
    ['大坝不老', '大坝老'],
    ['but dam not ', 'the dam not but dam'],
    ['45 dam ', 'The 46 dam 45 dam.'],
  ])('%s against: %s', { timeout: 60_000 }, (unit, text) => {
    const claim = unit.repeat(40_000 / unit.length);
    const judged = (sources: readonly number[]) =>
      gatherEvidence(indexSources(sources.map(() => ({ text }))), claim, sources);
    expectLinear(judged, [...Array(1).keys()], [...Array(512).keys()]);
  });
});

describe('an answer is read once for all its criteria, so that both may be long', () => {
  it.each(['joint', 'per_criterion'] as const)('%s', { timeout: 60_000 }, (judging) => {
    const rollout = (size: number) => ({
      kind: 'rubric' as const,
      question: 'How long is the Aare?',
      sources: [{ id: 'S1', text: 'The Aare is 288 kilometres long.' }],
      criteria: Array.from({ length: 10 * size }, (_, n) => ({ description: `Names the ${n}th river` })),
      answer: 'The old bridge of stone did not fall down. '.repeat(1_000 * size),
    });
    const judged = (whole: ReturnType<typeof rollout>) =>
      rubricCalls({ ...whole, sources: [...whole.sources] }, { judging }).map(({ request }) => judgeLexically(request));
    expectLinear(judged, rollout(1), rollout(GROWTH));
  });
});
