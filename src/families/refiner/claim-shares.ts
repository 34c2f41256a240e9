/** What each claim and uncited statement of a refiner answer earned. */
import { sharesOfCitation } from '../../family/credit.ts';
import { statementParts } from './citation-score.ts';
import type { RefinerFacts } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';
import type { RefinerScore } from './reply.ts';

/** In the order of the facts, in reward units; `[]` if no verdict on a claim decided the reward. */
export function refinerClaimShares(facts: RefinerFacts, recipe: RefinerRecipe, score: RefinerScore): readonly number[] {
  const parts = statementParts(facts, recipe);
  const value = parts.reduce((sum, part) => sum + part, 0);
  return sharesOfCitation(score, parts, value);
}
