/** Properties of every format: nothing is thrown, positions lie in the vendor's text, and time is linear. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANSWER_FORMATS } from '../../../../src/citations/formats/names.ts';
import { type CitedAnswer, readCitedAnswer } from '../../../../src/citations/formats/read-answer.ts';
import { parseResponse } from '../../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../../src/citations/sources.ts';

const WORDS = [
  '橋🌉 ',
  'It opened. ',
  '\r\n',
  '[1]',
  '<answer>',
  '</snippet>',
  '([a](https://a.example))',
  '<think>',
  'é',
  '"',
];
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(''));
const offset = fc.oneof(fc.integer({ min: -2, max: 60 }), fc.constantFrom(null, 0.5, 2 ** 53, '1'));
const url = fc.constantFrom('https://a.example', 'https://a.example/x,y;z "q"', '', 'a b', '\ud800', 'x'.repeat(300));
const quote = fc.oneof(text, fc.constant(null), fc.constant(1));

const located = fc.record({
  type: fc.constantFrom('char_location', 'page_location', 'search_result_location', 'x'),
  cited_text: quote,
  document_index: offset,
  start_char_index: offset,
  end_char_index: offset,
  source: url,
  search_result_index: offset,
});
const annotation = fc.record({
  type: fc.constantFrom('url_citation', 'file_citation', 'file_path'),
  start_index: offset,
  end_index: offset,
  index: offset,
  url,
  file_id: url,
});
const segment = fc.record({ startIndex: offset, endIndex: offset, partIndex: offset, text: quote });
const chunk = fc.oneof(
  fc.record({ web: fc.record({ uri: url }) }),
  fc.record({ retrievedContext: fc.record({ uri: url, text: quote }) }),
);
const cohereSource = fc.record({ type: fc.constant('document'), id: url, document: fc.record({ text: quote }) });
const many = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 4 });

const answers: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  anthropic: many(fc.record({ type: fc.constant('text'), text, citations: many(located) })),
  openai: fc.record({
    output: many(
      fc.record({
        type: fc.constant('message'),
        content: many(fc.record({ type: fc.constant('output_text'), text, annotations: many(annotation) })),
      }),
    ),
  }),
  gemini: fc.record({
    content: fc.record({ parts: many(fc.record({ text })) }),
    groundingMetadata: fc.record({
      groundingChunks: many(chunk),
      groundingSupports: many(fc.record({ segment, groundingChunkIndices: many(offset) })),
    }),
  }),
  cohere: fc.record({
    content: many(fc.record({ type: fc.constant('text'), text })),
    citations: many(
      fc.record({ start: offset, end: offset, text: quote, contentIndex: offset, sources: many(cohereSource) }),
    ),
  }),
  bedrock: many(
    fc.record({
      text: quote,
      citationsContent: fc.record({
        content: many(fc.record({ text })),
        citations: many(
          fc.record({
            source: url,
            sourceContent: many(fc.record({ text })),
            location: fc.record({ documentChar: fc.record({ documentIndex: offset, start: offset, end: offset }) }),
          }),
        ),
      }),
    }),
  ),
  mistral: many(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text }),
      fc.record({ type: fc.constant('reference'), referenceIds: many(fc.oneof(url, offset)) }),
    ),
  ),
  'ai-sdk': many(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text }),
      fc.record({ type: fc.constant('source-url'), sourceId: url, url }),
    ),
  ),
  perplexity: fc.record({
    choices: fc.tuple(fc.record({ message: fc.record({ content: text }) })),
    citations: many(url),
  }),
  markdown: text,
};

function check(answer: CitedAnswer): void {
  const { text: original, response, map, sources } = answer;
  const parsed = parseResponse(response, sourcesFromList(sources ?? []));
  for (const { span } of [...parsed.claims, ...parsed.findings]) {
    const [start, end] = [map.at(span.start), map.at(span.end)];
    expect(start).toBeLessThanOrEqual(end);
    expect(end).toBeLessThanOrEqual(original.length);
  }
  expect(parsed.counts.citation_nested ?? 0).toBe(0);
  expect(parsed.counts.several_answers ?? 0).toBe(0);
  expect(parsed.counts.citation_unclosed ?? 0).toBe(0);
  expect(parsed.counts.citation_stray_close ?? 0).toBe(0);
  // An answer that brings its sources cites only those; a marker beyond its list cites an id that is not there.
  if (sources !== null) expect(parsed.counts.citation_id_malformed ?? 0).toBe(0);
}

describe('every format', () => {
  it.each(ANSWER_FORMATS)('converts any %s answer', (format) => {
    fc.assert(
      fc.property(answers[format] ?? fc.constant(null), fc.boolean(), (value, isGiven) => {
        const given = isGiven ? sourcesFromList([{ id: 'https://a.example', text: 'It opened. 橋🌉' }]) : null;
        const read = readCitedAnswer(value, format, given);
        if (read.ok) check(read.value);
        else expect(read.error.every(({ path }) => path[0] === 'cited_answer')).toBe(true);
      }),
    );
  });

  it.each(ANSWER_FORMATS)('refuses any other JSON as %s, or reads it', (format) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        readCitedAnswer(value, undefined, null);
        const read = readCitedAnswer(value, format, null);
        if (read.ok) check(read.value);
      }),
    );
  });

  it('refuses more citations than an answer may have', () => {
    const citations = Array.from({ length: 20_001 }, () => ({
      type: 'web_search_result_location',
      url: 'u',
      cited_text: '',
    }));
    expect(readCitedAnswer([{ type: 'text', text: 'a', citations }], 'anthropic', null)).toMatchObject({
      error: [{ message: 'expected at most 20000 citations; split the answer' }],
    });
  });

  const LEAKED_TAG = '<cite index="';
  const LONG = `${'a'.repeat(999_990)} b. `;
  it.each<[string, unknown]>([
    [
      'annotations over all the text',
      {
        output: [
          {
            type: 'output_text',
            text: LONG,
            annotations: Array.from({ length: 10_000 }, (_, n) => ({
              type: 'url_citation',
              start_index: n,
              end_index: 999_000,
              url: 'u',
            })),
          },
        ],
      },
    ],
    [
      'claims that are elsewhere',
      {
        message: {
          content: [{ text: LONG }],
          citations: Array.from({ length: 5_000 }, () => ({
            start: 5,
            end: 9,
            text: `${'a'.repeat(900)}b`,
            sources: [{ id: 'x' }],
          })),
        },
      },
    ],
    [
      'source parts beside text parts',
      [
        ...Array.from({ length: 20_000 }, () => ({ type: 'text', text: 'a [1]' })),
        ...Array.from({ length: 20_000 }, (_, n) => ({ type: 'source-url', sourceId: 's', url: `u${n}` })),
      ],
    ],
    ['leaked tags that do not close', [{ type: 'text', text: `${LEAKED_TAG.repeat(60_000)}</cite>`, citations: null }]],
    ['leaked tags', [{ type: 'text', text: `${LEAKED_TAG}0-1">a</cite>`.repeat(10_000), citations: null }]],
    ['bare markers', '【4†L1】'.repeat(15_000)],
    ['markers that do not close', '【'.repeat(1_000_000)],
    ['thinking over and over', '<think></think>'.repeat(60_000)],
  ])('reads %s in bounded time', (_, value) => {
    // Quadratic work would take minutes: the time limit of the test ends it.
    expect(readCitedAnswer(value, undefined, null)).toHaveProperty('ok');
  });

  it('checks many long quotations within its budget', () => {
    const source = 'a'.repeat(1_000_000);
    const citations = Array.from({ length: 5_000 }, () => ({
      type: 'char_location',
      cited_text: `${'a'.repeat(900)}b`,
      document_index: 0,
      start_char_index: 1,
      end_char_index: 902,
    }));
    const read = readCitedAnswer(
      [{ type: 'text', text: 'x', citations }],
      undefined,
      sourcesFromList([{ id: 's', text: source }]),
    );
    const reasons = new Set(read.ok ? read.value.findings.map(({ reason }) => reason) : []);
    expect([...reasons].toSorted()).toEqual(['cited_text_not_in_source', 'cited_text_unchecked']);
  });
});
