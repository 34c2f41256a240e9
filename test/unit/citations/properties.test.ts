import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyCitations } from '../../../lib/verify.ts';
import { GRAMMAR_NAMES, type GrammarName } from '../../../src/citations/grammars.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { parseSources, sourcesFromList } from '../../../src/citations/sources.ts';
import type { ParsedResponse, SourceSet } from '../../../src/citations/types.ts';
import { splitSentences } from '../../../src/text/sentences.ts';

/** Random mixtures of pieces that matter to the parser. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<answer>',
        '</answer>',
        '<think>',
        '</think>',
        '<snippet id=S1>',
        '<snippet id="S1, S2">',
        "<snippet id='S9'>",
        '<snippet>',
        '<snippet id=',
        '</snippet>',
        '<cite id=S1>',
        '</cite>',
        '<webpage id=W1>',
        '</webpage>',
        '<tool_output>',
        '[S1]',
        '[^S2]',
        '[ref:S1]',
        '【S1】',
        '<<S1>>',
        '[',
        '<',
        '>',
        '"',
        "'",
        ',',
        '. ',
        '\n',
        '\r\n',
        '\0',
        '\ud800',
        '\udc00',
        'It opened in 1937.',
        '准点率升至99.83%。',
        'Dr. Snow said 3.5 < 4',
        '\u00a0',
        '\ufeff',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

const SOURCES: SourceSet = sourcesFromList([
  { id: 'S1', text: 'It opened in 1937.' },
  { id: 'S2', text: 'It is red.' },
]);

function checkSpans(text: string, parsed: ParsedResponse, grammar: GrammarName): void {
  const inside = ({ start, end }: { start: number; end: number }) =>
    Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= text.length;
  for (const finding of parsed.findings) expect(inside(finding.span)).toBe(true);
  for (const claim of parsed.claims) {
    expect(inside(claim.span) && inside(claim.element)).toBe(true);
    expect(claim.element.start <= claim.span.start && claim.span.end <= claim.element.end).toBe(true);
    // The text of a claim lacks the markup of links; the id is that of the page.
    if (grammar === 'link') continue;
    const slice = text.slice(claim.span.start, claim.span.end);
    const nested = parsed.claims.some(
      (other) =>
        other !== claim && other.element.start >= claim.element.start && other.element.end <= claim.element.end,
    );
    if (!nested && (parsed.counts.citation_nested ?? 0) === 0 && (parsed.counts.several_answers ?? 0) === 0)
      expect(claim.text).toBe(slice);
    for (const { id, span } of claim.ids) expect(text.slice(span.start, span.end)).toBe(id);
  }
  for (const statement of parsed.statements) {
    expect(statement.pieces.map(({ start, end }) => text.slice(start, end)).join(' ')).toBe(statement.text);
  }
}

describe('the parser on any text', () => {
  it('never throws, and every span slices to its text', () => {
    fc.assert(
      fc.property(
        hostileText,
        fc.constantFrom(...GRAMMAR_NAMES),
        fc.constantFrom('first', 'last', 'whole'),
        (text, grammar, answer) => {
          checkSpans(text, parseResponse(text, SOURCES, { grammar, answer }), grammar);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('reads any tool output, and the spans of sources slice to their text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const { list, counts } = parseSources(text);
        for (const { span, text: source } of list) {
          if (span === null) throw new Error('a source of tool output has a place');
          expect(span.start >= 0 && span.end <= text.length).toBe(true);
          if (
            counts.source_duplicate_id === undefined &&
            !/<\/?(?:snippet|webpage|tool_output)/iu.test(text.slice(span.start, span.end))
          ) {
            expect(text.slice(span.start, span.end)).toContain(source);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('verifies any text with lexical evidence', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (response, toolOutput) => {
        const verification = verifyCitations({ response, tool_output: toolOutput }, { evidence: 'lexical' });
        expect(JSON.parse(JSON.stringify(verification))).toEqual(verification);
      }),
      { numRuns: 1_000 },
    );
  });

  it('splits any text into sentences in order, without overlap, losing only white space', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        let at = 0;
        for (const { start, end } of splitSentences(text)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(text.slice(at, start).trim()).toBe('');
          expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
          at = end;
        }
        expect(text.slice(at).trim()).toBe('');
      }),
      { numRuns: 2_000 },
    );
  });
});

const word = fc.constantFrom(
  'bridge',
  'opened',
  'in',
  '1937',
  'the',
  'strait',
  'p < 0.05',
  'Dr. Snow',
  '99.83%',
  '准点率',
  'R&amp;D',
);
const sentence = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => `${words.join(' ')}.`);
const idList = fc.uniqueArray(fc.constantFrom('S1', 'S2', 'a-3', '源1'), { minLength: 1, maxLength: 3 });
const part = fc.oneof(
  sentence.map((text) => ({ text, ids: null })),
  fc.tuple(sentence, idList).map(([text, ids]) => ({ text, ids })),
);

describe('well-formed answers', () => {
  it('are the same after parsing and writing', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), (parts) => {
        const write = (list: readonly { text: string; ids: readonly string[] | null }[]) =>
          `<answer>${list.map(({ text, ids }) => (ids === null ? text : `<snippet id=${ids.join(',')}>${text}</snippet>`)).join(' ')}</answer>`;
        const response = write(parts);
        const parsed = parseResponse(
          response,
          sourcesFromList(['S1', 'S2', 'a-3', '源1'].map((id) => ({ id, text: id }))),
        );
        expect(parsed.format).toEqual({ answer_only: 1, full: 1 });
        const cited = parts.filter((one) => one.ids !== null);
        expect(parsed.claims.map((claim) => ({ text: claim.text, ids: claim.ids.map(({ id }) => id) }))).toEqual(cited);
        const again = write(
          parts.map((one) => {
            const claim = one.ids === null ? undefined : parsed.claims[cited.indexOf(one)];
            return claim === undefined ? one : { text: claim.text, ids: claim.ids.map(({ id }) => id) };
          }),
        );
        expect(again).toBe(response);
      }),
      { numRuns: 500 },
    );
  });
});
