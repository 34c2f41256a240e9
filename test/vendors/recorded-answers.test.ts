/**
 * Keeps `test/cases/vendor-answers.json` true to the vendors' packages: each recorded answer is built here from the
 * package's own type. After an update of a package, a type error or a difference names the answer to record again.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { RetrieveAndGenerateCommandOutput } from '@aws-sdk/client-bedrock-agent-runtime';
import type { ConverseOutput } from '@aws-sdk/client-bedrock-runtime';
import type { GroundingMetadata, Part } from '@google/genai';
import type { Mistral } from '@mistralai/mistralai';
import type Perplexity from '@perplexity-ai/perplexity_ai';
import type { Cohere } from 'cohere-ai';
import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import recorded from '../cases/vendor-answers.json' with { type: 'json' };

const TEXT = 'The bridge opened in 1937.';
const SOURCE = 'It opened in 1937.';
const URL = 'https://bridge.example/history';
const MARKER = `([bridge.example](${URL}))`;

const urlCitation = {
  title: 'Bridge',
  url: URL,
  start_index: TEXT.length + 1,
  end_index: TEXT.length + 1 + MARKER.length,
};

function outputText(text: string, ...annotations: OpenAI.Responses.ResponseOutputText['annotations']) {
  const item = {
    ...{ type: 'message', id: 'm', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text, annotations }],
  } satisfies OpenAI.Responses.ResponseOutputMessage;
  return { object: 'response', output: [item] } satisfies Partial<OpenAI.Responses.Response>;
}

function choice(message: Omit<OpenAI.ChatCompletionMessage, 'role' | 'refusal'>) {
  const full = { role: 'assistant', refusal: null, ...message } satisfies OpenAI.ChatCompletionMessage;
  return { object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: full }] };
}

const location = {
  type: 'char_location',
  ...{ cited_text: SOURCE, document_index: 0, document_title: 'Bridge', file_id: null },
  ...{ start_char_index: 0, end_char_index: SOURCE.length },
} satisfies Anthropic.CitationCharLocation;
const uncited = {
  type: 'text',
  text: `Here: <cite index="0-1">${TEXT}</cite>`,
  citations: null,
} satisfies Anthropic.TextBlock;

const grounding = {
  groundingChunks: [{ retrievedContext: { uri: 'gs://b/bridge.txt', title: 'Bridge', text: SOURCE } }],
  groundingSupports: [{ segment: { startIndex: 0, endIndex: TEXT.length, text: TEXT }, groundingChunkIndices: [0] }],
} satisfies GroundingMetadata;

const ANSWERS: Readonly<Record<string, unknown>> = {
  'anthropic, content without a message': [
    { type: 'text', text: TEXT, citations: [location] },
  ] satisfies Anthropic.TextBlock[],
  'anthropic, leaked tags': { type: 'message', role: 'assistant', content: [uncited] },
  'openai, Responses': outputText(`${TEXT} ${MARKER}`, { type: 'url_citation', ...urlCitation }),
  'openai, Chat Completions': choice({
    content: `${TEXT} ${MARKER}`,
    annotations: [{ type: 'url_citation', url_citation: urlCitation }],
  }),
  'gpt-oss, Responses': outputText(`${TEXT.slice(0, -1)}【4†L10-L12】.`),
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: TEXT } satisfies Part] }, groundingMetadata: grounding }],
  },
  'bedrock, Converse': {
    output: {
      message: {
        role: 'assistant',
        content: [
          {
            citationsContent: {
              content: [{ text: TEXT }],
              citations: [
                {
                  ...{ title: 'Bridge', sourceContent: [{ text: SOURCE }] },
                  location: { documentChar: { documentIndex: 0, start: 0, end: SOURCE.length } },
                },
              ],
            },
          },
        ],
      },
    } satisfies ConverseOutput,
  },
  'bedrock, RetrieveAndGenerate': {
    ...{ sessionId: 's', output: { text: `${TEXT} It is red.` } },
    citations: [
      {
        generatedResponsePart: { textResponsePart: { text: TEXT, span: { start: 0, end: TEXT.length - 1 } } },
        retrievedReferences: [
          { content: { text: SOURCE }, location: { type: 'S3', s3Location: { uri: 's3://b/bridge.txt' } } },
        ],
      },
    ],
  } satisfies Omit<RetrieveAndGenerateCommandOutput, '$metadata'>,
  'cohere, v1': {
    text: TEXT,
    citations: [{ start: 11, end: 25, text: 'opened in 1937', documentIds: ['doc_0'] }],
    documents: [{ id: 'doc_0', title: 'Bridge', snippet: SOURCE }],
  } satisfies Partial<Cohere.NonStreamedChatResponse>,
  'cohere, v2': {
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: TEXT }],
      citations: [
        {
          ...{ start: 11, end: 25, text: 'opened in 1937' },
          sources: [{ type: 'document', id: 'doc:0', document: { title: 'Bridge', text: SOURCE } }],
        },
      ],
    } satisfies Cohere.AssistantMessageResponse,
  },
  mistral: [
    { type: 'text', text: TEXT.slice(0, -1) },
    { type: 'reference', referenceIds: [3] },
    { type: 'text', text: '.' },
  ] satisfies Parameters<Mistral['chat']['complete']>[0]['messages'][number]['content'],
  perplexity: {
    choices: [{ message: { role: 'assistant', content: `<think>It may be 1936 [1].</think>${TEXT}[1]` } }],
    search_results: [{ title: 'Bridge', url: URL, snippet: SOURCE }] satisfies Perplexity.StreamChunk['search_results'],
  },
};

it('every recorded answer is what its package types', () => {
  const kept = Object.fromEntries(recorded.answers.map(({ name, answer }) => [name, answer]));
  // Azure's client types no context: that answer follows Azure's reference.
  const { 'azure, On Your Data': _, ...typed } = kept;
  expect(typed).toEqual(JSON.parse(JSON.stringify(ANSWERS)));
});
