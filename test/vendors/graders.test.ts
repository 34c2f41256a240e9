/** OpenAI's client runs and validates grader objects, with nothing changed but its base URL and key. */
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endServers, KEY, startServers } from './served.ts';

let working = '';
let broken = '';

beforeAll(async () => {
  ({ working, broken } = await startServers());
});

afterAll(endServers);

const graders = (origin: string, apiKey = KEY) =>
  new OpenAI({ baseURL: `${origin}/compat/openai/v1`, apiKey, maxRetries: 0 }).fineTuning.alpha.graders;

const CHECK = {
  ...{ type: 'string_check', name: 'check', operation: 'like' },
  ...{ input: '{{ sample.output_text }}', reference: '{{ item.length }} km' },
} as const satisfies OpenAI.Graders.StringCheckGrader;

const SCORE = {
  ...{ type: 'score_model', name: 'score', model: 'gpt-5', range: [0, 10] },
  input: [{ role: 'user', content: 'Is it right? {{ sample.output_text }}' }],
} satisfies OpenAI.Graders.ScoreModelGrader;

const SAMPLE = { model_sample: 'It is 288 km long.', item: { length: 288 } };

it('runs a check, a model and a formula', async () => {
  const checked = await graders(working).run({ grader: CHECK, ...SAMPLE });
  expect(checked).toMatchObject({ reward: 1, metadata: { name: 'check', errors: { other_error: false } } });
  // The fake model gives 0.
  const scored = await graders(working).run({ grader: SCORE, ...SAMPLE });
  expect(scored).toMatchObject({ reward: 0, metadata: { type: 'score_model' } });
  const multi = { type: 'multi', name: 'm', graders: CHECK, calculate_output: '(1 + check) / 4' } as const;
  expect(await graders(working).run({ grader: multi, ...SAMPLE })).toMatchObject({ reward: 0.5 });
});

it('validates', async () => {
  expect(await graders(working).validate({ grader: SCORE })).toEqual({ grader: SCORE });
  const wrong = { type: 'multi', name: 'm', graders: CHECK, calculate_output: 'check +' } as const;
  await expect(graders(working).validate({ grader: wrong })).rejects.toMatchObject({
    ...{ status: 400, code: 'input_invalid', param: 'grader.calculate_output' },
  });
  const similar = {
    type: 'text_similarity',
    name: 't',
    input: 'a',
    reference: 'b',
    evaluation_metric: 'bleu',
  } as const;
  await expect(graders(working).validate({ grader: similar })).rejects.toMatchObject({ param: 'grader.type' });
});

it('throws where the judge is down, where the model is unknown and where the key is wrong', async () => {
  const down = { ...SCORE, model: 'down' };
  await expect(graders(broken).run({ grader: down, ...SAMPLE })).rejects.toMatchObject({
    ...{ status: 503, code: 'judge_unreachable', type: 'server_error' },
  });
  await expect(graders(broken).run({ grader: SCORE, ...SAMPLE })).rejects.toMatchObject({
    ...{ status: 400, param: 'grader.model' },
  });
  await expect(graders(working, 'other').run({ grader: CHECK, ...SAMPLE })).rejects.toMatchObject({ status: 401 });
});
