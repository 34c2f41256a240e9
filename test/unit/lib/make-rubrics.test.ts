/** `makeRubrics` of the library: a model server that is real HTTP writes criteria, or fails with a reason. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { InputError, lexicalJudge, memoryStore, openAiCompatible } from '../../../lib/index.ts';
import { makeRubrics } from '../../../lib/rubrics.ts';

const WRITTEN = {
  positive: [
    { title: 'Length', description: 'States that the Aare is 288 km long.' },
    { title: 'Words', description: 'Has at least 90 words.' },
  ],
  negative: [{ title: 'Unit', description: 'Gives the length in miles only.' }],
};
let content: string;
let prompts: string[] = [];
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    prompts.push(await text(request));
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ model: 'model', choices }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the model has no port');
  baseUrl = `http://127.0.0.1:${address.port}/v1`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  prompts = [];
  content = JSON.stringify(WRITTEN);
});

const QUESTION = 'How long is the Aare?';
const INPUT = {
  question: QUESTION,
  responses: ['<think>200 km?</think><answer>It is 288 km long.</answer>', '<answer>Nobody knows.</answer>'],
  existing: { inactive: [{ polarity: 'positive', description: 'Names the source of the Aare' }] },
} as const;

const judge = () => openAiCompatible({ baseUrl, model: 'model' });

it('gives checked criteria, and asks once for equal inputs', async () => {
  const store = memoryStore();
  const made = await makeRubrics(INPUT, { judge: judge(), store });
  expect(made).toMatchObject({
    ok: true,
    value: {
      criteria: [
        { polarity: 'positive', title: 'Length', weight: 1 },
        { polarity: 'negative', title: 'Unit', weight: 1 },
      ],
      rejected: [{ title: 'Words', failed: 'about_length' }],
      judges: [{ kind: 'rubrics', model: 'model' }],
    },
  });
  const again = await makeRubrics(INPUT, { judge: judge(), store, judgments: 'only' });
  if (!made.ok || !again.ok) throw new Error('there is no generation');
  expect(again.value).toEqual({ ...made.value, judges: [{ ...made.value.judges[0], cached: 1 }] });
  expect(prompts).toHaveLength(1);
  expect(prompts[0]).toContain('Names the source of the Aare');
  expect(prompts[0]).not.toContain('200 km?');
  await makeRubrics(INPUT, { judge: judge(), store, replicate: 1 });
  expect(prompts).toHaveLength(2);
});

it('a failure has its reason, and is never an empty list', async () => {
  content = 'no criteria';
  const bad = await makeRubrics(INPUT, { judge: judge(), deadlineMs: 2_000 });
  expect(bad).toMatchObject({ ok: false, error: { reason: 'judge_reply_invalid' } });
  const missing = await makeRubrics(INPUT, { judge: judge(), judgments: 'only' });
  expect(missing).toMatchObject({ ok: false, error: { reason: 'judgment_missing' } });
  const lexical = await makeRubrics(INPUT, { judge: lexicalJudge });
  expect(lexical).toMatchObject({ ok: false, error: { reason: 'judge_request_refused' } });
});

it('names the field of wrong input', async () => {
  const wrong = makeRubrics({ question: '', most: { positive: 0, negative: 0 } }, { judge: judge() });
  await expect(wrong).rejects.toThrow(InputError);
  await expect(wrong).rejects.toThrow(/question: .*most: expected at least one criterion/u);
  await expect(
    makeRubrics({ question: QUESTION, responses: ['a'] }, { judge: judge(), deadlineMs: 0 }),
  ).rejects.toThrow('makeRubrics: deadlineMs');
  expect(prompts).toEqual([]);
});
