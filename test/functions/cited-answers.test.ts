import { describe, expect, it } from 'vitest';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { verifyResponseSchema } from '../../src/wire/verify.ts';
import { post, score, send } from './api.ts';

const DOCUMENT = 'Die Brücke 🌉 opened in 1937.';
const cited_answer = [
  { type: 'text', text: '橋🌉: ' },
  {
    type: 'text',
    text: 'It opened in 1937.',
    citations: [{ type: 'page_location', document_index: 0, document_title: 'B', cited_text: 'opened in 1937.' }],
  },
];
const scored = {
  cited_answer,
  question: 'When?',
  positive_rubrics: ['Names 1937.'],
  recipe: 'refiner-gpt54-instance-only',
  finish_reason: 'stop',
};
const sources = [{ id: 'bridge', text: DOCUMENT }];

describe('an answer as its vendor sent it', () => {
  it('is scored like the response that it becomes, with offsets into its own text', async () => {
    const { cited_answer: report, claims, reward, judgments } = await score({ ...scored, sources, offsets: 'utf8' });
    expect(report).toEqual({ format: 'anthropic', findings: [], finding_count: 0 });
    expect(claims).toMatchObject([{ span: { start: 9, end: 27 } }]);
    const response = '<answer>橋🌉: <snippet id="bridge">It opened in 1937.</snippet></answer>';
    const { cited_answer: _, ...others } = scored;
    const plain = await score({ ...others, response, sources });
    expect(reward).not.toBeNull();
    expect(plain.reward).toBe(reward);
    expect(plain.judgments.map(({ key }) => key)).toEqual(judgments.map(({ key }) => key));
  });

  it('is one sample of a group, whose sources it shares', async () => {
    const { cited_answer: _answer, finish_reason: _reason, ...shared } = scored;
    const responses = [{ cited_answer }, { cited_answer: 'It opened in 1937 [1].\n\nSources:\n1. https://a.example' }];
    const reply = await send(post('/v1/groups', { ...shared, sources, responses }));
    const { members } = groupResponseSchema.parse(await reply.json());
    expect(members.map((member) => member.cited_answer?.format)).toEqual(['anthropic', 'markdown']);
    expect(members[1]?.cited_answer?.findings).toMatchObject([{ reason: 'source_not_given' }]);
  });

  it('is verified in the unit that the request asks for', async () => {
    const reply = await send(post('/v1/verify?offsets=codepoints', { cited_answer, sources }));
    const { claims, answer } = verifyResponseSchema.parse(await reply.json());
    expect(claims[0]?.span).toEqual({ start: 4, end: 22 });
    expect(answer).toEqual({ start: 0, end: 22 });
  });

  it.each([
    ['/v1/verify', { cited_answer: { a: 1 } }, 'cited_answer', 'no known format'],
    ['/v1/verify', { cited_answer, response: 'a', sources }, 'response', 'give exactly one of response'],
    ['/v1/verify', { cited_answer, grammar: 'bracket' }, 'grammar', 'not with cited_answer'],
    ['/v1/verify', { response: 'a', sources, answer_format: 'openai' }, 'answer_format', 'only with cited_answer'],
    [
      '/v1/score',
      { ...scored, cited_answer: { output: 1 }, answer_format: 'openai' },
      'cited_answer',
      'expected a resp',
    ],
    [
      '/v1/groups',
      { question: 'q', recipe: 'refiner-gpt54-instance-only', sources, responses: [{ cited_answer: {} }] },
      'responses[0].cited_answer',
      'no known',
    ],
  ])('is refused by %s: %#', async (path, body, pointer, detail) => {
    const reply = await send(post(path, body));
    const text = await reply.text();
    expect(reply.status).toBe(422);
    expect(text).toContain(detail);
    expect(text).toContain(pointer);
  });
});
