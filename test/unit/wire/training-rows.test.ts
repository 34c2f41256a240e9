/** Rows of trainers' data sets as rows of Citeward: the round trip, edits, and what is refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InputProblem, pathText } from '../../../src/input-problem.ts';
import type { Result } from '../../../src/result.ts';
import { citewardRowOf, type Trainer, trainingRowOf } from '../../../src/wire/training-rows.ts';

type Fields = Readonly<Record<string, unknown>>;

function done(result: Result<Fields, readonly InputProblem[]>): Fields {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const refusals = (result: Result<Fields, readonly InputProblem[]>): string[] =>
  result.ok ? [] : result.error.map(({ path, message }) => `${pathText(path)}: ${message}`);

const object = (row: Fields): Fields =>
  JSON.parse(String(Array.isArray(row['ground_truth']) ? row['ground_truth'][0] : row['ground_truth']));

/** A row of the data set of a trainer, with any spelling that it reads and keys that nobody knows. */
const trainingRows = (label: string): fc.Arbitrary<Fields> => {
  const entry = fc
    .tuple(
      fc.constantFrom('description', 'rubric_item', 'Ingredient', 'other'),
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.record(
        { weight: fc.constantFrom(-2, -1, 0, 0.5, 1), title: fc.string(), note: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    )
    .map(([name, text, more]) => ({ ...more, [name]: text }));
  return fc
    .record({
      questionKey: fc.constantFrom('query', 'Question'),
      question: fc.string({ minLength: 1 }),
      entries: fc.array(fc.tuple(entry, fc.constantFrom('persistent', label)), { maxLength: 6 }),
      hasTypes: fc.boolean(),
      more: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue()),
      others: fc.option(fc.array(fc.jsonValue(), { maxLength: 2 })),
      columns: fc.dictionary(
        fc.constantFrom('id', 'dataset', 'messages', 'note', 'question', 'rubrics'),
        fc.jsonValue(),
      ),
      indent: fc.constantFrom(0, 1),
    })
    .map(({ questionKey, question, entries, hasTypes, more, others, columns, indent }) => {
      const types = hasTypes ? { rubrics_types: entries.map(([, type]) => type) } : {};
      const fields = { ...more, [questionKey]: question, rubrics: entries.map(([one]) => one), ...types };
      const text = JSON.stringify(fields, null, indent);
      return { ...columns, ground_truth: others === null ? text : [text, ...others] };
    });
};

describe.each([
  ['open-instruct', 'evolving'],
  ['dr-tulu', 'adaptive'],
] as const)('%s', (trainer, label) => {
  it('a row that nobody edited is the row that it was, also through JSON', () => {
    fc.assert(
      fc.property(trainingRows(label), (row) => {
        const converted: Fields = JSON.parse(JSON.stringify(done(citewardRowOf(row))));
        expect(done(trainingRowOf(converted, trainer))).toEqual(JSON.parse(JSON.stringify(row)));
        expect(done(trainingRowOf(row, trainer))).toEqual(row);
      }),
    );
  });

  it('rows without training_row give a new column, whose criteria are the same', () => {
    fc.assert(
      fc.property(trainingRows(label), (row) => {
        const { training_row: _, ...own } = done(citewardRowOf(row));
        const { training_row: __, ...again } = done(citewardRowOf(done(trainingRowOf(own, trainer))));
        expect(again).toEqual(own);
      }),
    );
  });

  it('the label of the other trainer becomes its own', () => {
    const other: Trainer = trainer === 'dr-tulu' ? 'open-instruct' : 'dr-tulu';
    fc.assert(
      fc.property(trainingRows(label), (row) => {
        const there = done(trainingRowOf(row, other));
        expect(JSON.stringify(object(there)['rubrics_types'] ?? [])).not.toContain(label);
        expect(object(done(trainingRowOf(there, trainer)))).toEqual(object(row));
      }),
    );
  });
});

const OWN = { Ingredient: 'Says 288 km', Handle: 'length', weight: 1 };
const FAULT = { description: 'Lies', weight: -1, title: 'Lie' };
const SKIPPED = { note: 'no text' };
const ROW = {
  messages: [],
  ground_truth: [
    JSON.stringify({
      query: 'q',
      rubrics: [SKIPPED, OWN, FAULT],
      rubrics_types: ['persistent', 'persistent', 'evolving'],
      more: 1,
    }),
    'for another verifier',
  ],
};

it('an edit changes what it names: added, reweighted, removed and moved criteria', () => {
  const row = done(citewardRowOf(ROW));
  expect(row['rubrics']).toEqual([
    { description: 'Says 288 km', weight: 1 },
    { title: 'Lie', description: 'Lies', weight: -1 },
  ]);
  const edited = {
    ...row,
    rubrics: [
      { title: 'Lie', description: 'Lies', weight: -2 },
      { description: 'New', weight: 0.5 },
      { description: 'Says 288 km', weight: 1 },
    ],
  };
  const written = done(trainingRowOf(edited, 'open-instruct'));
  expect(written).toMatchObject({ messages: [], ground_truth: [expect.any(String), 'for another verifier'] });
  expect(object(written)).toEqual({
    query: 'q',
    rubrics: [{ ...FAULT, weight: -2 }, { description: 'New', weight: 0.5, title: '' }, OWN, SKIPPED],
    rubrics_types: ['evolving', 'persistent', 'persistent', 'persistent'],
    more: 1,
  });
  const { rubrics: _, ...none } = row;
  expect(object(done(trainingRowOf(none, 'dr-tulu')))['rubrics']).toEqual([SKIPPED]);
});

it('lists of Citeward by polarity become signed criteria; other fields stay beside them', () => {
  const lists = { positive_rubrics: ['P'], negative_rubrics: [{ description: 'N', weight: 2 }] };
  const written = done(trainingRowOf({ id: 'a', question: 'q', ...lists }, 'dr-tulu'));
  expect(written).toEqual({ id: 'a', ground_truth: expect.any(String) });
  expect(object(written)).toEqual({
    query: 'q',
    rubrics: [
      { description: 'P', weight: 1, title: '' },
      { description: 'N', weight: -2, title: '' },
    ],
  });
});

it('what cannot be converted is named by its field', () => {
  const long = { query: 'q', rubrics: [{ description: 'x'.repeat(100_000) }] };
  expect(refusals(citewardRowOf({ question: 'q' }))).toEqual([expect.stringMatching(/^ground_truth: required/u)]);
  expect(refusals(citewardRowOf({ ground_truth: ['{"query":"q"}'] }))).toEqual([
    'ground_truth[0].rubrics: expected a list',
  ]);
  expect(refusals(citewardRowOf({ ground_truth: JSON.stringify(long) }))).toEqual([
    expect.stringMatching(/^rubrics\[0\]\.description: /u),
  ]);
  const row = done(citewardRowOf(ROW));
  expect(refusals(trainingRowOf({ ...row, question: 'another' }, 'dr-tulu'))).toEqual([
    expect.stringMatching(/^question: differs from the question of training_row/u),
  ]);
  expect(refusals(trainingRowOf({ ...row, training_row: 7 }, 'dr-tulu'))).toEqual([
    expect.stringMatching(/^training_row: expected/u),
  ]);
  expect(refusals(trainingRowOf({ question: 'q', training_row: {} }, 'dr-tulu'))).toEqual([
    expect.stringMatching(/^training_row\.ground_truth: required/u),
  ]);
  expect(refusals(trainingRowOf({ question: 'q', rubrics: [{ description: 'd' }] }, 'dr-tulu'))).toEqual([
    expect.stringMatching(/^rubrics\[0\]\.weight: /u),
  ]);
});
