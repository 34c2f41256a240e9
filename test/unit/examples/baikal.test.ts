/** The first answers that a newcomer sees: the built-in judge is right about each, and a corrected number pays. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createScorer, lexicalJudge, type Rollout } from '../../../lib/index.ts';

type Row = Rollout & { readonly id: string; readonly response: string };

const rows: readonly Row[] = readFileSync(resolve(import.meta.dirname, '../../../examples/baikal.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const RECIPE = { base: 'refiner-gpt54-instance-rubric', negatives_require_positive: true } as const;

async function scored(id: string, change: (response: string) => string = (response) => response) {
  const row = rows.find((one) => one.id === id);
  if (row === undefined) throw new Error(`examples/baikal.jsonl has no row ${id}`);
  const { id: _id, ...rollout } = row;
  const score = await createScorer({ judge: lexicalJudge }).score(
    { ...rollout, response: change(row.response) },
    RECIPE,
  );
  if (score.reward === null || !('criteria' in score)) throw new Error(`${id} has no reward`);
  return { reward: score.reward, criteria: score.criteria, claims: score.claims };
}

/** Which criteria hold: depth, age, water, listing, and the confusion with another lake. */
const HOLDS: Readonly<Record<string, readonly [boolean, boolean, boolean, boolean, boolean]>> = {
  'baikal-good': [true, true, true, true, false],
  'baikal-copied': [true, true, true, true, false],
  'baikal-wrong-source': [true, true, true, true, false],
  'baikal-uncited': [true, true, true, true, false],
  'baikal-invented-ids': [true, true, true, true, false],
  'baikal-shotgun': [true, true, true, true, false],
  'baikal-wrong-numbers': [false, true, true, false, false],
  'baikal-wrong-lake': [false, true, false, true, true],
  'baikal-off-topic': [false, false, false, false, false],
};

describe('examples/baikal.jsonl', () => {
  it.each(Object.entries(HOLDS))('%s: the built-in judge is right about each criterion', async (id, holds) => {
    const { criteria } = await scored(id);
    const own = criteria.filter(({ origin }) => origin === 'instance');
    expect(own.map(({ score }) => score)).toEqual(holds.map((one) => (one ? 2 : 0)));
  });

  it('pays no answer more than the good one', async () => {
    const rewards = await Promise.all(Object.keys(HOLDS).map(async (id) => (await scored(id)).reward));
    expect(Math.max(...rewards)).toBe((await scored('baikal-good')).reward);
    expect(rewards).toEqual([...rewards].sort((a, b) => b - a));
  });

  it('supports the claim and pays more once the number is corrected', async () => {
    const wrong = await scored('baikal-wrong-numbers');
    const right = await scored('baikal-wrong-numbers', (response) => response.replace('1,462', '1,642'));
    expect(wrong.claims[0]).toMatchObject({ support: 0, findings: ['number_not_in_source'] });
    expect(right.claims[0]).toMatchObject({ support: 1, findings: [] });
    expect(right.reward).toBeGreaterThan(wrong.reward + 1);
  });
});
