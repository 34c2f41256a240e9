/** What may stand in a citation: ranges, lists, places in a source, years, and ids that no source has. */
import { describe, expect, it } from 'vitest';
import { type GrammarName, parseResponse, sourcesFromList } from '../../../lib/citations.ts';
import { readCitedAnswer } from '../../../src/citations/formats/read-answer.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

/** The claims of a text, each with its ids; an id that no source has ends with `?`. */
function claimsIn(text: string, ids: readonly string[], grammar: GrammarName = 'bracket'): [string, string][] {
  const sources = sourcesFromList(ids.map((id) => ({ id, text: 'x' })));
  return parseResponse(text, sources, { grammar, answer: 'whole' }).claims.map(({ text, ids }) => [
    text,
    ids.map(({ id, source }) => (source === null ? `${id}?` : id)).join(' '),
  ]);
}

const NUMBERS = ['1', '2', '3'];

describe('parentheses that touch', () => {
  it.each([
    ['It opened (1)(2).', '1 2'],
    ['It opened (1) (2).', '1 2'],
    ['It opened (1)(see the map).', '1'],
    ['It opened (1)().', '1'],
  ])('%s', (text, ids) => {
    expect(claimsIn(text, NUMBERS, 'paren')).toEqual([['It opened', ids]]);
  });

  it('empty ones are a finding behind a marker, and a call behind a word', () => {
    const findingsIn = (text: string) =>
      parseResponse(text, sourcesFromList([{ id: '1', text: 'x' }]), {
        grammar: 'paren',
        answer: 'whole',
      }).findings.map(({ reason }) => reason);
    expect(findingsIn('It opened (1)().')).toContain('citation_no_id');
    expect(findingsIn('It opened f() (1).')).not.toContain('citation_no_id');
  });

  it('a link in brackets stays one', () => {
    expect(claimsIn('It opened [1](https://a.example/b).', NUMBERS)).toEqual([]);
  });
});

describe('a range', () => {
  it.each([
    ['It opened [1-3].', NUMBERS, '1 2 3'],
    ['It opened [2–3].', NUMBERS, '2 3'],
    ['It opened [1 — 2].', NUMBERS, '1 2'],
    ['It opened [S1-S3].', ['S1', 'S2', 'S3'], 'S1 S2 S3'],
    ['It opened [S1–3].', ['S1', 'S2', 'S3'], 'S1 S2 S3'],
    ['It opened [01-02].', ['01', '02'], '01 02'],
    ['It opened [1, 2-3].', NUMBERS, '1 2 3'],
    ['It opened [2-4].', NUMBERS, '2 3 4?'],
    ['It opened [1-3].', ['1-3', '1', '2', '3'], '1-3'],
    ['It opened [pc-010].', ['pc-010', 'pc-011'], 'pc-010'],
    ['It opened [3-1].', NUMBERS, '3-1?'],
    ['It opened [7-9].', NUMBERS, '7-9?'],
    ['It opened [S1-T3].', ['S1', 'T3'], 'S1-T3?'],
    ['It opened [1-900].', NUMBERS, '1-900?'],
  ])('%s of %j cites %s', (text, ids, cited) => {
    expect(claimsIn(text, ids)).toEqual([['It opened', cited]]);
  });

  it.each([
    ['It opened [1]–[3].', NUMBERS, '1 2 3'],
    ['It opened [1]-[2], [3].', NUMBERS, '1 2 3'],
    ['It opened [S1]—[S3].', ['S1', 'S2', 'S3'], 'S1 S2 S3'],
    ['It opened [2]–[4].', NUMBERS, '2 3 4?'],
    ['It opened [3]–[1].', NUMBERS, '3 1'],
    ['It opened [S1]–[T3].', ['S1', 'S2', 'T3'], 'S1 T3'],
  ])('of two markers: %s of %j cites %s', (text, ids, cited) => {
    expect(claimsIn(text, ids)).toEqual([['It opened', cited]]);
  });

  it('is none of other numbers: ids like those of the sources are ids', () => {
    expect(claimsIn('It opened [sec.9], [sec.1].', ['sec.1', 'sec.2'])).toEqual([['It opened', 'sec.9? sec.1']]);
    expect(claimsIn('It opened [p.9].', ['p.1'])).toEqual([['It opened', 'p.9?']]);
    expect(claimsIn('It [p.9] opened [1].', ['1'])).toEqual([['It [p.9] opened', '1']]);
  });

  it('of two markers has no space or word in it', () => {
    expect(claimsIn('It opened [1] – [3].', NUMBERS)).toEqual([
      ['It opened', '1'],
      ['', '3'],
    ]);
    expect(claimsIn('It opened [1]-based [3].', NUMBERS)).toEqual([
      ['It opened', '1'],
      ['-based', '3'],
    ]);
  });

  it('of all sources is a shotgun like a list of them', () => {
    const sources = sourcesFromList(['1', '2', '3', '4'].map((id) => ({ id, text: 'x' })));
    expect(parseResponse('It opened [1-4].', sources, { grammar: 'bracket' }).counts.ids_shotgun).toBe(1);
    expect(parseResponse('It opened [1-2].', sources, { grammar: 'bracket' }).counts.ids_shotgun).toBeUndefined();
  });
});

