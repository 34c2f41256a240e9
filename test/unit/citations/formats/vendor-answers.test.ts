/** Reads one recorded answer of each vendor's shape, and what must never pass for an answer without citations. */
import { describe, expect, it } from 'vitest';
import { readCitedAnswer } from '../../../../src/citations/formats/read-answer.ts';
import { verifyRequested, verifyRequestSchema } from '../../../../src/wire/verify.ts';
import recorded from '../../../cases/vendor-answers.json' with { type: 'json' };

function read(cited_answer: unknown, sources?: readonly { readonly id: string; readonly text: string }[]) {
  const result = verifyRequested(verifyRequestSchema.parse({ cited_answer, ...(sources && { sources }) }), 'lexical');
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  const { claims, cited_answer: report, findings } = result.value;
  return {
    format: report?.format,
    claims: claims.map(({ text }) => text),
    ids: claims.map(({ ids }) => ids.map(({ id, source }) => (source === null ? null : id))),
    findings: report?.findings.map(({ reason }) => reason),
    invented: findings.filter(({ reason }) => reason === 'citation_id_unknown').length,
  };
}

function refusal(cited_answer: unknown): string {
  const result = readCitedAnswer(cited_answer, undefined, null);
  return result.ok ? '' : result.error.map(({ message }) => message).join();
}

describe('recorded answers', () => {
  it.each(recorded.answers.map((one) => [one.name, one] as const))('%s', (_, { answer, sources, ...expected }) => {
    const { format, claims, ids, findings } = read(answer, sources);
    const { name: _name, ...rest } = expected;
    expect({ format, claims, ids, findings }).toEqual(rest);
  });
});

describe('anthropic', () => {
  const plain = [
    { type: 'text', text: 'Sales were 500 in May.', citations: null },
    { type: 'text', text: ' They grew.' },
  ];

  it('reads blocks without citations like their message', () => {
    expect(read(plain)).toEqual(read({ type: 'message', content: plain }));
    expect(read(plain).format).toBe('anthropic');
  });

  it('reads several indexes of a leaked tag, and names a tag that it cannot read', () => {
    const sources = ['a', 'b'].map((id) => ({ id, text: 'Sales were 500.' }));
    const text = (inner: string) => [{ type: 'text', text: inner, citations: null }];
    expect(read(text('<cite index="0-1,1-2:3">Sales were 500.</cite> More.'), sources).ids).toEqual([['a', 'b']]);
    expect(read(text('<cite index="7-1">Sales were 500.</cite>'), sources)).toMatchObject({ invented: 1 });
    expect(read(text('<cite index="x">Sales were 500.</cite>'), sources).findings).toEqual(['citation_unread']);
    expect(read(text('<cite index="0-1">Sales were 500.'), sources).findings).toEqual(['citation_unread']);
    expect(read(text(`<cite index='0-1, 1-2'>Sales were 500.</cite> More.`), sources).ids).toEqual([['a', 'b']]);
    const tag = 'antml:cite';
    expect(read(text(`<${tag} index="1-1">Sales were 500.</${tag}>`), sources).ids).toEqual([['b']]);
  });
});

describe('markup that a vendor leaks', () => {
  const sources = [{ id: 'a', text: 'Sales were 500.' }];

  it.each([
    '[cite_start]Sales were 500. [cite: 1, 2]',
    '<co: 0>Sales were 500.</co: 0>',
    'Sales were 500.【turn0search0】',
    'Sales were 500.【oaicite:0】 :contentReference[oaicite:0]{index=0}',
    'Sales were 500.[^1^]',
    'Sales were 500.<grok:render card_id="1">0</grok:render>',
    'Sales were 500##0$$.',
    'Sales were 500 <|file-abc123|>.',
    'Sales were 500 [citation:1].',
    'Sales were 500 <source_id>1</source_id>.',
    'Sales were 500 citeturn0search0.',
    'Sales were 500 filecite turn0file0.',
    'Sales were 500 [ID:0].',
    'Sales were 500 [1:0†source].',
    'Sales were 500.</parameter></invoke>',
    'Sales were 500.</tool_call>',
  ])('is read, or a finding, in each format: %s', (text) => {
    const message = { role: 'assistant', content: text };
    const answers = [text, [{ type: 'text', text }], { choices: [{ message }], citations: ['https://a.example'] }];
    for (const answer of answers) {
      const { claims, findings } = read(answer, sources);
      expect([...claims, ...(findings ?? [])], JSON.stringify(answer)).not.toEqual([]);
    }
  });

  it.each([
    'Sales [of 2024] were 500 【note】.',
    'See "Sales" <b>now</b> and x^2^.',
    'Sales of Acme & Co.',
    'It costs $$ 5.',
    'A ## heading.',
  ])('is none: %s', (text) => {
    expect(read(text, sources).findings).toEqual([]);
  });
});

