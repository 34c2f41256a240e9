import { describe, expect, it } from 'vitest';
import {
  type ClaimEvidence,
  gatherEvidence,
  indexSources,
  lexicalSupport,
  supportVerdict,
} from '../../../src/lexical/index.ts';

const BRIDGE =
  'The Alder Bridge was opened on 27 May 1937 by Mayor Edith Crane. It cost 1,200 pounds and carries two lanes. The council never repainted it.';

function gather(claim: string, ...texts: string[]): ClaimEvidence {
  return gatherEvidence(
    indexSources(texts.map((text) => ({ text }))),
    claim,
    texts.map((_, i) => i),
  );
}

describe('numbers', () => {
  it.each([
    ['It cost 1,200 units.', 'The price was 1200 units.'],
    ['It cost 1.2 thousand units.', 'The price was 1,200 units.'],
    ['It cost twelve hundred units.', 'The price was 1200 units.'],
    ['Some 45% of people voted.', 'Of all people 45 percent voted.'],
    ['Some 45 per cent of people voted.', 'Of all people 45% voted.'],
    ['Twelve people came.', 'There were 12 people.'],
    ['There were 12 people.', 'Twelve people came.'],
    ['It holds 2.5 million litres.', 'It holds 2,500,000 litres.'],
    ['It holds two million litres.', 'It holds 2 million litres.'],
    ['It weighs 3,5 tonnes.', 'Its weight is 3.5 tonnes.'],
    ['It has 1.200.000 pages.', 'It has 1,200,000 pages.'],
    ['It opened on May 27, 1937.', 'It opened on 27 May 1937.'],
    ['It was the 20th try.', 'It was try number 20.'],
    ['About 1.2 million came.', 'Exactly 1,183,204 came.'],
    ['It took ５ days.', 'It took 5 days.'],
    ['It is 10km long.', 'It is 10 km long.'],
  ])('%s is found in: %s', (claim, evidence) => {
    expect(gather(claim, evidence).missing_numbers).toEqual([]);
  });

  it.each([
    ['It opened in 1938.', '1938'],
    ['It cost 1,300 pounds.', '1300'],
    ['It was 3.5 tonnes.', '3.5'],
    ['It cost 2 million pounds.', '2000000'],
    ['Version 1.2.3 is out.', '1.2.3'],
  ])('%s: %s is missing, with its place in the claim', (claim, value) => {
    const missing = gather(claim, BRIDGE).missing_numbers;
    expect(missing.map((one) => one.value)).toEqual([value]);
    for (const { start, end } of missing) expect(claim.slice(start, end)).toMatch(/^\d.*\w$/);
  });

  it('does not treat a year as the rounding of another', () => {
    expect(gather('It opened in 1940.', 'It opened in 1937.').missing_numbers).toHaveLength(1);
  });
});

describe('names', () => {
  it('are capitalised words inside a sentence, acronyms, and capitalised pairs at its start', () => {
    const claim = 'Edith Brown opened the bridge in Westmere for the BBC.';
    const spans = gather(claim, BRIDGE).missing_names.map(({ start, end }) => claim.slice(start, end));
    expect(spans).toEqual(['Brown', 'Westmere', 'BBC']);
  });

  it('are searched for in the title and in all cited sources', () => {
    const index = indexSources([
      { text: 'It was opened in 1937.', title: 'Alder Bridge' },
      { text: 'Westmere is a town.' },
    ]);
    expect(gatherEvidence(index, 'In Westmere the Alder Bridge was opened in 1937.', [0, 1]).missing_names).toEqual([]);
    expect(gatherEvidence(index, 'In Westmere the Alder Bridge was opened in 1937.', [0]).missing_names).toHaveLength(
      1,
    );
  });

  it('match with accents and possessive endings', () => {
    expect(
      gather("The poem praises José and Zürich's river.", 'A poem on JOSE and the river of Zurich.').missing_names,
    ).toEqual([]);
  });
});

describe('negation', () => {
  it.each([
    ['The council did not pay for the bridge.', 'The council did pay for the bridge.'],
    ['The method is inefficient on graphs.', 'The method is efficient on graphs.'],
    ['The share price decreased in March.', 'The share price increased in March.'],
  ])('%s against: %s', (claim, evidence) => {
    expect(gather(claim, evidence).negation_mismatch).toBe(true);
    expect(lexicalSupport(claim, evidence)).toBeLessThan(
      lexicalSupport(evidence, `Now. ${evidence.slice(0, -1)} it is said.`),
    );
  });

  it('is no mismatch if the source negates too', () => {
    expect(gather('The council never repainted the bridge.', BRIDGE).negation_mismatch).toBe(false);
  });
});

