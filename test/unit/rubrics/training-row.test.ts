/** Rows of open-instruct and dr-tulu: what is read, and that writing gives back what was read. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldLog, setOf } from '../../../src/rubrics/evolution.ts';
import { EVOLUTION_PRESETS } from '../../../src/rubrics/evolution-rules.ts';
import { criterionId, questionDigest } from '../../../src/rubrics/rubric-set.ts';
import {
  readTrainingRow,
  type TrainingRow,
  writeRowWithSet,
  writeTrainingRow,
} from '../../../src/rubrics/training-row.ts';

function read(value: unknown): TrainingRow {
  const result = readTrainingRow(value);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const DEPTH = { description: 'States 1,642 m', weight: 1, title: 'Depth' };
const ITALY = { description: 'Puts it in Italy', weight: -1, title: 'Place' };

describe('a row', () => {
  it('is read from a text or a list, with query or Question', () => {
    for (const key of ['query', 'Question']) {
      const text = JSON.stringify({ [key]: 'How deep?', rubrics: [DEPTH, ITALY] });
      for (const value of [text, [text], [text, 'for another verifier']]) {
        const row = read(value);
        expect(row.question).toBe('How deep?');
        expect(row.criteria.map(({ criterion, weight, type }) => [criterion, weight, type])).toEqual([
          [{ polarity: 'positive', title: 'Depth', description: 'States 1,642 m' }, 1, 'persistent'],
          [{ polarity: 'negative', title: 'Place', description: 'Puts it in Italy' }, 1, 'persistent'],
        ]);
        expect(writeTrainingRow(row)).toEqual(value);
      }
    }
  });

  it('may call the text rubric_item or Ingredient; an entry without text is skipped and kept', () => {
    const value = JSON.stringify({
      query: 'q',
      rubrics: [{ rubric_item: 'A', weight: 2 }, { Ingredient: 'B', Handle: 'h', weight: 0.5 }, { weight: 1 }],
    });
    const row = read(value);
    expect(row.criteria.map(({ criterion, weight }) => [criterion.description, weight])).toEqual([
      ['A', 2],
      ['B', 0.5],
    ]);
    expect(writeTrainingRow(row)).toBe(value);
  });

  it.each(['evolving', 'adaptive'] as const)('has types, with the label %s', (label) => {
    const row = read(JSON.stringify({ query: 'q', rubrics: [DEPTH, ITALY], rubrics_types: ['persistent', label] }));
    expect(row.criteria.map(({ type }) => type)).toEqual(['persistent', label]);
  });

  it.each([
    [7, [], /JSON text/],
    ['{', [], /JSON text of an object/],
    [['[]'], [0], /object/],
    ['{"rubrics":[]}', ['query'], /"query" or "Question"/],
    ['{"query":"q"}', ['rubrics'], /list/],
    ['{"query":"q","rubrics":["a"]}', ['rubrics', 0], /object/],
    ['{"query":"q","rubrics":[{"description":"d","weight":"1"}]}', ['rubrics', 0, 'weight'], /number/],
    ['{"query":"q","rubrics":[{"description":"d","title":1}]}', ['rubrics', 0, 'title'], /text/],
    ['{"query":"q","rubrics":[{"description":"d"}],"rubrics_types":[]}', ['rubrics_types'], /as long as/],
    ['{"query":"q","rubrics":[{"description":"d"}],"rubrics_types":["new"]}', ['rubrics_types', 0], /"adaptive"/],
  ] as const)('%j is refused at %j', (value, path, message) => {
    const result = readTrainingRow(value);
    expect(result).toMatchObject({ ok: false, error: [{ path, message: expect.stringMatching(message) }] });
  });

  it('is written as it was read, whatever else it contains', () => {
    const entry = fc.record({
      description: fc.string(),
      weight: fc.double({ min: -5, max: 5, noNaN: true }),
      note: fc.jsonValue(),
    });
    fc.assert(
      fc.property(
        fc.record({
          query: fc.string({ minLength: 1 }),
          rubrics: fc.array(entry, { maxLength: 6 }),
          more: fc.jsonValue(),
        }),
        fc.array(fc.jsonValue(), { maxLength: 2 }),
        fc.boolean(),
        (object, others, isList) => {
          const text = JSON.stringify(object);
          const value = isList ? [text, ...others] : text;
          const written = writeTrainingRow(read(value));
          const textOf = (one: unknown): string => String(Array.isArray(one) ? one[0] : one);
          expect(JSON.parse(textOf(written))).toEqual(JSON.parse(text));
          if (Array.isArray(written)) expect(written.slice(1)).toEqual(others);
        },
      ),
    );
  });
});

it('a row with a set has the own entries unchanged, new ones with signed weights, and a type for each', () => {
  const row = read([JSON.stringify({ query: 'q', rubrics: [{ ...DEPTH, note: 1 }], dataset: 'rubric' })]);
  const question = questionDigest('q');
  const fault = { polarity: 'negative', title: 'Place', description: 'Puts it in Italy' } as const;
  const added = { id: criterionId(question, fault), criterion: fault, weight: 1 };
  const own = row.criteria.map(({ id, criterion, weight }) => ({ id, criterion, weight }));
  const state = foldLog(
    [
      { event: 'started', question, own },
      { event: 'proposed', step: 1, group: 'g', criteria: [added], under: question, judgment: null, responses: [] },
      { event: 'activated', step: 1, group: 'g', ids: [added.id] },
    ],
    EVOLUTION_PRESETS['open-instruct'],
  );
  const written = writeRowWithSet(row, setOf(state), state.criteria, 'adaptive');
  const text = String(Array.isArray(written) ? written[0] : written);
  expect(JSON.parse(text)).toEqual({
    query: 'q',
    rubrics: [{ ...DEPTH, note: 1 }, ITALY],
    dataset: 'rubric',
    rubrics_types: ['persistent', 'adaptive'],
  });
  // The trainer's next visit reads it back with the same ids.
  expect(read(written).criteria.map(({ id }) => id)).toEqual(setOf(state).map(({ id }) => id));
});

it('any set of criteria, with a title or without, is read back from the written row with the same ids and types', () => {
  const made = fc.record(
    {
      polarity: fc.constantFrom('positive', 'negative'),
      title: fc.string({ minLength: 1 }),
      description: fc.string({ minLength: 1 }),
    },
    { requiredKeys: ['polarity', 'description'] },
  );
  const own = fc.record({
    textKey: fc.constantFrom('description', 'rubric_item', 'Ingredient'),
    text: fc.string({ minLength: 1 }),
    weight: fc.constantFrom(-2, -1, 0.5, 1),
    note: fc.jsonValue(),
  });
  fc.assert(
    fc.property(
      fc.constantFrom('query', 'Question'),
      fc.array(own, { maxLength: 3 }),
      fc.array(made, { maxLength: 3 }),
      fc.constantFrom('evolving', 'adaptive'),
      fc.boolean(),
      (questionKey, given, added, label, isList) => {
        const rubrics = given.map(({ textKey, text, weight, note }) => ({ [textKey]: text, weight, note }));
        const text = JSON.stringify({ [questionKey]: 'q', rubrics, more: [1] });
        const row = read(isList ? [text, 'other'] : text);
        const question = questionDigest('q');
        const proposed = added.map((criterion) => ({ id: criterionId(question, criterion), criterion, weight: 1 }));
        const entry = (type: 'persistent' | 'evolving', since_step: number | null) => {
          return ({ id, weight }: { id: string; weight: number }) => ({ id, weight, type, since_step });
        };
        const set = [...row.criteria.map(entry('persistent', null)), ...proposed.map(entry('evolving', 1))];
        const criteria = new Map([...row.criteria, ...proposed].map((one) => [one.id, one]));
        const back = read(writeRowWithSet(row, set, criteria, label));
        expect(back.criteria.map(({ id }) => id)).toEqual(set.map(({ id }) => id));
        expect(back.criteria.map(({ type }) => type)).toEqual([
          ...given.map(() => 'persistent'),
          ...added.map(() => label),
        ]);
        expect(back.shape.others).toEqual(isList ? ['other'] : null);
        expect(back.shape.object).toMatchObject({ [questionKey]: 'q', more: [1] });
      },
    ),
  );
});
