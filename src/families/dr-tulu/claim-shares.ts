/** What each claim and uncited part of a dr-tulu answer earned. */
import { sharesOfCitation } from '../../family/credit.ts';
import { statementParts } from './compose.ts';
import type { DrTuluFacts } from './facts.ts';
import type { DrTuluRecipe } from './recipe.ts';
import type { DrTuluScore } from './reply.ts';

/**
 * In the order of the facts, in reward units; `[]` if no verdict on a claim decided the reward. The share of valid ids
 * belongs to no claim.
 */
export function drTuluClaimShares(facts: DrTuluFacts, recipe: DrTuluRecipe, score: DrTuluScore): readonly number[] {
  return sharesOfCitation(score, statementParts(facts, recipe), score.components.citation.value);
}
