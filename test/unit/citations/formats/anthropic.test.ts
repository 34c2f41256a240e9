import { expect, it } from 'vitest';
import { readCitedAnswer } from '../../../../src/citations/formats/read-answer.ts';
import { verifyRequested, verifyRequestSchema } from '../../../../src/wire/verify.ts';

const DOCUMENT = '橋 🌉 opened in 1937.\r\nIt is 1,280 metres long.';
const ANSWER = {
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'I look at the document.' },
    { type: 'text', text: 'Short answer 🌉: ', citations: null },
    {
      type: 'text',
      text: '橋は1937年に開通した。',
      citations: [
        {
          type: 'char_location',
          cited_text: '橋 🌉 opened in 1937.',
          document_index: 0,
          document_title: 'Bridge',
          start_char_index: 0,
          end_char_index: 19,
          file_id: null,
        },
      ],
    },
    { type: 'text', text: ' Workers painted the towers orange in spring.' },
  ],
};

function verified(body: Readonly<Record<string, unknown>>) {
  const request = verifyRequestSchema.parse(body);
  const result = verifyRequested(request, 'lexical');
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

it('reads a cited block as a claim whose span points into the text of the answer', () => {
  const text = 'Short answer 🌉: 橋は1937年に開通した。 Workers painted the towers orange in spring.';
  const { claims, statements, sources, cited_answer } = verified({ cited_answer: ANSWER });
  expect(claims.map(({ text: claim }) => claim)).toEqual(['橋は1937年に開通した。']);
  const [claim] = claims;
  expect(text.slice(claim?.span.start, claim?.span.end)).toBe('橋は1937年に開通した。');
  expect(statements.map(({ pieces: [piece] }) => text.slice(piece?.start, piece?.end))).toEqual([
    'Workers painted the towers orange in spring.',
  ]);
  expect(sources).toMatchObject([{ id: 'source-1', title: 'Bridge' }]);
  expect(cited_answer).toMatchObject({ format: 'anthropic', findings: [], finding_count: 0 });
});

it('counts code points in documents, and checks the cited text against the sources of the request', () => {
  const sources = [{ id: 'bridge', text: DOCUMENT }];
  const right = verified({ cited_answer: ANSWER, sources });
  expect(right.claims[0]?.ids).toMatchObject([{ id: 'bridge', source: 0 }]);
  expect(right.cited_answer?.findings).toEqual([]);
  const wrong = verified({ cited_answer: ANSWER, sources: [{ id: 'other', text: 'Nothing of this.' }] });
  expect(wrong.cited_answer?.findings).toEqual([
    { reason: 'cited_text_not_in_source', path: 'cited_answer.content[2].citations[0]' },
  ]);
});

it('reads the events of a stream like the message', () => {
  const events = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It opened ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'in 1937.' } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: {
        type: 'citations_delta',
        citation: { type: 'web_search_result_location', url: 'https://a.example/x,y', title: 'A', cited_text: '1937' },
      },
    },
  ];
  const read = readCitedAnswer(events, undefined, null);
  expect(read).toMatchObject({
    ok: true,
    value: {
      format: 'anthropic',
      response: '<answer><snippet id="https://a.example/x%2Cy">It opened in 1937.</snippet></answer>',
      sources: [{ id: 'https://a.example/x%2Cy', text: '1937', title: 'A', url: 'https://a.example/x,y' }],
    },
  });
});

it('refuses an answer without text and names what it expected', () => {
  expect(readCitedAnswer({ x: 1 }, undefined, null)).toMatchObject({ ok: false, error: [{ path: ['cited_answer'] }] });
  const body = verifyRequestSchema.safeParse({ cited_answer: { content: [] }, answer_format: 'anthropic' });
  expect(body.error?.issues[0]?.message).toBe(
    'expected a message of the Messages API, its content blocks, or the events of its stream, with text, for answer_format anthropic',
  );
});
