/** Ids that stand in prose instead of in a citation, and honest text in which they must not be seen. */
import { describe, expect, it } from 'vitest';
import { type GrammarName, sourcesFromList } from '../../../lib/citations.ts';
import { verifyCitations } from '../../../lib/index.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { idsInProse } from '../../../src/citations/prose-ids.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

function found(ids: readonly string[], text: string, grammar: GrammarName = 'snippet'): string[] {
  const response = `<answer>${text}</answer>`;
  const { findings } = verifyCitations(
    { response, sources: ids.map((id) => ({ id, text: 'x' })), grammar, answer: 'first' },
    { evidence: 'none' },
  );
  return findings
    .filter(({ reason }) => reason === 'id_in_prose')
    .map(({ span }) => response.slice(span.start, span.end));
}

describe('an id in prose', () => {
  it.each([
    ['in brackets', ['S1', 'S2'], 'It opened in 1937 (S1).', ['S1']],
    ['after a mark that begins no tag', ['S1'], 'It opened < S1 > and a<S1.', ['S1', 'S1']],
    ['in a line of sources', ['S1', 'S2'], 'It opened in 1937.\nSources: S1, S2', ['S1', 'S2']],
    ['a number in a last line of sources', ['1', '2'], 'It opened in 1937.\n\nSources: 1 and 2.', ['1', '2']],
    ['a number below a heading of sources', ['1', '2'], 'It opened in 1937.\n\n**Quellen:**\n1, 7\n', ['1']],
    ['a number in the brackets of a link', ['1', '2'], 'It opened in 1937 [1](https://a.example).', ['1']],
    ['numbers in brackets', ['1', '2'], 'It opened[1]. It closed [^2], later [1, 2].', ['1', '2', '1', '2']],
    ['numbers in other brackets', ['1', '3'], 'It opened【1】 and closed【3†L12-L20】.', ['1', '3']],
    ['numbers in wide brackets', ['1', '2'], 'It opened［1］.', ['1']],
    ['a number behind a word for a source', ['1', '2'], 'Document 2 says so, as does (source #1).', ['2', '1']],
    [
      'the address of a source',
      ['https://a.example/b'],
      'See http://www.a.example/b?utm_source=x.',
      ['http://www.a.example/b?utm_source=x'],
    ],
    ['raised numbers', ['1', '12'], 'It opened.¹ It closed later¹² and “burned”¹.', ['¹', '¹²', '¹']],
    ['invented', ['S1', 'S2'], 'It opened in 1937 (S12).', ['S12']],
    ['inside a claim', ['S1'], '<snippet id=S1>It opened in 1937, says S1.</snippet>', ['S1']],
    ['beside a citation', ['S1'], '<snippet id=S1>It opened.</snippet> See S1: and S1-', ['S1', 'S1']],
    ['random', ['doc_27bx', 'doc_9kkq'], 'It opened (doc_zz1).', ['doc_zz1']],
    ['invented, without a digit', ['doc_27bx', 'doc_9kkq'], 'It opened. See also doc_zzzz.', ['doc_zzzz']],
    ['a part of other ids', ['doc_27bx:part_1'], 'It opened. See also doc_zzzz.', ['doc_zzzz']],
    ['of another writing', ['web:3', 'web:4'], 'It opened, web:4.', ['web:4']],
  ])('%s', (_name, ids, text, expected) => {
    expect(found(ids, text)).toEqual(expected);
  });

  it('is counted in the text of another grammar, not again in its list of sources', () => {
    const text = 'The dam broke [1]. It was rebuilt [2].\n\nSources:\n[1] River Floods\n[2] Dam History';
    expect(found(['1', '2'], text)).toEqual(['1', '2']);
  });

  it.each([
    ['numbers in brackets that no source has', ['1', '2'], 'It opened [3], closed【4】 in 【x】 and later⁹.'],
    ['a list behind text that cites nothing', ['S1'], 'It opened in 1937.\n\nSources: [S1] Aare page'],
    ['definitions behind text that cites nothing', ['1'], 'It opened in 1937.\n\n[1]: Aare page'],
    ['a list behind a claim', ['S1'], '<snippet id=S1>It opened.</snippet>\n\nSources: [S1] Aare page'],
    ['an interval', ['1', '2'], 'It is in [0, 1] here.'],
    ['numbers in code and behind a backslash', ['1', '2'], 'Take `[1]` and \\[2\\] and\n```\n[1](x) long¹\n```\nhere.'],
    ['powers and units', ['2', '3'], 'It covers 17 km², 3 m³ and x² of E=mc².'],
    ['other brackets', ['1', '2'], 'It (1) opened, {2} closed, <1> and [page 2], [1 to 2, and [2'],
    ['numbers behind other words', ['1', '2'], 'It has outsource 1 and lane 2, documents: 1, Document 3.'],
    ['other addresses', ['https://a.example/b'], 'See https://a.example/c, https://b.example/b and http://.'],
    ['an address in code', ['https://a.example/b'], 'Call `get(https://a.example/b)`.'],
    ['years', ['1', '2'], 'It opened in 1937 with 2 lanes.'],
    ['a line of sources before other text', ['1', '2'], 'Sources: 1, 2.\nIt opened in 1937.'],
    ['a last line of another heading', ['1', '2'], 'It opened in 1937.\nLanes: 2.'],
    ['a last line with words', ['1', '2'], 'It opened in 1937.\nSources: the pages 1, 2.'],
    ['a last line of numbers alone', ['1', '2'], 'It has these lanes:\n1, 2'],
    ['a last line of a year', ['1', '2'], 'It opened.\nSources: 1937.'],
    ['numbers that end a sentence', ['1', '2'], 'It has two sources and 2'],
    ['other codes', ['S1', 'S2'], 'An A380 took vitamin B12 and 5G from the W3C in H2O.'],
    ['numbers that are much longer', ['S1'], 'Route S1234 is closed.'],
    ['words of code', ['doc_1', 'web:3'], 'Call my_function and web_search.'],
    ['words without a digit', ['Smith', 'Jones'], 'Smith says so.'],
    ['other words with a dash', ['doc_1'], 'A 12-hour flight of the F-16.'],
    ['an unclosed citation, which has a finding of its own', ['S1'], 'It opened <snippet id=S1>in 1937.'],
    ['a tag right after a word', ['S1'], 'It opened<a href="S1">in 1937</a>.'],
    ['citations', ['S1', 'S2'], '<snippet id=S1,S2>It opened <snippet id=S2>in 1937</snippet>.</snippet>'],
  ])('is not seen in %s', (_name, ids, text) => {
    expect(found(ids, text)).toEqual([]);
  });

  it('is not seen in a tag at the start of the text', () => {
    const text = '<a href="S1">It opened</a>';
    expect(idsInProse(text, { start: 0, end: text.length }, [], sourcesFromList([{ id: 'S1', text: 'x' }]))).toEqual(
      [],
    );
  });

  it('is not seen in the markers of a marker grammar', () => {
    expect(found(['S1'], 'It opened [S1]. It closed (S1).', 'bracket')).toEqual(['S1']);
    expect(found(['1', '2'], 'It opened [1].\nSources: [2]', 'bracket')).toEqual([]);
    expect(found(['1', '2'], 'It opened [1].\nSources: 2', 'bracket')).toEqual(['2']);
  });

  it('is found in linear time', () => {
    const sources = sourcesFromList([{ id: 'S1', text: 'x' }]);
    const parsed = (size: number) => {
      const text = `<answer>${'S1 A_b-1:2 <b [1 [1] `¹ '.repeat(size)}\nSources:${' 1 and'.repeat(size)} 1</answer>`;
      return { text, ...parseResponse(text, sources) };
    };
    expectLinear(
      ({ text, answer, claims }) => answer !== null && idsInProse(text, answer, claims, sources),
      parsed(20_000),
      parsed(20_000 * GROWTH),
    );
  });

  it.each(['http://', '://', 'http://a.'])('takes no longer for addresses in addresses: %j', (unit) => {
    const sources = sourcesFromList([{ id: 'S1', text: 'x' }]);
    const text = (of: string, length: number): string => of.repeat(Math.ceil(length / of.length));
    expectLinear(
      (text) => idsInProse(text, { start: 0, end: text.length }, [], sources),
      text('http//: S1 ', 200_000),
      text(unit, 200_000 * GROWTH),
    );
  });
});