describe('ids joined by a word', () => {
  it.each([
    ['It opened [1 and 2].', '1 2'],
    ['It opened [1 & 3].', '1 3'],
    ['It opened [1, 2 und 3].', '1 2 3'],
    ['It opened [1/2].', '1 2'],
    ['It opened [1|3].', '1 3'],
    ['It opened [Sources: 1 and 2].', '1 2'],
  ])('%s', (text, cited) => {
    expect(claimsIn(text, NUMBERS)).toEqual([['It opened', cited]]);
  });

  it.each([
    ['It opened [https://a.example/x and https://b.example/y].', ['https://a.example/x', 'https://b.example/y']],
    ['It opened [wiki/12 and wiki/13].', ['wiki/12', 'wiki/13']],
    ['It opened [wiki/12 and 1/2].', ['wiki/12', '1', '2']],
    ['It opened [a|1 / a|2].', ['a|1', 'a|2']],
  ])('that contain a joint: %s', (text, ids) => {
    expect(claimsIn(text, ids)).toEqual([['It opened', ids.join(' ')]]);
  });

  it.each(['It opened [rock and roll].', 'It opened [1 and others].', 'It opened [2 of 3].', 'It opened [1 / x].'])(
    'not in %s',
    (text) => {
      expect(claimsIn(text, NUMBERS)).toEqual([]);
    },
  );
});

describe('a place in the source', () => {
  it.each<[string, GrammarName, string]>([
    ['It opened【1†L10-L12】.', 'lenticular', '1'],
    ['It opened【2†source】.', 'lenticular', '2'],
    ['It opened【1†L10, L14】.', 'lenticular', '1'],
    ['It opened【1†L10, 2†L14】.', 'lenticular', '1 2'],
    ['It opened【9†L10】.', 'lenticular', '9?'],
    ['It opened [1†L10].', 'bracket', '1'],
    ['It opened [1↑source].', 'bracket', '1'],
    ['It opened【2‡source】.', 'lenticular', '2'],
    ['It opened [^2^].', 'footnote', '2'],
    ['It opened [Source 2, p. 5].', 'bracket', '2'],
    ['It opened [L10].', 'bracket', 'L10?'],
    ['It opened [1, p. 5].', 'bracket', '1'],
    ['It opened [1, pp. 12–14; 2, § 5].', 'bracket', '1 2'],
    ['It opened [1 page 7].', 'bracket', '1'],
    ['It opened [3, S. 12, line 4].', 'bracket', '3'],
    ['It opened [9, p. 5].', 'bracket', '9?'],
    ['It opened【2, p. 3】.', 'lenticular', '2'],
    ['It opened [^3, p. 3].', 'footnote', '3'],
  ])('%s', (text, grammar, cited) => {
    expect(claimsIn(text, NUMBERS, grammar)).toEqual([['It opened', cited]]);
  });

  it.each(['It opened [p. 5].', 'It opened [1, note 5].', 'It opened [1, p.].'])('is none in %s', (text) => {
    expect(claimsIn(text, NUMBERS)).toEqual([]);
  });

  it('is an id that a source has', () => {
    expect(claimsIn('It opened [1, p. 5].', ['1', 'p. 5'])).toEqual([['It opened', '1 p. 5']]);
    expect(claimsIn('It opened [S1, S2].', ['S1', 'S2'])).toEqual([['It opened', 'S1 S2']]);
  });

  it('is part of an id that a source has', () => {
    expect(claimsIn('It opened【4:0†source】.', ['4:0†source'], 'lenticular')).toEqual([['It opened', '4:0†source']]);
  });
});