describe('verbatim', () => {
  const first = 'The Alder Bridge was opened on 27 May 1937 by Mayor Edith Crane.';

  it.each([
    ['a whole sentence', first],
    ['without its full stop', first.slice(0, -1)],
    ['in other case and spacing', `  ${first.toUpperCase().replaceAll(' ', '\n ')}`],
    ['two consecutive sentences', `${first} It cost 1,200 pounds and carries two lanes.`],
  ])('holds for %s', (_, claim) => {
    const evidence = gather(claim, BRIDGE);
    expect(evidence.verbatim).toHaveLength(1);
    const span = evidence.verbatim[0];
    expect(BRIDGE.slice(span?.start, span?.end).startsWith(first)).toBe(true);
    expect(evidence.support).toBeGreaterThan(0.95);
  });

  it.each([
    ['a part of a sentence', 'The Alder Bridge was opened on 27 May 1937'],
    ['a sentence and a half', `${first} It cost 1,200 pounds`],
    ['too few content tokens', 'It cost them.'],
    ['another number', first.replace('1937', '1938')],
    ['a question', first.replace('.', '?')],
    ['sentences that are not neighbours', `${first} The council never repainted it.`],
  ])('does not hold for %s', (_, claim) => {
    expect(gather(claim, `${BRIDGE} It cost them.`).verbatim).toEqual([]);
  });

  it('does not remove a dot from a number', () => {
    expect(
      gather('The final score was 1.5 points overall.', 'The final score was 15 points overall.').verbatim,
    ).toEqual([]);
  });

  it('lists every source that has the sentence, and folds quotation marks', () => {
    const claim = 'She called the old bridge "a marvel of stone".';
    const evidence = gather(
      claim,
      'She called the old bridge “a marvel of stone”.',
      BRIDGE,
      `Indeed. ${claim} So it goes.`,
    );
    expect(evidence.verbatim.map((span) => span.source)).toEqual([0, 2]);
  });

  it('finds more sentences than a window has', () => {
    const text =
      'One red fox ran home. Two green birds sang loud. Three grey wolves slept well. Four white hens sat still. Five cats played.';
    expect(gather(text.slice(0, text.indexOf(' Five')), text).verbatim).toHaveLength(1);
  });
});

describe('coverage', () => {
  it('is 1 for a restated fact and small for another subject', () => {
    expect(gather('Mayor Edith Crane opened the Alder Bridge in 1937.', BRIDGE).coverage).toBeCloseTo(1);
    expect(gather('Glaciers store most of the fresh water of the planet.', BRIDGE).coverage).toBeLessThan(0.2);
  });

  it('returns a window whose offsets slice to the expected sentences', () => {
    const filler = 'Nothing of note is written in this line. '.repeat(20);
    const text = `${filler}${BRIDGE} ${filler}`;
    const { window } = gather('The Alder Bridge cost 1,200 pounds.', text);
    expect(text.slice(window?.start, window?.end)).toContain(
      'Alder Bridge was opened on 27 May 1937 by Mayor Edith Crane. It cost 1,200 pounds',
    );
    expect((window?.end ?? 0) - (window?.start ?? 0)).toBeLessThan(220);
  });

  it('combines the windows of several sources for support, and rates each source alone', () => {
    const evidence = gather(
      'The bridge cost 900 marks and the tower weighs 40 tonnes.',
      'The bridge cost 900 marks.',
      'The tower weighs 40 tonnes.',
      'Cats purr.',
    );
    expect(evidence.coverage).toBeLessThan(0.8);
    expect(evidence.sources.map((one) => one.relevant)).toEqual([true, true, false]);
    expect(supportVerdict(evidence.support)).toBe('full');
  });

  it('counts a source once and ignores positions without a source', () => {
    const index = indexSources([{ text: BRIDGE }]);
    expect(gatherEvidence(index, 'The bridge.', [0, 0, 7, -1]).sources).toHaveLength(1);
  });

  it('splits scripts without spaces by character', () => {
    const evidence = gather('桥于一九三七年开放', '这座桥于一九三七年五月开放。它很长。');
    expect(evidence.content_tokens).toBe(9);
    expect(evidence.coverage).toBeCloseTo(1);
    expect(gather('猫喜欢睡觉', '这座桥于一九三七年五月开放。').coverage).toBeLessThan(0.3);
  });
});

describe('odd input', () => {
  it.each(['', ' ', '...', '\ud800', 'a\udc00b', 'the of and', '%', "'", '1', '１', '\u0301', 'ﬁﬁ', '“'])(
    '%j as claim and as source',
    (text) => {
      for (const [claim, source] of [
        [text, BRIDGE],
        [BRIDGE, text],
        [text, text],
      ] as const) {
        const evidence = gather(claim, source);
        expect(evidence.support).toBeGreaterThanOrEqual(0);
        expect(evidence.support).toBeLessThanOrEqual(1);
        expect(evidence.coverage).toBeGreaterThanOrEqual(0);
        expect(evidence.coverage).toBeLessThanOrEqual(1);
      }
    },
  );

  it('gives an empty claim and a claim without sources no support', () => {
    expect(lexicalSupport('', BRIDGE)).toBe(0);
    expect(gatherEvidence(indexSources([]), 'The bridge opened.', []).support).toBe(0);
  });

  it('gives the same result whatever was compared before', () => {
    const index = indexSources([{ text: BRIDGE }, { text: 'The tower was never opened.' }]);
    const claims = [
      'The bridge was not opened in 1938.',
      'It cost 1,200 pounds.',
      'a '.repeat(9000),
      'The Tower of Zed fell.',
    ];
    const once = claims.map((claim) => gatherEvidence(index, claim, [0, 1]));
    const again = [...claims]
      .reverse()
      .map((claim) =>
        gatherEvidence(indexSources([{ text: BRIDGE }, { text: 'The tower was never opened.' }]), claim, [0, 1]),
      );
    expect(again.reverse()).toEqual(once);
  });
});
