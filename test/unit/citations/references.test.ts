/** Definitions and lists of sources are neither claims, citations nor statements, in every grammar. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GrammarName, parseResponse, sourcesFromList } from '../../../lib/citations.ts';
import { verifyCitations } from '../../../lib/index.ts';
import { CLAIM_WRITERS } from '../../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import { ReferenceMask, withoutReferences } from '../../../src/citations/references.ts';
import { NO_REFERENCE_LISTS, ONLY_LISTS, REFERENCE_LISTS } from './reference-inputs.ts';

const A = 'https://a.example/aare';
const SOURCES = sourcesFromList(['1', '2', A].map((id) => ({ id, text: 'x' })));

function read(text: string, grammar: GrammarName = 'bracket'): { claims: string[]; uncited: string[]; full: 0 | 1 } {
  const { claims, statements, format } = parseResponse(text, SOURCES, { grammar, answer: 'whole' });
  return {
    claims: claims.map(({ text, ids }) => `${text} <- ${ids.map(({ id }) => id).join(' ')}`),
    uncited: statements.map(({ text }) => text),
    full: format.full,
  };
}

describe('the end of an answer', () => {
  it.each([
    '**Sources**\n- [1] Aare page\n- [2] Rhine page',
    'Sources:\n[1] The page of the Aare in Bern\n\n[2] Rhine page',
    '## References\n[1]: Aare page\n[2]: Rhine page\n',
    'Quellen\n1. Die Aare in Bern und Thun: https://a.example\n2. https://b.example',
    '[1] The page of the Aare, https://a.example\n[2] https://b.example',
    '[^1]: The page of the Aare in Bern\n[^2]: Rhine page',
    '[1]: https://a.example "The page of the Aare in Bern"',
    '📚 **Sources**\n- [1] Aare page',
    '## 5. Further reading\n1. The page of the Aare in Bern\n2. "The Rhine", a book of many pages.',
    '[^1]: The page of the Aare,\n    which is in Bern and Thun\n[^2]: Rhine page',
    '**Sources**\n\n**[1]** The page of the Aare in Bern\n**[2]** Rhine page',
    '> **Sources**\n> [1] The page of the Aare in Bern\n> [2] Rhine page',
    'References:\n[ref:1] The page of the Aare in Bern\n[web:2] Rhine page',
    '[^1^]: The page of the Aare in Bern',
  ])('is no part of it: %j', (list) => {
    expect(read(`The Aare is 288 km long [1].\n\n${list}`)).toEqual({
      claims: ['The Aare is 288 km long <- 1'],
      uncited: [],
      full: 1,
    });
  });

  it.each(REFERENCE_LISTS)('is no part of it: %j', (list) => {
    expect(read(`The Aare is 288 km long [1].\n\n${list}`)).toEqual({
      claims: ['The Aare is 288 km long <- 1'],
      uncited: [],
      full: 1,
    });
  });

  it.each(NO_REFERENCE_LISTS)('is read: %j', (list, claims) => {
    const [first, ...others] = read(`The Aare is 288 km long [1].\n\n${list}`).claims;
    expect([first, others]).toEqual(['The Aare is 288 km long <- 1', claims ?? others]);
    expect(others).not.toEqual([]);
  });

  it.each(ONLY_LISTS)('is read if nothing else is there: %j', (list) => {
    expect(read(list).claims).not.toEqual([]);
  });

  it.each([
    ['one line of ids', 'Sources: [1], [2]', 'Sources: <- 1 2'],
    ['ids without titles', 'Sources:\n[1] [2]', ' <- 1 2'],
    ['a number that no source has', 'Sources:\n7. Aare page [2]', 'Aare page <- 2'],
    ['a long continuation', `[^1]: Aare page\n    and ${'it is long '.repeat(20)} wide [2].`, 'wide <- 2'],
    ['an item after a definition', '[^1]: Aare page\n  - The Rhine is long [2].', '- The Rhine is long <- 2'],
    ['an id that is defined twice', 'Sources:\n[1] Aare\n[1] Rhine', 'Aare <- 1'],
    [
      'a sentence after the list',
      'Sources:\n[1] Aare page\nThe Rhine is longer [2].',
      'Aare page\nThe Rhine is longer <- 2',
    ],
    ['a long text', `Notes:\n[1] The Aare ${'is long and '.repeat(20)}wide [2].`, 'wide <- 2'],
    ['another id', 'Sources:\n[x9] Aare page', ' <- x9'],
  ])('is read with %s', (_name, list, claim) => {
    const { claims } = read(`It is red [1].\n\n${list}`);
    expect(claims[0]).toBe('It is red <- 1');
    expect(claims.slice(1).some((one) => one.endsWith(claim))).toBe(true);
  });

  it('may hold statements under other headings', () => {
    const { uncited } = read('It is red [1].\n\nHistory:\n1. The bridge was built by many workers.');
    expect(uncited).toEqual(['1. The bridge was built by many workers.']);
  });
});

it('a heading with ids alone is a claim without content', () => {
  const { counts } = parseResponse('It is red [1].\n\nSources: [1], [2]', SOURCES, { grammar: 'bracket' });
  expect(counts.claim_without_content).toBe(1);
});

it('definitions may be anywhere', () => {
  const text = 'It is red.[^1]\n\n[^1]: Aare page\n\nIt is long.[^2]';
  expect(read(text, 'footnote')).toEqual({ claims: ['It is red. <- 1', 'It is long. <- 2'], uncited: [], full: 1 });
});

describe('a link by label', () => {
  it.each([
    ['It opened ([Bridge][1]).', `It opened <- ${A}`],
    ['It opened in [the north][Aare Page] of it.', `It opened in the north of it. <- ${A}`],
    ['The [Aare page][] says so.', `The Aare page says so. <- ${A}`],
    ['The [aare page] says so.', `The aare page says so. <- ${A}`],
    ['It opened [1].', `It opened <- ${A}`],
  ])('%s', (text, claim) => {
    const definitions = `[1]: ${A} "Bridge"\n[Aare page]: <${A}>`;
    expect(read(`${text}\n\n${definitions}`, 'link')).toEqual({ claims: [claim], uncited: [], full: 1 });
  });

  it('needs a definition', () => {
    expect(read('It [sic] opened in [the north][of].', 'link').claims).toEqual([]);
  });
});

it.each(GRAMMAR_NAMES)('a list in the grammar %s makes no statement and no id in prose', (grammar) => {
  const sources = [{ id: grammar === 'link' ? A : 'S1', text: 'The Aare is 288 km long.' }];
  const cite = CLAIM_WRITERS[grammar];
  const claim = cite({ text: 'The Aare is 288 km long', ids: sources.map(({ id }) => id) });
  const list = grammar === 'link' ? `[1] ${A}` : '[S1] The page of the Aare in Bern';
  const response = `${claim}.\n\nSources:\n${list}`;
  const { findings, statements, claims } = verifyCitations(
    { response, sources, grammar, answer: 'whole' },
    { evidence: 'none' },
  );
  expect([claims.length, statements, findings]).toEqual([1, [], []]);
});

it('finds the same references however the text is cut, and keeps length and line breaks', () => {
  const piece = fc.constantFrom(
    ...['Sources', ':', '\n', '\n\n', ' ', '**', '[1]', '[2] title', '[^1]: x', `[1]: ${A}`, `[1] ${A}\n`, 'a', '- '],
    ...['\n<h2>Sources</h2>\n', '<b>', '</b>', '| ', '---\n', '=====\n', '(1)', ' (2)', 'Sources: [1] a; [2] b', '：'],
    ...['\n## Notes\n', 'x'.repeat(200), '1. ', '\n  ', 'S1', '📚 ', '\r\n', ' '.repeat(130), 'y'.repeat(4090)],
  );
  const isSource = (id: string): boolean => id === 'S1';
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 8 }), (chunks) => {
      const pieces = chunks.map((chunk) => chunk.join(''));
      const text = pieces.join('');
      const mask = new ReferenceMask(0, isSource);
      const masked = pieces.map((one) => mask.push(one)).join('') + mask.finish();
      const whole = withoutReferences(text, { start: 0, end: text.length }, isSource);
      expect(masked).toBe(whole.text);
      expect(mask.spans).toEqual(whole.spans);
      expect([...mask.urls]).toEqual([...whole.urls]);
      expect(masked.replace(/[^\n]/g, 'x')).toBe(text.replace(/[^\n]/g, 'x'));
    }),
    { numRuns: 3000 },
  );
});
