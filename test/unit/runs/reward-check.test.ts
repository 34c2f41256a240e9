/** Rewards of imported rows: what a recording can hold passes, and no other number does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compose, composeGroup, type Facts, groupVotes, type Recipe } from '../../../src/families/composers.ts';
import { Moments } from '../../../src/runs/moments.ts';
import { differingRows, type RowToCheck } from '../../../src/runs/reward-check.ts';
import { FAMILIES_OF_FACTS } from './synthetic-rows.ts';

type Scored = Pick<ReturnType<typeof compose>, 'reward' | 'reason' | 'components'>;

function rowOf(facts: Facts, recipe: Recipe, { reward, reason, components }: Scored, sample: number): RowToCheck {
  const values = Object.fromEntries(Object.entries(components).map(([name, { value }]) => [name, value]));
  const place = { run: 'r', step: 0, group: 'g', sample: String(sample), attempt: 0, grouping: 'given' as const };
  const digests = { content: '0'.repeat(64), recipe: '0'.repeat(64), recorded_at: '2026-11-26T00:00:00.000Z' };
  const stored = { v: 1 as const, facts, judgments: [], reward, reason };
  return { rollout: { ...place, ...digests, ...stored, components: values, cached: 0 }, recipe };
}

const cases = FAMILIES_OF_FACTS.map(({ recipe, facts }) => [recipe.family, recipe, facts] as const);

describe('rewards of a file', () => {
  it.each(cases)('pass as they were recorded: %s, alone, as a group, or as a part of it', (_family, recipe, facts) => {
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1, maxLength: 6 }), fc.nat(5), (all, half) => {
        const whole = composeGroup(all, recipe);
        const members = all.slice(0, half + 1);
        const part = groupVotes(members.map((one) => ({ facts: one, recipe })));
        const rows = all.flatMap((one, n) => [
          rowOf(one, recipe, compose(one, recipe), n),
          rowOf(one, recipe, whole[n] ?? compose(one, recipe), n),
          // A sample outside a part is never normalised by the maximum of that part.
          ...(n < members.length ? [rowOf(one, recipe, compose(one, recipe, part), n)] : []),
        ]);
        expect([...differingRows(rows, true)]).toEqual([]);
        expect([...differingRows(rows, false)]).toEqual([]);
      }),
    );
  });

  it.each(cases)('are refused if they are others: %s', (_family, recipe, facts) => {
    fc.assert(
      fc.property(facts, fc.constantFrom(1e308, -1e308, 1e101, 100.5, Number.MAX_VALUE), (one, reward) => {
        const own = rowOf(one, recipe, compose(one, recipe), 0);
        const forged = { ...own, rollout: { ...own.rollout, reward, reason: null } };
        for (const isWhole of [true, false]) expect([...differingRows([own, forged], isWhole)]).toEqual([1]);
        const [name = 'none'] = Object.keys(own.rollout.components);
        const counted = { ...own, rollout: { ...own.rollout, components: { [name]: reward } } };
        expect([...differingRows([own, counted], true)]).toEqual([1]);
      }),
    );
  });
});

describe('figures', () => {
  it('are finite for all finite numbers, in every order and division', () => {
    const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(1e308, -1.7e308, 0));
    fc.assert(
      fc.property(fc.array(value), fc.array(value), (one, other) => {
        const [whole, part] = [new Moments(), new Moments()];
        for (const number of one) whole.add(number);
        for (const number of other) part.add(number);
        whole.merge(part.sums);
        for (const figure of [whole.mean ?? 0, whole.std ?? 0, whole.sums.squares])
          expect(Number.isFinite(figure)).toBe(true);
      }),
    );
  });
});
