/**
 * The parts of the long-trace family that replay needs: field kinds, named recipes, reward range, `compose` and gaps.
 * Imports no schema, so that a bundle that only composes stays small.
 */
import type { FieldKinds } from '../../family/family.ts';
import { withJudgeOptions } from '../../family/judge-options.ts';
import { finishReasonGaps } from '../../family/requirements.ts';
import { withTerms } from '../../family/terms.ts';
import { type VotingComposer, withVotes } from '../../family/with-votes.ts';
import { composeLongTrace, isPunished, longTraceSummands, longTraceVote } from './compose.ts';
import type { LongTraceFacts } from './facts.ts';
import type { LongTraceRecipe } from './recipe.ts';
import type { LongTraceReply, LongTraceScore } from './reply.ts';
import { combineLongTrace } from './votes.ts';

/** The types of the family. */
export type LongTrace = {
  readonly recipe: LongTraceRecipe;
  readonly facts: LongTraceFacts;
  readonly score: LongTraceScore;
  readonly reply: LongTraceReply;
};

/** The kind of each field. */
const FIELDS = {
  outcome_template: 'measure',
  variant: 'compose',
  eta: 'compose',
  text: 'compose',
  normalise_in_group: 'compose',
  punish_ill_formed: 'compose',
} as const satisfies FieldKinds<LongTraceRecipe>;

const LONG_TRACE_RL: LongTraceRecipe = {
  family: 'long-trace',
  variant: 'positive_only',
  eta: 0.3,
  text: 'content',
  normalise_in_group: true,
  punish_ill_formed: true,
};

/** The named recipes of the family. */
export const LONG_TRACE_RECIPES = {
  'longtrace-rl': LONG_TRACE_RL,
  'longtrace-rl-chunks': { ...LONG_TRACE_RL, variant: 'chunks' },
} as const satisfies Record<string, LongTraceRecipe>;

/** Smallest and largest reward that the recipe can give. */
function longTraceRewardRange({ variant }: LongTraceRecipe): readonly [number, number] {
  // chunks: 1 + eta + (1 - eta).
  return [0, variant === 'chunks' ? 2 : 1];
}

export const longTraceComposer = withVotes(
  withTerms(
    withJudgeOptions({
      name: 'long-trace',
      recipe: { fields: FIELDS, named: LONG_TRACE_RECIPES, range: longTraceRewardRange },
      compose: composeLongTrace,
      contributions: longTraceSummands,
      groupVote: longTraceVote,
      combine: combineLongTrace,
      judgedOutcome: ({ outcome }) => (outcome.status === 'scored' ? outcome.observed : null),
      stricter: ({ eta, variant }) =>
        ({
          ...(variant === 'chunks' ? {} : { variant: 'positive_only' }),
          punish_ill_formed: true,
          eta: eta / 2,
        }) satisfies Partial<LongTraceRecipe>,
      gaps: (before, after, changed) => [
        ...changed.map((field) => ({ name: `recipe.${field}`, isOpen: () => true })),
        ...finishReasonGaps<LongTraceFacts>({ before: before.punish_ill_formed, after: after.punish_ill_formed }),
        // The recorded F-beta was measured on the text that the recorded recipe chose.
        ...(before.text === after.text ? [] : [{ name: 'recipe.text', isOpen: readsChunks(after) }]),
      ],
    } satisfies VotingComposer<LongTrace>),
  ),
);

function readsChunks(recipe: LongTraceRecipe): (facts: LongTraceFacts) => boolean {
  return (facts) =>
    facts.chunks !== null && (recipe.variant === 'chunks' || facts.entities === null) && !isPunished(facts, recipe);
}
