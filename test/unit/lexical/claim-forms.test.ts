/** Spellings and marks that must not change a verdict, and word swaps that must. */
import { describe, expect, it } from 'vitest';
import { type ClaimEvidence, gatherEvidence, indexSources, supportVerdict } from '../../../src/lexical/index.ts';

function gather(claim: string, ...texts: string[]): ClaimEvidence {
  const index = indexSources(texts.map((text) => ({ text })));
  return gatherEvidence(
    index,
    claim,
    texts.map((_, i) => i),
  );
}

const LAKE =
  'Lake Baikal in southern Siberia is 1,642 metres deep and holds a fifth of all fresh water. It is very old.';
const CLAIM = 'Lake Baikal is 1,642 metres deep.';

describe('marks that are no part of the claim', () => {
  it.each([
    `${CLAIM} [3]`,
    'Lake Baikal [3] is 1,642 metres deep [4, 17].',
    'Lake Baikal is 1,642 metres deep.[^2]',
    'Lake Baikal is 1,642 metres deep [2–5].',
    `1. ${CLAIM}`,
    `(2) ${CLAIM}`,
    `12) ${CLAIM}`,
    `- ${CLAIM}\n3. It is very old.`,
  ])('%j has the support of the bare claim', (claim) => {
    const evidence = gather(claim, LAKE);
    expect(evidence.missing_numbers).toEqual([]);
    expect(evidence.support).toBeGreaterThanOrEqual(gather(CLAIM, LAKE).support - 1e-9);
  });

  it('keeps numbers in brackets that are no marks, and numbers that begin a claim', () => {
    const year = gather('It was measured again [1997].', LAKE);
    expect(year.missing_numbers.map(({ value }) => value)).toEqual(['1997']);
    expect(gather('12 lakes are deeper.', LAKE).missing_numbers.map(({ value }) => value)).toEqual(['12']);
    expect(gather('3.5 million people live there.', LAKE).missing_numbers.map(({ value }) => value)).toEqual([
      '3500000',
    ]);
  });
});

describe('months', () => {
  it.each([
    ['It opened on 4 September 1901.', 'It was opened on Sep 4, 1901.'],
    ['It opened on 4 September 1901.', 'It was opened on Sept. 4, 1901.'],
    ['It opened on 4 Sept 1901.', 'It was opened on Sep 4, 1901.'],
    ['It opened on 4 Sep 1901.', 'It was opened on September 4, 1901.'],
  ])('%s is found in: %s', (claim, source) => {
    const evidence = gather(claim, source);
    expect(evidence.coverage).toBe(1);
    expect(evidence.missing_names).toEqual([]);
  });
});

describe('adjectives of places', () => {
  it.each([
    ['Its builders used blocks of granite from Cornwall.', 'It is built of blocks of Cornish granite by its builders.'],
    ['Dutch engineers built the dam.', 'The dam was built by engineers from the Netherlands.'],
    ['Engineers from Holland built the dam.', 'The dam was built by engineers from the Netherlands.'],
  ])('%s is found in: %s', (claim, source) => {
    expect(gather(claim, source).missing_names).toEqual([]);
  });

  it.each([
    ['Granite from Austria was used.', 'Granite from Australia was used.'],
    ['Welsh granite was used.', 'Cornish granite was used.'],
    ['They used polish from the shop.', 'They used a cloth from Poland, from the shop.'],
  ])('%s is not found in: %s', (claim, source) => {
    expect(gather(claim, source).coverage).toBeLessThan(1);
  });
});

describe('words whose stem is that of an opposite', () => {
  it.each([
    ['The lake is quite cold in winter.', 'The lake is cold in winter, with ice for months.'],
    ['Los Angeles is in California.', 'The city of Angels, L.A., is in California and gained people.'],
    ['The wine is made in the valley.', 'Growers in the valley lose much to frost. The drink is made there.'],
    ['Sam runs the shop in the town.', 'A different person runs the shop in the town.'],
    ['The hat is on the table in the hall.', 'It is on the table in the hall.'],
    ['The news spread in the old town.', 'The report spread in the old town.'],
  ])('%s is no contradiction of: %s', (claim, source) => {
    expect(gather(claim, source).negation_mismatch).toBe(false);
  });

  it.each([
    ['Two men sat in the room with the lamp.', 'Two women sat in the room with the lamp.'],
    ['A boy won the race in the park.', 'A girl won the race in the park.'],
    ['Millions of people saw the show on stage.', 'Billions of people saw the show on stage.'],
    ['Thousands of people saw the show on stage.', 'Hundreds of people saw the show on stage.'],
    ['The council quit the talks on water.', 'The council led the talks on water.'],
    ['The firm loses money on the bridge.', 'The firm gains money on the bridge.'],
  ])('%s contradicts: %s', (claim, source) => {
    const evidence = gather(claim, source);
    expect(evidence.negation_mismatch).toBe(true);
    expect(supportVerdict(evidence.support)).not.toBe('full');
  });
});

