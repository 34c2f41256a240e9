/** Grader objects as recipes: the reward is that of the formula, and what no recipe can express is refused by name. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createScorer, lexicalJudge } from '../../../lib/index.ts';
import { rolloutOf } from '../../../src/family/rollout-schema.ts';
import { pathText } from '../../../src/input-problem.ts';
import {
  convertGrader,
  type GraderSample,
  rowOfSample,
  templateText,
} from '../../../src/wire/compat/graders/convert.ts';
import { prepareGrader } from '../../../src/wire/compat/graders/prepare.ts';
import { type Grader, graderValidateSchema } from '../../../src/wire/compat/graders/schema.ts';
import { readTemplate } from '../../../src/wire/compat/graders/template.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { resolved } from '../scoring/scoring-line.ts';

const QUESTION = [{ text: 'How long is the Aare?' }];
const TEXT = '{{ sample.output_text }}';
const check = (name: string, operation = 'eq', fields: object = {}) => ({
  ...{ type: 'string_check', name, operation, input: TEXT, reference: `{{ item.${name} }}` },
  ...fields,
});
const scoring = (name: string, fields: object = {}) => ({
  ...{ type: 'score_model', name, model: 'judge' },
  input: [{ role: 'user', content: `Grade ${name} of ${TEXT} from the item {{ item.${name} }}.` }],
  ...fields,
});
const labelling = (name: string) => ({
  ...scoring(name),
  ...{ type: 'label_model', labels: ['good', 'bad'], passing_labels: ['good'] },
});
const multi = (calculate_output: string, ...graders: readonly { readonly name: string }[]) => ({
  ...{ type: 'multi', name: 'all', calculate_output },
  graders: Object.fromEntries(graders.map((one) => [one.name, one])),
});

function prepared(grader: unknown) {
  const parsed: Grader = graderValidateSchema.parse({ grader }).grader;
  const read = prepareGrader(parsed);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return convertGrader(read.value);
}

function converted(grader: unknown) {
  const read = prepared(grader);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

const refusals = (grader: unknown): string[] => {
  const read = prepared(grader);
  return read.ok ? [] : read.error.map(({ path, message }) => `${pathText(path)}: ${message}`);
};

/** The reward of the converted row where a judge gives each criterion 0, 1 or 2 by its title. */
async function rewardOf(grader: unknown, verdicts: Readonly<Record<string, 0 | 1 | 2>>): Promise<number | null> {
  const item = Object.fromEntries(Object.keys(verdicts).map((name) => [name, name]));
  const row = rowOfSample(converted(grader), { item, model_sample: 'It is 288 km long.' }, QUESTION);
  if (!row.ok) throw new Error(JSON.stringify(row.error));
  const request = scoreRequestSchema.parse(row.value);
  const { messages: _messages, trajectory: _trajectory, ...rollout } = rolloutOf(request);
  const judge: typeof lexicalJudge = {
    ...lexicalJudge,
    unsupported: () => [],
    async judge(asked) {
      if (asked.kind !== 'rubric') throw new Error(`nobody should be asked about ${asked.kind}`);
      const criteria = asked.criteria.map(({ title = '' }, n) => ({ key: `c${n + 1}`, score: verdicts[title] ?? 0 }));
      return { ok: true, verdicts: { kind: 'rubric', criteria }, usage: null };
    },
  };
  const { recipe } = await resolved(request.recipe);
  const { reward } = await createScorer({ judge }).score(rollout, recipe);
  return reward;
}

describe('the reward is that of the formula', () => {
  const levels = [0, 2] as const;

  it.each([
    ['0.5 * a + 0.25 * b + c / 4', (a: number, b: number, c: number) => 0.5 * a + 0.25 * b + c / 4],
    ['a + 2 * (b - (b - c))', (a: number, _b: number, c: number) => a + 2 * c],
    ['2 - a - b', (a: number, b: number) => 2 - a - b],
    ['a + max(1, 3) * (1 - c)', (a: number, _b: number, c: number) => a + 3 * (1 - c)],
  ])('%s', async (formula, expected) => {
    const grader = multi(formula, check('a'), labelling('b'), check('c', 'ilike'));
    for (const a of levels) {
      for (const b of levels)
        for (const c of levels)
          expect(await rewardOf(grader, { a, b, c })).toBeCloseTo(expected(a / 2, b / 2, c / 2), 12);
    }
  });

  it('of one grader: ne is the opposite of eq, and a range is the scale', async () => {
    expect(await rewardOf(check('a', 'ne'), { a: 2 })).toBe(0);
    expect(await rewardOf(check('a', 'ne'), { a: 0 })).toBe(1);
    expect(await rewardOf(scoring('a', { range: [0, 10] }), { a: 1 })).toBe(5);
  });

  it('where the formula makes up for the lower ends of ranges', async () => {
    const grader = multi('(a - 1) / 4', scoring('a', { range: [1, 5] }));
    expect(await rewardOf(grader, { a: 2 })).toBe(1);
    expect(await rewardOf(grader, { a: 1 })).toBe(0.5);
  });
});

