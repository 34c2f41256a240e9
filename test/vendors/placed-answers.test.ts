/** Decodes answers whose offsets point into the answer: OpenAI, Gemini, Cohere. */
import type { GenerateContentResponse } from '@google/genai';
import { type Cohere, CohereClientV2 } from 'cohere-ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { read } from './read-answer.ts';

const URL = 'https://bridge.example/a,b';
const MARKER = `([bridge.example](${URL}?utm_source=openai))`;
const TEXT = `🌉 橋 opened in 1937. ${MARKER}\r\nIt is red.`;
const points = (text: string) => [...text].length;
const bytes = (text: string) => Buffer.byteLength(text);

const cited = (start_index: number, end_index: number) =>
  ({
    type: 'url_citation',
    start_index,
    end_index,
    title: 'Bridge',
    url: URL,
  }) satisfies OpenAI.Responses.ResponseOutputText.URLCitation;

function response(...annotations: OpenAI.Responses.ResponseOutputText['annotations']) {
  const message = {
    ...{ type: 'message', id: 'm', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: TEXT, annotations }],
  } satisfies OpenAI.Responses.ResponseOutputMessage;
  return { object: 'response', output: [message] } satisfies Partial<OpenAI.Responses.Response>;
}

describe('OpenAI', () => {
  const before = TEXT.slice(0, TEXT.indexOf(MARKER));
  const sources = [{ id: URL.replace(',', '%2C'), url: URL, text: 'It opened in 1937.' }];

  it.each([
    ['code points, end exclusive', points(before), points(before + MARKER), []],
    [
      'code points, end inclusive',
      points(before),
      points(before + MARKER) - 1,
      [{ unit: 'codepoints', end: 'inclusive' }],
    ],
    ['UTF-16', before.length, before.length + MARKER.length, [{ unit: 'utf16', end: 'exclusive' }]],
    ['bytes', bytes(before), bytes(before + MARKER), [{ unit: 'utf8', end: 'exclusive' }]],
  ])('reads offsets in %s', (_, start, end, readings) => {
    const { claims, ids, slices, findings, format } = read(response(cited(start, end)), sources);
    expect(format).toBe('openai');
    expect(claims).toEqual(['🌉 橋 opened in 1937.']);
    expect(slices).toEqual(claims);
    expect(ids).toEqual([[sources[0]?.id]]);
    expect(findings.map(({ reading }) => reading)).toEqual(readings);
  });

  it('reads a file citation as a place, and the texts of file search results as sources', () => {
    const found = {
      ...{ type: 'file_search_call', id: 'f', queries: ['q'], status: 'completed' },
      results: [{ file_id: 'file-1', filename: 'a.txt', text: 'It opened in 1937.' }],
    } satisfies OpenAI.Responses.ResponseFileSearchToolCall;
    const place = {
      type: 'file_citation',
      file_id: 'file-1',
      filename: 'a.txt',
      index: 19,
    } satisfies OpenAI.Responses.ResponseOutputText.FileCitation;
    const { output } = response(place);
    const { claims, sources: own } = read({ object: 'response', output: [found, ...output] });
    expect(claims).toEqual(['🌉 橋 opened in 1937.']);
    expect(own).toEqual([{ id: 'file-1', text: 'It opened in 1937.', title: 'a.txt' }]);
  });

  it('reads the completed response of a stream of the SDK', async () => {
    const done = response(cited(points(before), points(before + MARKER)));
    const event = { type: 'response.completed', response: done, sequence_number: 1 };
    const body = `event: response.completed\ndata: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
    const headers = { 'content-type': 'text/event-stream' };
    const client = new OpenAI({ apiKey: 'k', fetch: async () => new Response(body, { headers }) });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const one of await client.responses.create({ model: 'gpt-5', input: 'q', stream: true }))
      events.push(one);
    expect(read(events, sources).claims).toEqual(['🌉 橋 opened in 1937.']);
  });

  it('leaves out a citation beyond the text', () => {
    const { claims, findings } = read(response(cited(900, 950)), sources);
    expect(claims).toEqual([]);
    expect(findings).toMatchObject([{ reason: 'claim_not_found' }]);
  });
});

describe('Gemini', () => {
  const text = '橋🌉:\r\nIt opened in 1937. It is red.';
  const start = bytes('橋🌉:\r\n');
  const answer = (startIndex: number, endIndex: number, segment = 'It opened in 1937.') =>
    ({
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'hm', thought: true }, { text }] },
          groundingMetadata: {
            groundingChunks: [
              { web: { uri: 'https://a.example', title: 'A', domain: 'a.example' } },
              { retrievedContext: { uri: 'gs://b', title: 'B', text: 'It opened in 1937.' } },
            ],
            groundingSupports: [{ segment: { startIndex, endIndex, text: segment }, groundingChunkIndices: [0, 1] }],
          },
        },
      ],
    }) satisfies Pick<GenerateContentResponse, 'candidates'>;

  it('reads bytes, and the texts of retrieved contexts', () => {
    const { claims, slices, sources, findings } = read(answer(start, start + 18));
    expect({ claims, slices }).toEqual({ claims: ['It opened in 1937.'], slices: ['It opened in 1937.'] });
    expect(sources.map((source) => source.text)).toEqual(['', 'It opened in 1937.']);
    expect(findings.map(({ reason }) => reason)).toEqual(['source_without_text']);
  });

  it('reads other units if only they fit, and finds a segment that is elsewhere', () => {
    const sources = [
      { id: 'https://a.example', text: 'a' },
      { id: 'gs://b', text: 'b' },
    ];
    const points = read(answer(5, 23), sources).findings;
    expect(points).toMatchObject([{ reason: 'offset_reading', reading: { unit: 'codepoints', end: 'exclusive' } }]);
    const moved = read(answer(0, 18), sources);
    expect(moved.findings).toMatchObject([{ reason: 'claim_moved' }]);
    expect(moved.slices).toEqual(['It opened in 1937.']);
    expect(read(answer(0, 3, 'not there'), sources).findings).toMatchObject([{ reason: 'claim_not_found' }]);
  });
});

describe('Cohere', () => {
  const text = '🌉 opened in 1937.';
  const wire = {
    ...{ id: '1', finish_reason: 'COMPLETE' },
    message: {
      role: 'assistant',
      content: [{ type: 'text', text }],
      citations: [
        {
          ...{ start: 2, end: 16, text: 'opened in 1937', content_index: 0, type: 'TEXT_CONTENT' },
          sources: [
            { type: 'document', id: 'doc:1', document: { id: 'doc:1', title: 'B', snippet: 'It opened in 1937.' } },
            { type: 'tool', id: 'search:0', tool_output: { year: 1937, name: 'bridge' } },
          ],
        },
      ],
    },
  };
  const sources = [
    { id: 'doc:1', text: 'It opened in 1937.', title: 'B' },
    { id: 'search:0', text: 'year: 1937\nname: bridge' },
  ];

  it('reads a response as the SDK decodes it, and as the wire has it', async () => {
    const client = new CohereClientV2({
      token: 'k',
      fetch: async () => new Response(JSON.stringify(wire), { headers: { 'content-type': 'application/json' } }),
    });
    const decoded: Cohere.V2ChatResponse = await client.chat({
      model: 'command-a',
      messages: [{ role: 'user', content: 'q' }],
    });
    for (const answer of [decoded, decoded.message, wire]) {
      expect(read(answer)).toMatchObject({ format: 'cohere', claims: ['opened in 1937'], sources, findings: [] });
    }
  });

  it('reads the events of a stream', () => {
    const citations: Cohere.Citation = {
      ...{ start: 2, end: 16, text: 'opened in 1937' },
      sources: [{ type: 'document', id: 'doc:1', document: { text: 'It opened in 1937.' } }],
    };
    const events = [
      { type: 'content-start', index: 0, delta: { message: { content: { text: '', type: 'text' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: '🌉 opened ' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'in 1937.' } } } },
      { type: 'citation-start', index: 0, delta: { message: { citations } } },
    ] satisfies Cohere.V2ChatStreamResponse[];
    expect(read(events)).toMatchObject({ format: 'cohere', claims: ['opened in 1937'], ids: [['doc:1']] });
  });
});
