/** Markup that cites nothing is a finding in every grammar, and costs the format. */
import { describe, expect, it } from 'vitest';
import { type GrammarName, parseResponse, sourcesFromList } from '../../../lib/citations.ts';
import { CLAIM_WRITERS } from '../../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

const ID = 'https://a.example/b';
/** A quadratic step over so many characters takes half a second or more. */
const LARGE_CHARS = 250_000;
const SOURCES = sourcesFromList([{ id: ID, text: 'It opened in 1937.' }]);

function findingsIn(text: string, grammar: GrammarName): { found: [string, string][]; full: 0 | 1 } {
  const { findings, format } = parseResponse(text, SOURCES, { grammar, answer: 'whole' });
  return { found: findings.map(({ reason, span }) => [reason, text.slice(span.start, span.end)]), full: format.full };
}

describe.each(GRAMMAR_NAMES)('in %s', (grammar) => {
  const honest = `${CLAIM_WRITERS[grammar]({ text: 'It opened in 1937', ids: [ID] })}.`;

  it.each([
    ['citation_unclosed', '<cite id="x">', ' It is <cite id="x"> red.'],
    ['citation_stray_close', '</snippet>', ' It is red.</snippet>'],
    ['citation_unclosed', '<snip', ' It is red <snip'],
    ['citation_unclosed', '</', ' It is red.</'],
    ['citation_unclosed', '<cite i', ' It is red <cite i'],
  ])('%s: %s', (reason, markup, leak) => {
    const { found, full } = findingsIn(honest + leak, grammar);
    expect(found).toContainEqual([reason, markup]);
    expect(full).toBe(0);
  });

  it.each(['', ' It is 3 < 5 and 7 > 2', ' It is 3 <', ' See `<cite>` and <b>it</b>', ' It is a <cite>Book</cite>'])(
    'none: %j',
    (text) => {
      const isOwn = grammar.startsWith('cite') && text.includes('<cite>');
      if (!isOwn) expect(findingsIn(honest + text, grammar)).toEqual({ found: [], full: 1 });
    },
  );
});

it.each<[GrammarName, string, string, string]>([
  ['cite-tag', 'citation_no_id', '<cite></cite>', `It opened <cite>${ID}</cite> <cite></cite>.`],
  ['lenticular', 'citation_no_id', '【 】', `It opened【${ID}】【 】.`],
  ['bracket', 'citation_no_id', '<cite></cite>', `It opened [${ID}] <cite></cite>.`],
  ['lenticular', 'citation_unclosed', '【', `It opened【${ID}】. It is【S1.`],
  ['lenticular', 'citation_unclosed', '【', `It opened【${ID}】. It is red【${'x'.repeat(1100)}】.`],
  ['bracket', 'citation_unclosed', '[', `It opened [${ID}]. It is red [${ID} ${'x '.repeat(600)}].`],
  ['footnote', 'citation_unclosed', '[^', `It opened [^${ID}]. It is [^2 red.`],
  ['guillemet', 'citation_unclosed', '<<', `It opened <<${ID}>>. It is <<S1> red.`],
  ['bracket', 'citation_unclosed', '[', `It opened [${ID}]. It is red [${ID}.`],
  ['guillemet', 'citation_no_id', '<snippet></snippet>', `It opened <<${ID}>> <snippet></snippet>.`],
  ['cite-tag', 'citation_no_id', '<snippet></snippet>', `It opened <cite>${ID}</cite> <snippet></snippet>.`],
  ['paren', 'citation_no_id', '()', `It opened (${ID}) ().`],
  ['link', 'citation_no_id', '()', `It opened ([a](${ID})). It is [red]().`],
  ['guillemet', 'citation_stray_close', '>>', `It opened <<${ID}>>. It is red S1>>.`],
  ['lenticular', 'citation_stray_close', '】', `It opened【${ID}】. It is red】.`],
])('in %s: %s %s', (grammar, reason, markup, text) => {
  expect(findingsIn(text, grammar)).toEqual({ found: [[reason, markup]], full: 0 });
});

it.each<[GrammarName, string]>([
  ['guillemet', `It opened <<${ID}>>. 1 << 2 and a <<<< b.\nSee Home >> Bridges.`],
  ['guillemet', `It opened <<${ID}>>. It is a vector<vector<int>> or a Map<string, List<int>>.`],
  ['bracket', `It opened [${ID}]. It is [red, in [1, 2) and [0`],
  ['paren', `It opened (${ID}). Call open() (or close().`],
])('marks with another use are none, in %s', (grammar, text) => {
  expect(findingsIn(text, grammar).found).toEqual([]);
});

it('a tag in which an answer ends before its closing tag', () => {
  const text = `<answer><snippet id="${ID}">It opened in 1937.</snippet> It is <snippet id="${ID}</answer>`;
  expect(parseResponse(text, SOURCES, {}).counts).toMatchObject({ citation_unclosed: 1 });
});

it.each(['<cite>', '</cite>', '<<x', '【x', '【x\n', '<cite', '<', '[x ', '>>', '】', ' ()', '<<>>'])(
  'takes linear time: %j',
  (unit) => {
    for (const grammar of ['lenticular', 'guillemet', 'bracket', 'paren', 'snippet'] as const) {
      expectLinear(
        (text) => parseResponse(text, SOURCES, { grammar, answer: 'whole' }),
        unit.repeat(Math.ceil(LARGE_CHARS / GROWTH / unit.length)),
        unit.repeat(Math.ceil(LARGE_CHARS / unit.length)),
      );
    }
  },
);
