/**
 * Explains a reward as steps in the order of its formula: what each criterion, claim and other component earns, then
 * what each guard, price and penalty of the recipe takes away or adds. The steps, added in order, give the reward
 * exactly. A guard's step is the difference of the rewards with and without it, composed from the same facts, so
 * nothing is judged.
 */
import { carrDivision } from '../families/carr/division.ts';
import { BUILT_IN, type Facts, type Recipe, type Score } from '../families/composers.ts';
import { drTuluDivision } from '../families/dr-tulu/division.ts';
import { longTraceDivision } from '../families/long-trace/division.ts';
import { refinerDivision } from '../families/refiner/division.ts';
import type { GroupVotes } from '../family/family.ts';
import type { DividedComponents, Guard, RewardDivision } from '../family/reward-division.ts';
import type { Component } from '../family/score.ts';
import { votedFacts } from '../family/with-votes.ts';
import { settledShares } from './credit.ts';

/** One addend of a reward, in reward units. */
export type RewardStep = { readonly amount: number } & (
  | {
      /** `statement`: an uncited one that the recipe pays. */
      readonly of: 'criterion' | 'claim' | 'statement';
      /** Among the criteria, the claims without repetitions, or the uncited statements of the facts. */
      readonly index: number;
    }
  | {
      /** What of a component belongs to no criterion, claim or statement. */
      readonly of: 'component';
      readonly name: string;
    }
  | {
      /** A field of the recipe, or the rule that decided the reward, such as `no_answer`. */
      readonly of: 'rule';
      readonly name: string;
    }
  /** Digits that sums of numbers of this size cannot hold, below 1e-12 of the largest step. */
  | { readonly of: 'rounding' }
);

type AnyTypes = { readonly recipe: Recipe; readonly facts: Facts; readonly score: Score; readonly reply: Score };

const DIVISIONS: readonly RewardDivision<AnyTypes>[] = [
  refinerDivision,
  drTuluDivision,
  carrDivision,
  longTraceDivision,
];

/** The terms that every family may add (terms.ts), last. */
const TERMS: readonly Guard<Recipe>[] = [
  { field: 'length', off: ({ length: _, ...recipe }) => recipe },
  { field: 'turns', off: ({ turns: _, ...recipe }) => recipe },
];

/** Smaller amounts are rounding: they are part of the largest step. Relative to the largest amount. */
const ROUNDING = 1e-12;

/**
 * @param group votes of the rollout's group; `null` = scored alone.
 * @returns the steps, in order; `null` = the reward is unscored.
 * @throws RangeError as `compose`.
 */
export function rewardSteps(facts: Facts, recipe: Recipe, group: GroupVotes): readonly RewardStep[] | null {
  const { reward } = BUILT_IN.compose(facts, recipe, group);
  if (reward === null) return null;
  const division = DIVISIONS.find(({ family }) => family === recipe.family);
  const [open, ...guarded] = guardedScores(facts, recipe, group, [...(division?.guards ?? []), ...TERMS]);
  const steps = openSteps(facts, open, division);
  let before = open.reward;
  for (const { field, reward: after } of guarded) {
    if (after !== before) steps.push({ of: 'rule', name: field, amount: after - before });
    before = after;
  }
  return settled(steps, reward);
}

type Guarded = { readonly field: string; readonly recipe: Recipe; readonly score: Score; readonly reward: number };

/**
 * The scores with no guard, with the first one, with the first two, and so on; the last one is the reward. A guard stays
 * on everywhere if there is no reward without it: under it nothing was judged.
 */
function guardedScores(
  facts: Facts,
  recipe: Recipe,
  group: GroupVotes,
  guards: readonly Guard<Recipe>[],
): readonly [Guarded, ...Guarded[]] {
  const scoreOf = (field: string, of: Recipe): Guarded | null => {
    const score = BUILT_IN.compose(facts, of, group);
    return score.reward === null ? null : { field, recipe: of, score, reward: score.reward };
  };
  let scores: readonly Guarded[] = [];
  let least = scoreOf('', recipe);
  for (const guard of guards.toReversed()) {
    if (least === null) break;
    const without = scoreOf('', guard.off(least.recipe));
    if (without === null) continue;
    scores = [{ ...least, field: guard.field }, ...scores];
    least = without;
  }
  if (least === null) throw new Error('rewardSteps: a scored reward has no score');
  return [least, ...scores];
}

/** The steps of a score without guards: its parts, or the rule that replaced their sum and what is left of them. */
function openSteps(facts: Facts, { recipe, score, reward }: Guarded, division: (typeof DIVISIONS)[number] | undefined) {
  const { decided_by } = score;
  const components = Object.entries<Component>(score.components);
  const divided = division?.divide(votedFacts<AnyTypes>(BUILT_IN.of(recipe), facts, recipe) ?? facts, recipe, score);
  const steps = components.flatMap(([name, { contribution }]) => componentSteps(name, contribution ?? 0, divided));
  if (decided_by === 'components' || decided_by === null) return steps;
  // Parts of a response that a rule decides may not be judged: those that are known would mislead.
  const isKnown = components.every(([, { contribution, weight }]) => contribution !== null || weight === 0);
  const left = isKnown ? steps.filter(({ amount }) => amount !== 0) : [];
  return [...left, { of: 'rule', name: decided_by, amount: reward - sumOf(left) } satisfies RewardStep];
}

/** A component's criteria, claims and statements, and what of it belongs to none of them. */
function componentSteps(name: string, contribution: number, divided?: DividedComponents): RewardStep[] {
  const parts = partsOf(name, divided);
  const rest = contribution - sumOf(parts);
  const isRounding = Math.abs(rest) <= ROUNDING * Math.max(Math.abs(contribution), ...parts.map(sizeOf));
  return isRounding ? parts : [...parts, { of: 'component', name, amount: rest }];
}

function partsOf(name: string, divided?: DividedComponents): RewardStep[] {
  switch (name) {
    case 'rubric':
      return (divided?.rubric ?? []).map((amount, index) => ({ of: 'criterion', index, amount }));
    case 'citation': {
      const counts = { claim: 0, statement: 0 };
      const all = (divided?.citation ?? []).map(({ isClaim, amount }): RewardStep => {
        const of = isClaim ? 'claim' : 'statement';
        return { of, index: counts[of]++, amount };
      });
      return all.filter(({ of, amount }) => of === 'claim' || amount !== 0);
    }
    default:
      return [];
  }
}

/** The steps, rounded so that they add up to the reward without rounding. */
function settled(steps: readonly RewardStep[], reward: number): readonly RewardStep[] {
  const { shares, rest } = settledShares(
    steps.map(({ amount }) => amount),
    reward,
  );
  const [main = 0, ...smaller] = rest;
  const rounded = steps.map((step, n) => ({ ...step, amount: shares[n] ?? 0 }));
  const last = smaller.map((amount): RewardStep => ({ of: 'rounding', amount }));
  // The largest step that has digits as fine as the rest takes it.
  for (const taker of rounded.toSorted((one, other) => sizeOf(other) - sizeOf(one))) {
    const exact = rounded.map((step) => (step === taker ? { ...step, amount: step.amount + main } : step));
    if (sumOf([...exact, ...last]) === reward) return [...exact, ...last];
  }
  return [...rounded, ...rest.map((amount): RewardStep => ({ of: 'rounding', amount }))];
}

function sizeOf({ amount }: RewardStep): number {
  return Math.abs(amount);
}

function sumOf(steps: readonly RewardStep[]): number {
  return steps.reduce((sum, { amount }) => sum + amount, 0);
}
