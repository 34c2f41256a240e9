/** The minimal pairs of the bench are what they say: one edit apart, stated by their source, enough of each kind. */
import { expect, it } from 'vitest';
import { countPassed } from '../../../bench/lexical-judge/measure-pairs.ts';
import { type MinimalPair, minimalPairs } from '../../../bench/lexical-judge/minimal-pairs.ts';
import { triedPairs } from '../../../bench/lexical-judge/tried-pairs.ts';

const PAIRS = minimalPairs();
const TRIED = triedPairs();

it('has at least 100 pairs of each kind', () => {
  for (const all of [PAIRS, TRIED]) {
    const counts = Map.groupBy(all, ({ kind }) => kind);
    expect([...counts.keys()].sort()).toEqual(['direction', 'name', 'negation', 'number', 'relation', 'unit']);
    for (const [kind, pairs] of counts) expect(pairs.length, kind).toBeGreaterThanOrEqual(100);
  }
});

it('tries the rules on claims that they were not made after', () => {
  const claims = (pairs: readonly MinimalPair[]) => pairs.flatMap((pair) => [pair.true, pair.false]);
  const fitted = new Set(claims(PAIRS));
  expect(claims(TRIED).filter((claim) => fitted.has(claim))).toEqual([]);
});

it.each([
  ['number', 0.1],
  ['unit', 0.1],
  ['negation', 0.2],
] as const)('lets pass few of the claims with another %s, and every true one', (kind, most) => {
  for (const all of [PAIRS, TRIED]) {
    const pairs = all.filter((pair) => pair.kind === kind);
    const { passed, missed } = countPassed(pairs);
    expect(passed / pairs.length).toBeLessThanOrEqual(most);
    expect(missed).toBe(0);
  }
});

it('has sources that state the true claim and not the false one, and are no copy of it', () => {
  for (const pair of PAIRS) {
    const words = (text: string): string => text.slice(0, -1);
    expect(pair.source).toContain(words(pair.true));
    // An Arabic denial is the statement with a word before it.
    if (pair.kind !== 'negation') expect(pair.source).not.toContain(words(pair.false));
    expect(pair.source).not.toBe(pair.true);
  }
});

it('changes names to names that the source does not have', () => {
  for (const { kind, source, true: right, false: wrong } of PAIRS) {
    if (kind !== 'name') continue;
    const stated = new Set(source.split(/[\s,.،、。]+/u));
    const kept = new Set(right.split(/[\s,.،、。]+/u));
    const changed = wrong.split(/[\s,.،、。]+/u).filter((word) => !kept.has(word));
    expect(changed.length).toBeGreaterThan(0);
    expect(
      changed.some((word) => !stated.has(word)),
      wrong,
    ).toBe(true);
  }
});
