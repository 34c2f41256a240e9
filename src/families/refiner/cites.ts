/** Whether an answer breaks the citation policy of its recipe, and so pays nothing, and whether it needs citations. */
import type { Gap } from '../../family/requirements.ts';
import type { RefinerFacts } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

type Citing = Pick<RefinerFacts, 'has_answer' | 'cites' | 'abstains'> & Partial<Pick<RefinerFacts, 'citation'>>;

/** `null`: the facts do not say whether the answer cites, because they are of a recipe that allows both. */
export function breaksPolicy(facts: Citing, recipe: RefinerRecipe): boolean | null {
  const { citations = 'allowed' } = recipe;
  if (citations === 'allowed' || !facts.has_answer || needsNoCitation(facts, recipe)) return false;
  const cites = citesOf(facts);
  return cites === null ? null : cites !== (citations === 'required');
}

/** Whether the answer only abstains, and the recipe asks for no citation then. */
export function needsNoCitation({ abstains }: Pick<RefinerFacts, 'abstains'>, recipe: RefinerRecipe): boolean {
  return abstains === true && recipe.abstentions_need_no_citation === true;
}

/** Claims that were judged tell it too. */
function citesOf({ cites, citation }: Citing): boolean | null {
  if (cites !== undefined) return cites;
  return citation?.status === 'scored' ? citation.observed.some(({ cited }) => cited) : null;
}

/** The gap of a recipe that requires or forbids citations, for facts that do not say whether the answer cites. */
export function citationPolicyGaps(after: RefinerRecipe): Gap<RefinerFacts>[] {
  const { citations = 'allowed' } = after;
  if (citations === 'allowed') return [];
  return [{ name: 'recipe.citations', isOpen: (facts) => breaksPolicy(facts, after) === null }];
}
