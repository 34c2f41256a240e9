/** A null of an optional field is an absent field; any other null is refused as before. */
import { expect, it } from 'vitest';
import { readRow } from '../../../cli/shared/rows.ts';
import { parseJsonValue, withoutNulls } from '../../../src/wire/absent-fields.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';

const ROW = {
  recipe: 'refiner-gpt54-instance-rubric',
  question: 'How long is the Elbe?',
  response: '<answer><snippet id=S1>The Elbe is 1,094 km long.</snippet></answer>',
  tool_output: '<snippet id=S1>The Elbe is 1,094 km long.</snippet>',
  positive_rubrics: ['States the length'],
};

it('a null of an optional field is absent', () => {
  const nulls = { ...ROW, sources: null, negative_rubrics: null, judge: null, run: null };
  expect(withoutNulls(scoreRequestSchema, nulls)).toEqual(ROW);
  expect(scoreRequestSchema.safeParse(withoutNulls(scoreRequestSchema, nulls)).success).toBe(true);
});

it('a null of an optional field of a nested object is absent', () => {
  const { tool_output: _, ...rest } = ROW;
  const source = { id: 'S1', text: 'The Elbe is 1,094 km long.' };
  const criterion = { description: 'States the length' };
  const row = {
    ...{ ...rest, sources: [{ ...source, title: null, url: null }, source] },
    positive_rubrics: [{ ...criterion, weight: null }, 'Names the river'],
  };
  const read = withoutNulls(scoreRequestSchema, row);
  expect(read).toEqual({ ...rest, sources: [source, source], positive_rubrics: [criterion, 'Names the river'] });
  expect(scoreRequestSchema.safeParse(read).success).toBe(true);
});

it('a null of an unknown field, of a required one and of a list is kept', () => {
  for (const fields of [
    { ...ROW, unknown: null },
    { ...ROW, positive_rubrics: [null] },
    { ...ROW, positive_rubrics: [{ description: null }] },
    { ...ROW, positive_rubrics: [{ description: 'x', other: null }] },
  ]) {
    expect(withoutNulls(scoreRequestSchema, fields)).toEqual(fields);
    expect(scoreRequestSchema.safeParse(fields).success).toBe(false);
  }
});

it.each([null, [], [null], 'x', 3])('%j stays as it is', (value) => {
  expect(withoutNulls(scoreRequestSchema, value)).toEqual(value);
});

it('a row of the command line has its nulls and plain sources read', () => {
  const { tool_output: _, ...rest } = ROW;
  const text = JSON.stringify({ ...rest, negative_rubrics: null, sources: ['One text.', 'Another.'] });
  const read = readRow(
    { number: 1, bytesRead: text.length, content: { ok: true, value: text } },
    scoreRequestSchema,
    (fields) => fields,
  );
  expect(read).toMatchObject({
    ok: true,
    value: {
      request: {
        sources: [
          { id: '1', text: 'One text.' },
          { id: '2', text: 'Another.' },
        ],
      },
    },
  });
});

it('absent fields of JSON are skipped, which changes neither the value nor what is wrong with it', () => {
  const { question: _, ...unasked } = ROW;
  for (const row of [
    ROW,
    unasked,
    { ...ROW, response: 3, other: 1 },
    { ...ROW, sources: [{ id: 'S1' }], judge: null },
  ]) {
    const fresh = scoreRequestSchema.safeParse(withoutNulls(scoreRequestSchema, row));
    const read = parseJsonValue(scoreRequestSchema, row);
    expect(read.data).toEqual(fresh.data);
    expect(read.error?.issues).toEqual(fresh.error?.issues);
  }
});

it('a field that is given as undefined, which no JSON is, is still refused', () => {
  parseJsonValue(scoreRequestSchema, ROW);
  expect(scoreRequestSchema.safeParse({ ...ROW, judge: undefined }).success).toBe(false);
});
