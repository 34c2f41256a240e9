/** Adds the votes of several judges (votes.ts) to the composer of a family. Imports no schema, like the composers. */
import type { FindingCounts } from '../citations/types.ts';
import { memberName } from '../judgments/panel.ts';
import type { BaseFacts, PanelMember } from './facts.ts';
import type { BaseRecipe, Composer, FamilyTypes, GroupVotes } from './family.ts';
import type { Gap } from './requirements.ts';
import type { VoteFields } from './votes.ts';

/** A composer of a family whose verdicts several judges can vote on. */
export type VotingComposer<T extends FamilyTypes = FamilyTypes> = Composer<T> & Pick<Required<Composer<T>>, 'combine'>;

/** Adds the votes to a composer: fields, rewards, votes in the group, and gaps. */
export function withVotes<const C extends VotingComposer>(composer: C): C {
  const { withFindings } = composer;
  const voted = (facts: BaseFacts, recipe: BaseRecipe): BaseFacts => votedFacts(composer, facts, recipe) ?? facts;
  return {
    ...composer,
    ...(withFindings === undefined
      ? {}
      : {
          withFindings: ({ panel, ...facts }: BaseFacts, counts: FindingCounts) => ({
            ...withFindings(facts, counts),
            ...(panel === undefined
              ? {}
              : { panel: panel.map((member) => ({ ...member, facts: withFindings(member.facts, counts) })) }),
          }),
        }),
    recipe: { ...composer.recipe, fields: { ...composer.recipe.fields, vote: 'compose', voters: 'compose' } },
    compose: (facts: BaseFacts, recipe: BaseRecipe, group: GroupVotes) =>
      composer.compose(voted(facts, recipe), recipe, group),
    groupVote: (facts: BaseFacts | null, recipe: BaseRecipe) =>
      composer.groupVote(facts === null ? null : voted(facts, recipe), recipe),
    gaps: (before: BaseRecipe, after: BaseRecipe, changed: readonly string[]) => [
      ...composer.gaps(before, after, changed),
      ...voterGaps(after),
    ],
  };
}

/**
 * The facts of the panel under the recipe's vote; `null` = one judge observed the facts.
 *
 * @throws RangeError if the recipe names a voter that is no member. Gaps exclude such rows from a replay.
 */
export function votedFacts<T extends FamilyTypes>(
  { combine }: Pick<Composer<T>, 'combine'>,
  { panel }: { readonly panel?: readonly PanelMember<T['facts']>[] },
  recipe: T['recipe'],
): T['facts'] | null {
  if (panel === undefined) return null;
  const { vote = 'majority', voters } = recipe;
  const voting = panel.filter((member) => voters?.includes(memberName(member)) ?? true);
  const [first, ...others] = voting.map(({ facts }) => facts);
  if (combine === undefined || first === undefined || (voters !== undefined && voting.length < voters.length)) {
    throw new RangeError('votes: the recipe names a voter that is no member of the panel');
  }
  return combine([first, ...others], vote, recipe);
}

/** A recipe that names voters reads them all. */
function voterGaps({ voters }: VoteFields): readonly Gap<BaseFacts>[] {
  if (voters === undefined) return [];
  const isOpen = ({ panel = [] }: BaseFacts): boolean => {
    const members = new Set(panel.map(memberName));
    return voters.some((name) => !members.has(name));
  };
  return [{ name: 'recipe.voters', isOpen }];
}
