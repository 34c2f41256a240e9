/**
 * Requests whose references and options multiply a text: each ends with a 4xx or with a reply of bounded size, soon.
 * The factors are those that a body of a few megabytes allows.
 */
import { describe, expect, it } from 'vitest';
import { post, ROLLOUT, send } from '../functions/api.ts';

const RUN = '/compat/openai/v1/fine_tuning/alpha/graders/run';
const LONG = 'word '.repeat(180_000);
const MAX_REPLY_CHARS = 8_000_000;
const MAX_MS = 20_000;

const often = (text: string, times: number): string => text.repeat(times);
const OUTPUT = '{{ sample.output_text }}';
const user = (content: string) => ({ role: 'user', content });
const model = (fields: object) => ({ name: 'g', model: 'lexical', ...fields });
const check = (fields: object) => ({
  type: 'string_check',
  name: 'g',
  operation: 'eq',
  input: 'a',
  reference: 'b',
  ...fields,
});

const GRADERS = [
  check({ input: often(OUTPUT, 10_000) }),
  check({ reference: often(OUTPUT, 10_000) }),
  check({ operation: 'ilike', input: often('{{ item }}', 10_000) }),
  check({ input: often('{{ sample.output_json }}', 10_000) }),
  model({ type: 'score_model', input: Array.from({ length: 64 }, () => user(often(OUTPUT, 100))) }),
  model({ type: 'label_model', input: [user(often(OUTPUT, 10_000))], labels: ['a', 'b'], passing_labels: ['a'] }),
  {
    ...{ type: 'multi', name: 'm', calculate_output: 'g0' },
    graders: Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`g${n}`, check({ input: OUTPUT })])),
  },
];

async function outcome(path: string, body: unknown) {
  const start = performance.now();
  const reply = await send(post(path, body));
  const { length } = await reply.text();
  expect(length).toBeLessThan(MAX_REPLY_CHARS);
  expect(performance.now() - start).toBeLessThan(MAX_MS);
  return reply.status;
}

describe('templates of graders', () => {
  it.each(GRADERS)('are refused when they would be long: %#', async (grader) => {
    const json = JSON.stringify({ text: LONG });
    for (const model_sample of [LONG, json]) {
      expect(await outcome(RUN, { grader, model_sample, item: { text: LONG } })).toBe(400);
    }
  });
});

const criteria = (count: number) => Array.from({ length: count }, (_, n) => `Criterion ${n}: says something`);

describe('options that repeat a text in prompts', () => {
  it('per criterion, for a long answer and long sources', async () => {
    const rubrics = { positive_rubrics: criteria(100), negative_rubrics: criteria(100) };
    const answer = `<answer><snippet id=S1>The Aare is long.</snippet> ${LONG}</answer>`;
    const sources = [{ id: 'S1', text: LONG }];
    const recipe = { base: 'refiner-gpt54-instance-rubric', judging: 'per_criterion' };
    const body = { question: ROLLOUT.question, sources, response: answer, ...rubrics, recipe };
    expect(await outcome('/v1/score', body)).toBe(200);
  });

  it('in comparisons of pairs', async () => {
    const responses = Array.from({ length: 16 }, (_, n) => `<answer>${n} ${LONG.slice(0, 400_000)}</answer>`);
    const body = { question: ROLLOUT.question, sources: [{ id: 'S1', text: LONG }], responses };
    expect(await outcome('/v1/compare', body)).toBe(200);
  });

  it('in the ids of claims', async () => {
    const ids = Array.from({ length: 256 }, (_, n) => `S${n}`);
    const claim = `<snippet id="${ids.join(',')}">The Aare is long.</snippet>`;
    const sources = ids.map((id) => ({ id, title: 't'.repeat(8_000), text: 'The Aare is long.' }));
    const body = { response: `<answer>${claim.repeat(2_000)}</answer>`, sources };
    expect(await outcome('/v1/verify?evidence=lexical', body)).toBe(422);
  });

  it('in the pairs of sentences and sources', async () => {
    const groundingSources = Array.from({ length: 5_000 }, (_, n) => `Dam ${n}`);
    const text = Array.from({ length: 2_000 }, (_, n) => `Dam ${n} is high.`).join(' ');
    const path = '/compat/azure/contentsafety/text:detectGroundedness?api-version=2024-09-15-preview';
    expect(await outcome(path, { text, groundingSources })).toBe(400);
  });

  it('in a long claim and its sources', async () => {
    const sources = Array.from({ length: 200 }, (_, n) => ({ id: `S${n}`, text: 'The dam is not old.' }));
    const claim = `<snippet id="${sources.map(({ id }) => id).join(',')}">${'dam not '.repeat(120_000)}</snippet>`;
    const body = { response: `<answer>${claim}</answer>`, sources };
    expect(await outcome('/v1/verify?evidence=lexical', body)).toBe(422);
  });

  it('in the canned answers of a probe', async () => {
    const dam = (n: number) => `Dam ${n} is high.`;
    const many = Array.from({ length: 2_000 }, (_, n) => dam(n));
    const row = { question: 'How high is the dam?', positive_rubrics: criteria(100), reference: many.join(' ') };
    const sources = many.map((text, n) => ({ id: `S${n}`, text }));
    const recipe = 'refiner-rl-balanced';
    expect(await outcome('/v1/recipes/probe', { recipe, rows: [{ ...row, sources }] })).toBe(422);
    expect(await outcome('/v1/recipes/probe', { recipe, rows: [{ ...row, reference: LONG, sources }] })).toBe(200);
    const few = sources.slice(0, 200);
    const rows = Array.from({ length: 16 }, () => ({ ...row, reference: many.slice(0, 50).join(' '), sources: few }));
    expect(await outcome('/v1/recipes/probe', { recipe, rows })).toBe(200);
  });
});