describe('what people send instead of the answer', () => {
  const message = { type: 'message', content: [{ type: 'text', text: 'Sales were 500.' }] };
  const json = JSON.stringify(message);

  it.each([`\ufeff${json}`, `\`\`\`json\n${json}\n\`\`\``, `  ${json}\n`])('is read: %s', (text) => {
    expect(read(text)).toEqual(read(message));
  });

  it('is read: a recorded stream of events', () => {
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } };
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Sales were 500.' } };
    const lines = [start, delta].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    expect(read(lines.join(''))).toEqual(read([start, delta]));
  });

  it.each<[string, unknown]>([
    ['JSON that is cut off', json.slice(0, -5)],
    ['chunks of a chat', 'data: {"choices":[{"delta":{"content":"Sales"}}]}\n\ndata: [DONE]\n'],
    ['a nested list', { content: 'Sales were 500.', additional_kwargs: { citations: [{ start: 0, end: 5 }] } }],
    [
      'chunks beside the text',
      { choices: [{ message: { content: 'Sales [ID:0].', reference: { chunks: [{ id: 'a' }] } } }] },
    ],
    [
      'messages of a tool',
      { choices: [{ message: { content: 'Sales [doc1].', context: { messages: [{ content: '{}' }] } } }] },
    ],
  ])('is refused: %s', (_, answer) => {
    expect(readCitedAnswer(answer, undefined, null).ok).toBe(false);
  });

  it.each([
    '```json\n{"a": 1}\n```\nor\n```json\n{"a": 2}\n```',
    '{"sales": 500} is what it says.',
    '{braces} are text.',
    '[1] is text.',
    'data: none',
    'event: a concert',
  ])('stays a text: %s', (text) => {
    expect(read(text).format).toBe('markdown');
  });
});

it('reads the text of a JSON answer as the answer', () => {
  const answer = { type: 'message', content: [{ type: 'text', text: 'Sales were 500.' }] };
  expect(read(JSON.stringify(answer))).toEqual(read(answer));
  expect(read('[1] is a number.').format).toBe('markdown');
  expect(read('{"sales": 500}').format).toBe('markdown');
});

it('refuses blocks with citations of another kind, which would lose them', () => {
  const annotations = [{ type: 'citation', url: 'https://a.example', cited_text: 'Sales were 500.' }];
  expect(refusal([{ type: 'text', text: 'Sales were 500.', annotations }])).toContain('no known format');
  const web_search = [{ refer: 'ref_1', link: 'https://a.example' }];
  expect(refusal({ choices: [{ message: { content: 'Sales were 500[ref_1].' } }], web_search })).toContain(
    'web_search',
  );
});

it('finds the source of a file citation by its name', () => {
  const annotations = [{ type: 'file_citation', index: 15, file_id: 'file-1', filename: 'sales.txt' }];
  const item = { type: 'message', content: [{ type: 'output_text', text: 'Sales were 500.', annotations }] };
  expect(read([item], [{ id: 'sales.txt', text: 'Sales were 500.' }]).ids).toEqual([['sales.txt']]);
});