describe('a criterion', () => {
  it('has the instructions of its grader, with the item filled in and the answer left to the judge', () => {
    const { criteria, model, recipe } = converted(multi('a + b', labelling('a'), check('b', 'like')));
    expect(model).toBe('judge');
    expect(recipe).toMatchObject({ template: 'healthbench-1', citation_weight: 0 });
    expect(criteria.map(({ parts }) => templateText(parts))).toEqual([
      'By these instructions, of the labels good, bad the answer gets good:\n\nGrade a of (the answer) from the item {{ item.a }}.',
      'The answer contains this text, in the same case: {{ item.b }}',
    ]);
  });

  it('needs the values of its item', () => {
    const sample: GraderSample = { item: {}, model_sample: 'x' };
    expect(rowOfSample(converted(check('a')), sample, QUESTION)).toMatchObject({
      error: [{ path: ['item'], message: 'a placeholder names a value that it lacks: item.a' }],
    });
  });
});

describe('refused by name', () => {
  it.each([
    ['min(a, b)', 'grader.calculate_output: min() of graders is no weighted sum of them'],
    ['a * b', 'grader.calculate_output: a product of graders is no weighted sum of them'],
    ['a ^ 2', 'grader.calculate_output: a power of graders is no weighted sum of them'],
    ['1 / a', 'grader.calculate_output: a division by a grader is no weighted sum'],
    ['a / 0', 'grader.calculate_output: it divides by 0'],
    ['a - b', 'grader.calculate_output: the reward would begin at -1 instead of 0, and a recipe adds no constant'],
    ['0 * a', 'grader.calculate_output: expected weights of up to 1000000 together, above 0'],
  ])('the formula %s', (formula, message) => {
    expect(refusals(multi(formula, check('a'), check('b')))).toEqual([message]);
  });

  it.each([
    [
      scoring('a', { range: [1, 5] }),
      'grader.range: the reward would begin at 1 instead of 0, and a recipe adds no constant',
    ],
    [
      scoring('a', { input: [{ role: 'assistant', content: 'x' }] }),
      'grader.input[0].role: assistant is not supported: a criterion is one text of the task',
    ],
    [
      scoring('a', { input: [{ role: 'user', content: '{{ sample.output_json.x }}' }] }),
      'grader.input[0].content: only {{ sample.output_text }} can be used of sample',
    ],
    [
      scoring('a', { sampling_params: { seed: 3 } }),
      'grader.sampling_params.seed: no recipe has a seed: leave it out, and score with replicate',
    ],
    [
      check('a', 'like', { input: '{{ item.a }}', reference: TEXT }),
      'grader.input: expected {{ sample.output_text }}: a criterion is about the whole answer',
    ],
    [
      multi('a + b', scoring('a'), scoring('b', { model: 'other' })),
      'grader.graders.b.model: expected the model of the other graders: a recipe has one judge',
    ],
  ])('%j', (grader, message) => {
    expect(refusals(grader)).toContain(message);
  });
});

it('the example can be converted as the page says', () => {
  const file = (name: string) => readFileSync(resolve(import.meta.dirname, '../../../examples/graders', name), 'utf8');
  const grader = converted(JSON.parse(file('grader.json')));
  const question = readTemplate('{{ item.question }}');
  if (!question.ok) throw new Error(question.error);
  const rows = file('samples.jsonl').trimEnd().split('\n');
  for (const line of rows) {
    const { id: _id, ...sample }: GraderSample & { readonly id: string } = JSON.parse(line);
    const row = rowOfSample(grader, sample, question.value);
    expect(row.ok && scoreRequestSchema.safeParse(row.value).success).toBe(true);
  }
  expect(grader.recipe['verification_reward']).toBe(1);
});
