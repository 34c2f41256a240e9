/**
 * The linear scanners of the exact mode give the results of the backtracking patterns that they replace, on small odd
 * texts, and take linear time on long ones.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractClaims, hasCitation } from '../../../src/families/dr-tulu/exact/claims.ts';
import { planExact } from '../../../src/families/dr-tulu/exact/final-reward.ts';
import { extractQueries } from '../../../src/families/dr-tulu/exact/queries.ts';
import { readClaimAnswer, readCriterionScore } from '../../../src/families/dr-tulu/exact/replies.ts';
import { extractSources } from '../../../src/families/dr-tulu/exact/transcript.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

describe('scanners and the patterns they stand for', () => {
  // Python's white space, which \s is not.
  const S = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
  const NO_ID = S.replace('[', `[^"'>`);
  const choose = (...parts: string[]) => fc.constantFrom(...parts);
  /** Elements in a row, every part of which may be odd or missing. */
  const soup = (opens: fc.Arbitrary<string>, closes: fc.Arbitrary<string>) =>
    fc
      .array(
        fc.tuple(
          opens,
          choose(' id=', ' id=', ' id=', '  id=', '\nid=', '\u3000id=', ' n=1 id=', '\ufeffid=', 'id=', ''),
          choose('a', '"b"', "'c,d'", '"a, b"', 'a, b', ' "a"', '" a"', `"a'`, '', '""', '"a,"', '"a<b"'),
          choose('>', '>', '>', ' n="x > y">', '/>', ''),
          choose('x', 'y. z', ' \n', '', 'p < q', ' \ufeffx\u3000'),
          closes,
          choose('', '', ' ', 'x', '.\n'),
        ),
        { maxLength: 5 },
      )
      .map((elements) => elements.flat().join(''));
  const stripped = (part: string) => part.replace(new RegExp(`^${S}+|${S}+$`, 'g'), '');

  it('claims', () => {
    const strict = new RegExp(`<cite id=(["']?)(${NO_ID}+)\\1[^>]*>([^<]+)</cite>`, 'g');
    const loose = new RegExp(`<cite id=["']?${NO_ID}+["']?[^>]*>[^<]+</cite>`);
    const cites = soup(choose('<cite', '<cite', '<cite ', '<CITE'), choose('</cite>', '</cite>', '</cite>', ''));
    fc.assert(
      fc.property(cites, (response) => {
        const expected = new Map<string, string[]>();
        for (const part of response.split(loose).map(stripped)) if (part !== '') expected.set(part, []);
        for (const [, , ids = '', claim = ''] of response.matchAll(strict)) {
          if (stripped(claim) !== '') expected.set(stripped(claim), ids.split(',').slice(-1));
        }
        expect([...extractClaims(response)]).toEqual([...expected]);
        expect(hasCitation(response)).toBe(loose.test(response));
      }),
      { numRuns: 3000 },
    );
  });

  it('sources', () => {
    const elements = soup(
      choose('<snippet', '<snippets', '<snippe', '<webpage', '<webpag'),
      choose('</snippet>', '</snippets>', '</snippe>', '</webpage>', '</webpag>', ''),
    );
    fc.assert(
      fc.property(elements, (context) => {
        const expected = new Map<string, string>();
        for (const name of ['snippets?', 'snippet?', 'webpage?']) {
          const pattern = new RegExp(`<${name}${S}+id=(["']?)(${NO_ID}+)\\1[^>]*>([^]*?)</${name}>`, 'g');
          for (const [, , id = '', content = ''] of context.matchAll(pattern)) expected.set(id, stripped(content));
        }
        expect([...extractSources(context)]).toEqual([...expected]);
      }),
      { numRuns: 3000 },
    );
  });

  it('queries', () => {
    const calls = soup(choose('<tool', '<tool', '<tools'), choose('</tool>', '</tool>', ''));
    const pattern = new RegExp(`<tool${S}+name=[^>]*>([^]*?)</tool>`, 'g');
    fc.assert(
      fc.property(calls, (drawn) => {
        const context = drawn.replaceAll('id=', 'name=');
        const expected = [...context.matchAll(pattern)].map(([, query = '']) => query);
        expect(extractQueries(context, 'unified')).toEqual(expected.filter((query) => stripped(query) !== ''));
      }),
      { numRuns: 3000 },
    );
  });

  it('ratings', () => {
    const reply = fc
      .array(choose('Rating: [[', 'Rating: [[', 'rating: [[', 'Relevant', 'RELEVANT', ' ', ']]', ']', '[[', 'x', '\n'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(reply, (precision) => {
        const rating = /Rating: \[\[(.*)\]\]/.exec(precision)?.[1] ?? '';
        const answer = readClaimAnswer({ kind: 'cited', claim: 'c', ids: ['a'], texts: ['t'] }, () => precision);
        expect(answer).toHaveProperty('relevance', stripped(rating).toLowerCase() === 'relevant' ? 1 : 0);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('time', () => {
  const LARGE_CHARS = 256 * 1024;

  const hostile: Readonly<Record<string, string>> = {
    'a million <': '<',
    'open citations': '<cite id=a',
    'open quoted citations': '<cite id="a',
    'citations without content': '<cite id=a>',
    'citations that never close': '<cite id=a>x',
    'spaces in a tag': '<cite                ',
    'open sources': '<snippet id=a',
    'sources that never close': '<snippet id=a>',
    'sources that close otherwise': '<snippet id=a></snippe>',
    'open pages': '<webpage id=a x="',
    'open calls': '<tool name=',
    'calls that never close': '<tool name=a>',
    searches: '<search>',
    answers: '<answer>',
    'pairs of all kinds': '<cite id=a>x</cite><snippet id=b>y</snippet><search>q</search>',
    brackets: 'Rating: [[',
    'ratings that never close': 'Rating: [[\n',
    braces: '{',
    'braces that close': '{}',
    'closing braces': '}',
    digits: '{"score": "1_1',
    spaces: ' ',
  };

  const rubrics = { query: 'q', rubrics: [{ description: 'd', weight: 1 }] };

  describe.each(Object.entries(hostile))('%s', (_name, unit) => {
    const large = unit.repeat(Math.ceil(LARGE_CHARS / unit.length));
    const small = unit.repeat(Math.ceil(LARGE_CHARS / GROWTH / unit.length));

    it.each<[string, (text: string) => unknown]>([
      [
        'response',
        (text) =>
          planExact({
            response: `${text}<snippet id=S>x</snippet>${text}<answer>${text}</answer>`,
            rubrics,
            variant: 'rubrics',
            form: 'unified',
            citations: true,
          }),
      ],
      ['context', (text) => extractSources(text)],
      ['calls', (text) => extractQueries(text, 'v20250824')],
      ['rubric reply', (text) => readCriterionScore(text)],
      ['citation reply', (text) => readClaimAnswer({ kind: 'uncited', claim: 'c' }, () => text)],
    ])('%s', (_what, read) => {
      expectLinear(read, small, large);
    });
  });
});