describe('gemini', () => {
  const answer = (text: string, segment: object, chunks: readonly object[]) => ({
    candidates: [
      {
        content: { parts: [{ text }] },
        groundingMetadata: { groundingChunks: chunks, groundingSupports: [{ segment, groundingChunkIndices: [0] }] },
      },
    ],
  });
  const chunk = { retrievedContext: { uri: 'gs://b/elbe', text: 'The Elbe is 1,094 km long.' } };

  it('a stretch without a letter or digit is no claim', () => {
    const text = 'The **Elbe** is 1,094 km long.';
    const { claims, findings } = read(answer(text, { startIndex: 4, endIndex: 6, text: '**' }, [chunk]));
    expect({ claims, findings }).toEqual({ claims: [], findings: ['claim_not_found'] });
    expect(read(answer(text, { startIndex: 4, endIndex: 10, text: '**Elbe' }, [chunk])).claims).toHaveLength(1);
  });

  it('a chunk that is missing is an invented source', () => {
    const text = 'The Elbe is 1,094 km long.';
    const { claims, ids, findings, invented } = read(answer(text, { endIndex: text.length, text }, []));
    expect({ claims, ids, findings, invented }).toEqual({
      claims: [text],
      ids: [[null]],
      findings: ['source_not_given'],
      invented: 1,
    });
  });

  it('names chunks that no stretch cites, as a search without supports has', () => {
    const of = (chunks: readonly object[]) => ({
      candidates: [{ content: { parts: [{ text: 'Long.' }] }, groundingMetadata: { groundingChunks: chunks } }],
    });
    expect(read(of([chunk])).findings).toEqual(['citation_without_place']);
    expect(read(of([])).findings).toEqual([]);
  });

  it('reads citationMetadata', () => {
    const text = 'The Elbe is 1,094 km long.';
    const citationMetadata = { citationSources: [{ startIndex: 0, endIndex: text.length, uri: 'https://e.example' }] };
    expect(read({ candidates: [{ content: { parts: [{ text }] }, citationMetadata }] })).toMatchObject({
      claims: [text],
      ids: [['https://e.example']],
    });
  });
});

describe('cohere v1', () => {
  const text = 'The dam opened in 1962.';
  const citations = [{ start: 8, end: 22, text: 'opened in 1962', document_ids: ['d1', 'd9'] }];
  const documents = [{ id: 'd1', title: 'Dam', snippet: 'It opened in 1962.' }];

  it('an id without a document is an invented source', () => {
    expect(read({ text, citations, documents })).toMatchObject({
      format: 'cohere',
      claims: ['opened in 1962'],
      ids: [['d1', null]],
      findings: ['source_not_given'],
    });
  });

  it('reads the events of a stream', () => {
    const events = [
      { event_type: 'text-generation', text: 'The dam' },
      { event_type: 'stream-end', response: { text, citations, documents } },
    ];
    expect(read(events).ids).toEqual([['d1', null]]);
  });
});

describe('bedrock', () => {
  const part = (text: string, end: number) => ({ textResponsePart: { text, span: { start: 0, end } } });
  const text = 'The dam opened in 1962. It is grey.';

  it('a part without references is uncited, and the other end of a span is a finding', () => {
    const uncited = { generatedResponsePart: part(text, text.length - 1), retrievedReferences: [] };
    expect(read({ output: { text }, citations: [uncited] }).claims).toEqual([]);
    const reference = {
      content: { text: 'It opened in 1962.' },
      location: { type: 'WEB', webLocation: { url: 'https://d.example' } },
    };
    const cited = { generatedResponsePart: part('The dam opened in 1962.', 23), retrievedReferences: [reference] };
    expect(read({ output: { text }, citations: [cited] })).toMatchObject({
      ids: [['https://d.example']],
      findings: ['offset_reading'],
    });
  });

  it('reads the events of RetrieveAndGenerateStream', () => {
    const reference = {
      content: { text: 'It opened in 1962.' },
      location: { type: 'S3', s3Location: { uri: 's3://d' } },
    };
    const citation = { generatedResponsePart: part('The dam opened in 1962.', 22), retrievedReferences: [reference] };
    expect(
      read([{ output: { text: text.slice(0, 10) } }, { output: { text: text.slice(10) } }, { citation }]),
    ).toMatchObject({ format: 'bedrock', claims: ['The dam opened in 1962.'], ids: [['s3://d']] });
  });
});