describe('hyphens after a prefix', () => {
  it.each([
    ['The method is non-invasive and cheap.', 'The method is noninvasive and cheap.'],
    ['The method is noninvasive and cheap.', 'The method is non-invasive and cheap.'],
    ['The Non-Aligned states met in the city.', 'The nonaligned states met in the city.'],
    ['They will re-elect the co-founder.', 'They will reelect the cofounder.'],
    ['It has pre-existing anti-inflammatory effects.', 'It has preexisting antiinflammatory effects.'],
  ])('%s is found in: %s', (claim, source) => {
    const evidence = gather(claim, source);
    expect(evidence.negation_mismatch).toBe(false);
    expect(evidence.coverage).toBe(1);
    expect(supportVerdict(evidence.support)).toBe('full');
  });

  it('non-invasive against invasive is a contradiction', () => {
    expect(gather('The method is non-invasive and cheap.', 'The method is invasive and cheap.').negation_mismatch).toBe(
      true,
    );
  });
});

describe('several cited sources', () => {
  const texts = [
    'The Alder Bridge was opened on 27 May 1937 by Mayor Edith Crane.',
    'The bridge carries two tram lanes and a path, and a lamp was hung from every pier.',
    'The council paid 1,200 pounds to a painter from Westmere for it.',
  ];
  const claim =
    'The Alder Bridge, which Mayor Edith Crane opened on 27 May 1937, carries two tram lanes and cost the council 1,200 pounds.';

  it('each is relevant if it supports its part of the claim', () => {
    expect(gather(claim, ...texts).sources.map(({ relevant }) => relevant)).toEqual([true, true, true]);
  });

  it('one that shares a word or two is not', () => {
    const stranger = 'The council of the next valley met on a Monday to talk about sheep.';
    const cited = [...texts, stranger];
    expect(gather(claim, ...cited).sources.map(({ relevant }) => relevant)).toEqual([true, true, true, false]);
  });

  it('none is relevant to a claim that they do not support together', () => {
    expect(gather(claim, texts[0] ?? '', texts[1] ?? '').support).toBeLessThan(0.136);
    expect(gather(claim, texts[0] ?? '', texts[1] ?? '').sources.map(({ relevant }) => relevant)).toEqual([
      false,
      false,
    ]);
  });

  it('only those that add to the support are relevant: sources that name its subject do not', () => {
    const opened = 'The Velmere bridge was opened in 1876.';
    const others = [
      'The Velmere bridge is painted green.',
      'Trams have crossed the Velmere bridge since it was widened.',
    ];
    const relevant = (...cited: string[]): boolean[] => gather(opened, ...cited).sources.map((one) => one.relevant);
    expect(relevant(opened, ...others)).toEqual([true, false, false]);
    expect(relevant(...others)).toEqual([false, false]);
    expect(relevant(...others, 'In 1876 the mayor opened the bridge of Velmere.')).toEqual([false, false, true]);
    expect(relevant(opened, 'In 1876 the mayor opened the bridge of Velmere.')).toEqual([true, true]);
  });

  it('a year that one source has and a name that another has make both relevant', () => {
    const cited = ['Ada Brunn drew the Velmere bridge.', 'The bridge was opened in 1876.', 'The bridge is green.'];
    const built = gather('The Velmere bridge, drawn by Ada Brunn, was opened in 1876.', ...cited);
    expect(built.sources.map(({ relevant }) => relevant)).toEqual([true, true, false]);
  });

  it('a number before rounding is what its source adds', () => {
    const cited = ['Exactly 1,183,204 people crossed it.', 'People crossed the Velmere bridge on foot.'];
    const crossed = gather('About 1.2 million people crossed the Velmere bridge.', ...cited);
    expect(crossed.sources.map(({ relevant }) => relevant)).toEqual([true, true]);
  });

  it('a single source must have a quarter of the claim', () => {
    expect(gather(claim, texts[2] ?? '').sources.map(({ relevant }) => relevant)).toEqual([false]);
  });
});