describe('a word before an id', () => {
  it.each<[string, GrammarName, string]>([
    ['It opened [Source 1].', 'bracket', '1'],
    ['It opened [source: 2].', 'bracket', '2'],
    ['It opened [Sources 1, 2].', 'bracket', '1 2'],
    ['It opened [Document #3].', 'bracket', '3'],
    ['It opened [#1].', 'bracket', '1'],
    ['It opened [Doc 9].', 'bracket', '9?'],
    ['It opened (Source 2).', 'paren', '2'],
    ['It opened【Quelle 2】.', 'lenticular', '2'],
    ['It opened [ID:1].', 'bracket', '1'],
    ['It opened [cite: 1, 2].', 'bracket', '1 2'],
    ['It opened [doc9].', 'bracket', 'doc9?'],
    ['It opened [来源1].', 'bracket', '1'],
    ['It opened [资料：2].', 'bracket', '2'],
    ['It opened [web:1, web:2].', 'web', '1 2'],
    ['It opened [^1, ^3].', 'footnote', '1 3'],
    ['It opened [ref:1, ref:9].', 'ref', '1 9?'],
  ])('names a source: %s', (text, grammar, cited) => {
    expect(claimsIn(text, NUMBERS, grammar)).toEqual([['It opened', cited]]);
  });

  it.each<[string, GrammarName]>([
    ['It opened [see source 1].', 'bracket'],
    ['It opened [source one].', 'bracket'],
    ['It opened [source].', 'bracket'],
    ['It opened [no. 5].', 'bracket'],
    ['It opened (Source 9).', 'paren'],
  ])('is text: %s', (text, grammar) => {
    expect(claimsIn(text, NUMBERS, grammar)).toEqual([]);
  });

  it('may be part of an id', () => {
    expect(claimsIn('It opened [Source 1].', ['Source 1', '1'])).toEqual([['It opened', 'Source 1']]);
    expect(claimsIn('It opened [source_1] [Doc1].', NUMBERS)).toEqual([['It opened', 'source_1? Doc1?']]);
  });
});

describe('marks around a marker', () => {
  it.each<[string, GrammarName]>([
    ['It opened ([1]).', 'bracket'],
    ['It opened [[1]].', 'bracket'],
    ['It opened **[1]**.', 'bracket'],
    ['It opened *([1])*.', 'bracket'],
    ['It opened ^[1]^.', 'bracket'],
    ['It opened<sup>[1]</sup>.', 'bracket'],
    ['It opened (see [1]).', 'bracket'],
    ['It opened (cf. [1]).', 'bracket'],
    ['It opened [Quelle: [1]].', 'bracket'],
    ['It opened（【1】）.', 'lenticular'],
    ['It opened <SUP>[^1]</SUP>.', 'footnote'],
    ['It opened<sup>[1]</sup>.', 'link'],
  ])('are no part of the claim: %s', (text, grammar) => {
    expect(claimsIn(text, NUMBERS, grammar).map(([claim]) => claim)).toEqual(['It opened']);
  });

  it.each([
    ['It opened in **1937** [1].', 'It opened in **1937**'],
    ['It (the bridge) [1].', 'It (the bridge)'],
    ['People can see [1].', 'People can see'],
    ['It is a_b_ [1].', 'It is a_b_'],
  ])('stay where they are text: %s', (text, claim) => {
    expect(claimsIn(text, NUMBERS)).toEqual([[claim, '1']]);
  });

  it.each([
    ['(', '[1]'],
    ['( ', '[1]'],
    ['<sub>', '[1]'],
    ['', `[1]${')'.repeat(20_000_000)}`],
    ['', `[1]${'</sub> '.repeat(300_000)}`],
  ])('may be millions: %j before %.20s', (before, after) => {
    expect(claimsIn(`It opened ${before.repeat(300_000)}${after} and it is red [2].`, NUMBERS)).toEqual([
      ['It opened', '1'],
      ['and it is red', '2'],
    ]);
  });

  it('end before the next claim', () => {
    expect(claimsIn('It opened<sup>[1]</sup> and it is red ([2]) and long ([3]).', NUMBERS)).toEqual([
      ['It opened', '1'],
      ['and it is red', '2'],
      ['and long', '3'],
    ]);
  });
});

