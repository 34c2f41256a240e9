/** Decodes answers of Bedrock, Mistral, the AI SDK and Perplexity, as their packages type or decode them. */
import type { ConverseOutput, ConverseStreamOutput, Message } from '@aws-sdk/client-bedrock-runtime';
import { Mistral } from '@mistralai/mistralai';
import Perplexity from '@perplexity-ai/perplexity_ai';
import { generateText, type UIMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { read } from './read-answer.ts';

const DOCUMENT = '橋🌉\r\nIt opened in 1937.';
const sources = [{ id: 'bridge', text: DOCUMENT }];

describe('Bedrock', () => {
  const citation = (location: object) => ({
    title: 'Bridge',
    sourceContent: [{ text: 'It opened in 1937.' }],
    location,
  });
  const message = {
    role: 'assistant',
    content: [
      { text: 'Answer: ' },
      {
        citationsContent: {
          content: [{ text: '開通 1937 🌉.' }],
          citations: [{ ...citation({}), location: { documentChar: { documentIndex: 0, start: 4, end: 22 } } }],
        },
      },
      {
        citationsContent: {
          content: [{ text: ' It is old.' }],
          citations: [
            { location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } },
            { location: { documentChunk: { documentIndex: 0, start: 0, end: 1 } } },
            { source: 'bridge', location: { searchResultLocation: { searchResultIndex: 3, start: 0, end: 1 } } },
            { location: { web: { url: 'https://nowhere.example', domain: 'nowhere.example' } } },
          ],
        },
      },
    ],
  } satisfies Message;

  it('resolves every kind of location', () => {
    const answer = { message } satisfies ConverseOutput;
    const { format, claims, ids, findings } = read({ output: answer }, sources);
    expect({ format, claims }).toEqual({ format: 'bedrock', claims: ['開通 1937 🌉.', 'It is old.'] });
    expect(ids).toEqual([['bridge'], ['bridge', null]]);
    expect(findings).toMatchObject([{ reason: 'source_not_given' }]);
  });

  it('reads the deltas of a stream', () => {
    const events = [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'It opened ' } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'in 1937.' } } },
      {
        contentBlockDelta: {
          contentBlockIndex: 0,
          delta: { citation: { title: 'Bridge', sourceContent: [{ text: 'It opened in 1937.' }] } },
        },
      },
    ] satisfies ConverseStreamOutput[];
    const { claims, sources: own } = read(events);
    expect(claims).toEqual(['It opened in 1937.']);
    expect(own).toEqual([{ id: 'Bridge', text: 'It opened in 1937.', title: 'Bridge' }]);
  });
});

describe('Mistral', () => {
  const wire = {
    ...{ id: '1', object: 'chat.completion', model: 'm', created: 1 },
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    choices: [
      {
        ...{ index: 0, finish_reason: 'stop' },
        message: {
          role: 'assistant',
          content: [
            { type: 'text', text: 'First 🌉. 橋 opened in 1937' },
            { type: 'reference', reference_ids: [0, 'bridge'] },
            { type: 'text', text: '. It is red.' },
          ],
        },
      },
    ],
  };

  it('reads a completion as the SDK decodes it, and as the wire has it', async () => {
    const client = new Mistral({ apiKey: 'k' });
    const { fetch } = globalThis;
    globalThis.fetch = async () =>
      new Response(JSON.stringify(wire), { headers: { 'content-type': 'application/json' } });
    const decoded = await client.chat
      .complete({ model: 'm', messages: [{ role: 'user', content: 'q' }] })
      .finally(() => Object.assign(globalThis, { fetch }));
    for (const answer of [decoded, wire]) {
      const { format, slices, ids } = read(answer, sources);
      expect({ format, slices, ids }).toEqual({ format: 'mistral', slices: ['橋 opened in 1937'], ids: [['bridge']] });
    }
  });
});

describe('the AI SDK', () => {
  const url = { type: 'source', sourceType: 'url', id: '1', url: 'https://a.example', title: 'A' } as const;

  it('reads a result of generateText, with markers and without', async () => {
    const generate = (text: string) =>
      generateText({
        prompt: 'q',
        model: new MockLanguageModelV4({
          doGenerate: {
            content: [{ type: 'text', text }, url],
            finishReason: { unified: 'stop', raw: 'stop' },
            usage: {
              inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 1, text: 1, reasoning: 0 },
            },
            warnings: [],
          },
        }),
      });
    const { text, content, sources: listed } = await generate('It opened in 1937 [1]. 🌉 It is red.');
    for (const answer of [{ text, sources: listed }, content]) {
      expect(read(answer)).toMatchObject({
        format: 'ai-sdk',
        claims: ['It opened in 1937'],
        ids: [['https://a.example']],
      });
    }
    const whole = await generate('It opened in 1937.');
    const { claims, findings } = read(whole.content);
    expect(claims).toEqual(['It opened in 1937.']);
    expect(findings).toMatchObject([{ reason: 'citation_without_place' }, { reason: 'source_without_text' }]);
  });

  it('reads the parts of a UI message, and citations with a place', () => {
    const text = '🌉 It opened in 1937.';
    const document = {
      type: 'source',
      sourceType: 'document',
      mediaType: 'text/plain',
      id: 'bridge',
      title: 'B',
    } as const;
    const message: UIMessage = {
      ...{ id: '1', role: 'assistant' },
      parts: [
        { type: 'text', text, citations: [{ source: document, startIndex: 3, endIndex: 21, citedText: 'in 1937' }] },
        { type: 'source-document', sourceId: 'bridge', mediaType: 'text/plain', title: 'B' },
      ],
    };
    const { slices, ids, findings } = read(message, sources);
    expect({ slices, ids, findings }).toEqual({ slices: ['It opened in 1937.'], ids: [['bridge']], findings: [] });
  });
});

describe('Perplexity', () => {
  it('reads a completion of the client, whose markers number its search results', async () => {
    const wire = {
      ...{
        id: '1',
        object: 'chat.completion',
        model: 'sonar',
        created: 1,
        citations: ['https://a.example', 'https://b.example'],
      },
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: '橋 opened in 1937[2]. 🌉 It is red[1][7].' },
        },
      ],
      search_results: [
        { title: 'A', url: 'https://a.example', snippet: 'It is red.' },
        { title: 'B', url: 'https://b.example', snippet: 'It opened in 1937.' },
      ],
    };
    const client = new Perplexity({
      apiKey: 'k',
      fetch: async () => new Response(JSON.stringify(wire), { headers: { 'content-type': 'application/json' } }),
    });
    const decoded = await client.chat.completions.create({
      model: 'sonar',
      messages: [{ role: 'user', content: 'q' }],
    });
    const { format, slices, ids } = read(decoded);
    expect({ format, slices }).toEqual({ format: 'perplexity', slices: ['橋 opened in 1937', '🌉 It is red'] });
    expect(ids).toEqual([['https://b.example'], ['https://a.example', null]]);
  });
});
