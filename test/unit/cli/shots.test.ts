/** Examples of labelled rows in a judge's words. */
import { expect, test } from 'vitest';
import { chooseShots, templateWithShots, withShots } from '../../../cli/commands/judge/shots.ts';
import { RunError, UsageError } from '../../../cli/shared/exit.ts';
import { templateProblems } from '../../../src/judgments/protocol/template.ts';
import { type LabelledRow, readLabelledRow } from '../../../src/labels/labelled-row.ts';

const TEMPLATE = { reply: 'score', text: 'Grade.\n{question}\n{criteria}\n{answer}' } as const;

function row(question: string, label: number, answer = 'It is 288 km long.'): LabelledRow {
  const criterion = { title: 'Length', description: 'States the length.' };
  const read = readLabelledRow({ set: 's', kind: 'criterion', question, criterion, answer, label }, 'rows');
  if (!read.ok) throw new Error('not a row');
  return read.value;
}

async function* given(...rows: readonly LabelledRow[]) {
  yield* rows;
}

const ROWS = [0, 1, 2].flatMap((label) => ['a', 'b', 'c', 'd'].map((name) => row(`${name}${label}?`, label)));

test('as many of each label, the same for a seed, others for another', async () => {
  const textOf = async (seed: number) => templateWithShots(TEMPLATE, await chooseShots(given(...ROWS), 6, seed)).text;
  const text = await textOf(0);
  expect([...text.matchAll(/^Right score: (\d)$/gmu)].map(([, score]) => score)).toEqual([
    '2',
    '1',
    '0',
    '2',
    '1',
    '0',
  ]);
  expect(templateProblems(text)).toEqual([]);
  expect(text.endsWith(TEMPLATE.text)).toBe(true);
  expect(await textOf(0)).toBe(text);
  expect(new Set(await Promise.all([1, 2, 3].map(textOf))).size).toBe(3);
});

test('only criteria that fit into a template; a judge that says met gets met', async () => {
  const other = { reply: 'met', text: TEMPLATE.text } as const;
  const shots = await chooseShots(
    given(row('a?', 2, 'See {answer}.'), row('b?', 2, 'x'.repeat(3_000)), row('c?', 1), row('d?', 2)),
    2,
    0,
  );
  const { text } = templateWithShots(other, shots);
  expect(text).toContain('Question: d?\nCriterion: Length: States the length.\nAnswer: It is 288 km long.');
  expect([...text.matchAll(/met = (\w+)/gu)].map(([, met]) => met)).toEqual(['true', 'false']);
  expect([shots.covers(row(' c? ', 0)), shots.covers(row('a?', 2))]).toEqual([true, false]);
});

test('too few rows, a template that gets too long, and judges without one are refused', async () => {
  await expect(chooseShots(given(row('a?', 2), row('a?', 0)), 2, 0)).rejects.toThrow(RunError);
  const long = ROWS.map((one, n) => row(`q${n}`, one.level, 'y'.repeat(1_900)));
  const shots = await chooseShots(given(...long), 12, 0);
  expect(() => templateWithShots(TEMPLATE, shots)).toThrow(UsageError);
  const lexical = { kind: 'lexical', name: null, judging: 'joint', batch: null, template: null } as const;
  expect(() => withShots([lexical], shots)).toThrow('--shots needs a judge with a template');
});
