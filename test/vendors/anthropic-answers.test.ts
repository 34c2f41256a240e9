/** Decodes messages of the Anthropic SDK: typed ones, and one that the SDK accumulates from a stream. */
import Anthropic from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { read } from './read-answer.ts';

const DOCUMENT = '金門大橋 🌉 opened in 1937.\r\nIt is 2,737 metres long.';
const QUOTE = 'It is 2,737 metres long.';
const START = [...DOCUMENT].join('').indexOf(QUOTE) - 1; // One character of the document is a surrogate pair.

const char = {
  type: 'char_location',
  cited_text: QUOTE,
  document_index: 0,
  document_title: 'Bridge',
  file_id: null,
  start_char_index: START,
  end_char_index: START + QUOTE.length,
} satisfies Anthropic.CitationCharLocation;

const page = {
  type: 'page_location',
  cited_text: 'opened in 1937.\nIt is',
  document_index: 0,
  document_title: null,
  file_id: null,
  start_page_number: 1,
  end_page_number: 2,
} satisfies Anthropic.CitationPageLocation;

const block = {
  type: 'content_block_location',
  cited_text: QUOTE,
  document_index: 1,
  document_title: null,
  file_id: null,
  start_block_index: 0,
  end_block_index: 1,
} satisfies Anthropic.CitationContentBlockLocation;

const search = {
  type: 'search_result_location',
  cited_text: QUOTE,
  search_result_index: 0,
  source: 'https://bridge.example/a',
  title: 'A',
  start_block_index: 0,
  end_block_index: 1,
} satisfies Anthropic.CitationsSearchResultLocation;

const web = {
  type: 'web_search_result_location',
  cited_text: 'It is 2,737 metres…',
  encrypted_index: 'x',
  title: 'A',
  url: 'https://bridge.example/a',
} satisfies Anthropic.CitationsWebSearchResultLocation;

const text = (words: string, ...citations: Anthropic.TextCitation[]) =>
  ({ type: 'text', text: words, citations: citations.length === 0 ? null : citations }) satisfies Anthropic.TextBlock;

it('resolves every kind of location', () => {
  const content: Anthropic.ContentBlock[] = [
    text('The bridge is 2,737 m long.', char, page),
    text(' 它長2,737米🌉。', block),
    text(' More.', search, web),
  ];
  const { ids, findings, claims } = read(content, [
    { id: 'bridge', text: DOCUMENT },
    { id: 'https://bridge.example/a', text: QUOTE },
  ]);
  expect(claims).toEqual(['The bridge is 2,737 m long.', '它長2,737米🌉。', 'More.']);
  expect(ids).toEqual([['bridge'], ['https://bridge.example/a'], ['https://bridge.example/a']]);
  expect(findings).toEqual([]);
});

it('reports text that is not in its source, text at another place, and units that differ', () => {
  const sources = [{ id: 'bridge', text: DOCUMENT }];
  const wrong = read([text('a b', { ...char, cited_text: 'It is 1,937 metres long.' })], sources);
  expect(wrong.findings).toMatchObject([{ reason: 'cited_text_not_in_source' }]);
  const moved = read([text('a b', { ...char, start_char_index: 3, end_char_index: 27 })], sources);
  expect(moved.findings).toMatchObject([{ reason: 'cited_text_moved' }]);
  const place = { start_char_index: START + 1, end_char_index: START + 1 + QUOTE.length };
  const utf16 = read([text('a b', { ...char, ...place })], sources);
  expect(utf16.findings).toMatchObject([{ reason: 'offset_reading', reading: { unit: 'utf16', end: 'exclusive' } }]);
});

const EVENTS: readonly Anthropic.RawMessageStreamEvent[] = [
  { type: 'content_block_start', index: 0, content_block: text('') },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'The bridge is ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '2,737 m long 🌉.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: char } },
  { type: 'content_block_stop', index: 0 },
];

it('reads the events of a stream as the SDK accumulates them', async () => {
  const start = {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [], usage: { output_tokens: 1 } },
  };
  const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } };
  const lines = [start, ...EVENTS, stop, { type: 'message_stop' }];
  const body = lines.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const client = new Anthropic({
    apiKey: 'k',
    fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const stream = client.messages.stream({ model: 'claude', max_tokens: 9, messages: [{ role: 'user', content: 'q' }] });
  const sources = [{ id: 'bridge', text: DOCUMENT }];
  const accumulated = read(await stream.finalMessage(), sources);
  expect(accumulated).toMatchObject({ claims: ['The bridge is 2,737 m long 🌉.'], ids: [['bridge']], findings: [] });
  expect({ ...read(EVENTS, sources), converted: null }).toEqual({ ...accumulated, converted: null });
});
