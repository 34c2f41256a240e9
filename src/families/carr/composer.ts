/**
 * The parts of the carr family that replay needs: field kinds, named recipes, reward range, `compose` and gaps. Imports
 * no schema, so that a bundle that only composes stays small.
 */
import type { FieldKinds } from '../../family/family.ts';
import { withJudgeOptions } from '../../family/judge-options.ts';
import { finishReasonGaps } from '../../family/requirements.ts';
import { withTerms } from '../../family/terms.ts';
import { type VotingComposer, withVotes } from '../../family/with-votes.ts';
import { carrSummands, carrVote, composeCarr, isPunished, readsCriteria } from './compose.ts';
import type { CarrFacts } from './facts.ts';
import { carrMonitor } from './monitor.ts';
import type { CarrRecipe } from './recipe.ts';
import type { CarrReply, CarrScore } from './reply.ts';
import { combineCarr } from './votes.ts';

/** The types of the family. */
export type Carr = {
  readonly recipe: CarrRecipe;
  readonly facts: CarrFacts;
  readonly score: CarrScore;
  readonly reply: CarrReply;
};

/** The kind of each field. */
const FIELDS = {
  outcome_template: 'measure',
  compat: 'measure',
  variant: 'compose',
  eta: 'compose',
  normalisation: 'compose',
  connected: 'compose',
  punish_ill_formed: 'compose',
} as const satisfies FieldKinds<CarrRecipe>;

const CARR: CarrRecipe = {
  family: 'carr',
  compat: 'corrected',
  variant: 'positive_only',
  eta: 0.3,
  normalisation: 'normalised',
  connected: true,
  punish_ill_formed: true,
};

/** The named recipes of the family. */
export const CARR_RECIPES = {
  carr: CARR,
  'carr-0.3-normal-rop': { ...CARR, normalisation: 'published' },
  'carr-exact': { ...CARR, compat: 'exact', normalisation: 'published' },
} as const satisfies Record<string, CarrRecipe>;

export const carrComposer = withVotes(
  withTerms(
    withJudgeOptions({
      name: 'carr',
      recipe: { fields: FIELDS, named: CARR_RECIPES, range: (): readonly [number, number] => [0, 1] },
      compose: composeCarr,
      contributions: carrSummands,
      groupVote: carrVote,
      combine: combineCarr,
      judgedOutcome: ({ outcome }) => (outcome.status === 'scored' ? outcome.observed : null),
      monitor: carrMonitor,
      stricter: ({ eta }) =>
        ({
          variant: 'positive_only',
          connected: true,
          punish_ill_formed: true,
          eta: eta / 2,
        }) satisfies Partial<CarrRecipe>,
      gaps: (before, after, changed) => [
        ...changed.map((field) => ({ name: `recipe.${field}`, isOpen: () => true })),
        ...finishReasonGaps<CarrFacts>({ before: before.punish_ill_formed, after: after.punish_ill_formed }),
        // A recipe of weight 0 needs no criteria of its rows.
        ...(readsCriteria(before) || !readsCriteria(after)
          ? []
          : [
              {
                name: 'rollout.entity_rubrics',
                isOpen: (facts: CarrFacts) => facts.criteria.length === 0 && !isPunished(facts, after),
              },
            ]),
      ],
    } satisfies VotingComposer<Carr>),
  ),
);