describe('chat completions', () => {
  const chat = (message: object, more: object = {}) => ({
    choices: [{ message: { role: 'assistant', ...message } }],
    ...more,
  });

  it('reads a message alone like its completion', () => {
    const content = 'The dam opened in 1962 ([d](https://d.example/a)).';
    const url_citation = { url: 'https://d.example/a', title: 'D', start_index: 23, end_index: 49 };
    const message = { content, annotations: [{ type: 'url_citation', url_citation }] };
    expect(read(message)).toEqual(read(chat(message)));
    expect(read(message)).toMatchObject({ format: 'openai', ids: [['https://d.example/a']] });
  });

  it('thinking is no part of the answer', () => {
    const content = 'I think it was 1961 [1].</think>\n\nThe dam opened in 1962.';
    expect(read(chat({ content: `<think>${content}` }))).toMatchObject({ format: 'markdown', claims: [], invented: 0 });
    expect(read(chat({ content }))).toMatchObject({ claims: [], invented: 0 });
  });

  it.each([
    ['gpt-oss', 'The dam opened in 1962【3†L1-L4】. It is grey.', 1],
    ['an assistant', 'The dam opened in 1962【3:0†source】. It is grey.', 1],
    ['ChatGPT', 'The dam opened in 1962 \ue200cite\ue202turn0search0\ue202turn1view2\ue201. It is grey.', 2],
    ['a note without a reference', 'The dam opened in 1962 [9]. It is grey.', 1],
  ])('a marker of %s that nothing names is an invented source', (_, content, count) => {
    expect(read(chat({ content }))).toMatchObject({ claims: ['The dam opened in 1962'], invented: count });
  });

  it('brackets without a source stay text', () => {
    expect(read(chat({ content: 'The dam【grey】opened in 1962.' }))).toMatchObject({ claims: [], invented: 0 });
  });

  it('a marker that the request has a source for cites it', () => {
    const sources = [{ id: '3', text: 'The dam opened in 1962.' }];
    expect(read(chat({ content: 'The dam opened in 1962【3†L1】.' }), sources)).toMatchObject({
      ids: [['3']],
      findings: [],
    });
  });

  it('reads the search results of a response that has markers', () => {
    const results = [{ url: 'https://d.example', title: 'D', snippet: 'It opened in 1962.' }];
    const text = { type: 'output_text', text: 'The dam opened in 1962 [1]. It is grey [2].', annotations: [] };
    const output = [
      { type: 'search_results', results },
      { type: 'message', content: [text] },
    ];
    expect(read({ object: 'response', output })).toMatchObject({
      claims: ['The dam opened in 1962', 'It is grey'],
      ids: [['https://d.example'], [null]],
    });
  });
});

describe('an answer with citations that no format reads', () => {
  it.each([
    ['citations', { text: 'The dam opened in 1962.', citations: [{ from: 0, to: 4, ref: 1 }] }],
    ['my_sources', { content: 'The dam opened in 1962 [1].', my_sources: [{ link: 'https://d.example' }] }],
  ])('in %s is refused by name', (member, answer) => {
    expect(refusal(answer)).toContain(`"${member}"`);
  });

  it('is refused inside a chat completion too', () => {
    const message = { content: 'The dam opened in 1962.', provider_specific_fields: { citations: [[{ type: 'x' }]] } };
    expect(refusal({ choices: [{ message }] })).toContain('no known format');
  });

  it('has a finding if it is read as Markdown all the same', () => {
    const answer = { text: 'The dam opened in 1962.', citations: [{ from: 0 }] };
    const result = readCitedAnswer(answer, 'markdown', null);
    expect(result).toMatchObject({
      ok: true,
      value: { findings: [{ reason: 'citation_unread', path: ['citations'] }] },
    });
  });

  it('empty lists are no citations', () => {
    expect(read({ text: 'The dam opened in 1962.', citations: [] })).toMatchObject({ format: 'markdown' });
  });
});
