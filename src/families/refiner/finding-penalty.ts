/** What the findings of an answer cost where the recipe has prices for them. Imports no schema, like the composer. */
import type { FindingCounts } from '../../citations/types.ts';
import type { Gap } from '../../family/requirements.ts';
import type { Component } from '../../family/score.ts';
import type { RefinerFacts } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

/**
 * The findings that a recipe can price: those about the answer. Left out are those about the sources alone, and those
 * that depend on the recipe, whose `mode` and `citations` have their own rules.
 */
export function pricedFindings(counts: FindingCounts) {
  const { source_duplicate_id, source_empty, text_outside_answer, citation_missing, citation_forbidden, ...priced } =
    counts;
  return priced;
}

/** The sum of the prices of all findings, in reward units; `null` = the facts do not say which findings there are. */
export function findingCost({ findings }: Pick<RefinerFacts, 'findings'>, recipe: RefinerRecipe): number | null {
  const prices = new Map(Object.entries(recipe.finding_penalty ?? {}));
  if (prices.size === 0) return 0;
  if (findings === undefined) return null;
  // In the order of the facts: the order of prices has no part in a recipe's digest.
  return Object.entries(findings).reduce((sum, [reason, count]) => sum + count * (prices.get(reason) ?? 0), 0);
}

/** The component of the findings. @param reward before they are paid; `null` = unscored. */
export function findingComponent(cost: number | null, reward: number | null): Component {
  if (cost === null) return { status: 'unscored', value: null, weight: 1, contribution: null, reason: 'not_measured' };
  // A reward falls to 0 at most; 0 - cost is never -0.
  const value = reward === null ? 0 - cost : Math.max(reward - cost, 0) - reward;
  return { status: 'scored', value, weight: 1, contribution: value };
}

/** The gap of a recipe with prices, for facts recorded without findings. */
export function findingGaps(after: RefinerRecipe): Gap<RefinerFacts>[] {
  const isOpen = (facts: RefinerFacts) => facts.has_answer && findingCost(facts, after) === null;
  return after.finding_penalty === undefined ? [] : [{ name: 'recipe.finding_penalty', isOpen }];
}