describe('a year', () => {
  it.each([
    ['Roth [2011] found it [1].', NUMBERS, [['Roth [2011] found it', '1']]],
    ['It lasted [1914-1918] [1].', NUMBERS, [['It lasted [1914-1918]', '1']]],
    ['It opened [1937, 1938].', NUMBERS, []],
    ['It opened [1937].', ['1937'], [['It opened', '1937']]],
    ['It opened [1937].', ['1001', '1002'], [['It opened', '1937?']]],
    ['It opened [1, 1937].', NUMBERS, [['It opened', '1 1937?']]],
    ['It opened [4711].', NUMBERS, [['It opened', '4711?']]],
    ['It opened [937].', NUMBERS, [['It opened', '937?']]],
  ])('%s with sources %j', (text, ids, claims) => {
    expect(claimsIn(text, ids)).toEqual(claims);
  });
});

describe('an id that no source has', () => {
  it.each<[string, GrammarName]>([
    ['It opened [9].', 'bracket'],
    ['It opened [9][1].', 'bracket'],
    ['It opened【9】.', 'lenticular'],
    ['It opened [^9].', 'footnote'],
    ['It opened <<9>>.', 'guillemet'],
    ['It opened [ref:9].', 'ref'],
    ['It opened [9].', 'link'],
    ['<snippet id=9>It opened.</snippet>', 'snippet'],
  ])('%s in %s', (text, grammar) => {
    const sources = sourcesFromList(NUMBERS.map((id) => ({ id, text: 'x' })));
    expect(parseResponse(text, sources, { grammar, answer: 'whole' }).counts.citation_id_unknown).toBe(1);
  });

  it('is a marker if it has the form of an id', () => {
    expect(claimsIn('It opened [doc_zzz] [sic].', ['doc_a1', 'doc_b2'])).toEqual([['It opened', 'doc_zzz?']]);
  });

  it.each([
    [
      'a number beyond the results',
      {
        choices: [{ message: { content: 'It opened.[9][2]' } }],
        search_results: [{ url: 'https://a.b' }, { url: 'https://c.d' }],
      },
    ],
    ['a note that nothing defines', 'It opened.[9] It is [red](https://c.d).'],
  ])('is no source of a cited answer: %s', (_name, answer) => {
    const read = readCitedAnswer(answer, undefined, null);
    if (!read.ok || read.value.sources === null) throw new Error('expected an answer with sources of its own');
    const { response, sources } = read.value;
    expect(sources.map(({ id }) => id)).not.toContain('9');
    expect(parseResponse(response, sourcesFromList(sources)).counts.citation_id_unknown).toBe(1);
  });
});

it.each(['1-', '1 and ', '1†L1,', '[1-2]', '[2004]', '1–2, ', '1, p. 5; ', '1]–[', '#', '([1] '])(
  'takes linear time: %s',
  (unit) => {
    const sources = sourcesFromList(NUMBERS.map((id) => ({ id, text: 'x' })));
    const repeated = (count: number): string => `[${unit.repeat(count)}`;
    expectLinear(
      (text) => parseResponse(text, sources, { grammar: 'bracket' }),
      repeated(Math.ceil(1_000_000 / GROWTH / unit.length)),
      repeated(Math.ceil(1_000_000 / unit.length)),
    );
  },
);
