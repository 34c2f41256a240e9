/**
 * The parts of the dr-tulu family that replay needs: field kinds, named recipes, reward range, `compose` and gaps.
 * Imports no schema, so that a bundle that only composes stays small.
 */

import { contributionsOf } from '../../family/contributions.ts';
import type { FieldKinds } from '../../family/family.ts';
import { withJudgeOptions } from '../../family/judge-options.ts';
import { finishReasonGaps } from '../../family/requirements.ts';
import { withTerms } from '../../family/terms.ts';
import { type VotingComposer, withVotes } from '../../family/with-votes.ts';
import { composeDrTulu, neededByDrTulu } from './compose.ts';
import type { DrTuluFacts } from './facts.ts';
import { drTuluMonitor } from './monitor.ts';
import type { DrTuluRecipe } from './recipe.ts';
import type { DrTuluReply, DrTuluScore } from './reply.ts';
import { combineDrTulu } from './votes.ts';

/** The types of the family. */
export type DrTulu = {
  readonly recipe: DrTuluRecipe;
  readonly facts: DrTuluFacts;
  readonly score: DrTuluScore;
  readonly reply: DrTuluReply;
};

/** The kind of each field. */
const FIELDS = {
  compat: 'measure',
  call_form: 'measure',
  judging: 'measure',
  batch: 'measure',
  template: 'measure',
  evidence: 'measure',
  unverified_evidence: 'compose',
  unverified_quote: 'compose',
  rubric_weight: 'compose',
  citation_weight: 'compose',
  format_weight: 'compose',
  search_turns_weight: 'compose',
  search_turns_bound: 'compose',
  verification_reward: 'compose',
  non_stop_penalty: 'compose',
} as const satisfies FieldKinds<DrTuluRecipe>;

const DR_TULU: DrTuluRecipe = {
  family: 'dr-tulu',
  compat: 'corrected',
  call_form: 'v20250824',
  judging: 'per_criterion',
  rubric_weight: 0.5,
  citation_weight: 0.2,
  format_weight: 0.2,
  search_turns_weight: 0.1,
  search_turns_bound: 3,
  verification_reward: 10,
  non_stop_penalty: { enabled: false, value: 0 },
};

/** The named recipes of the family. */
export const DR_TULU_RECIPES = {
  'dr-tulu': DR_TULU,
  'dr-tulu-exact': { ...DR_TULU, compat: 'exact' },
  'dr-tulu-no-citation': { ...DR_TULU, rubric_weight: 0.6, citation_weight: 0, search_turns_weight: 0.2 },
} as const satisfies Record<string, DrTuluRecipe>;

/** Smallest and largest reward that the recipe can give; `null` = unbounded, because negative weights are unbounded. */
function drTuluRewardRange(recipe: DrTuluRecipe): readonly [number | null, number] {
  const { rubric_weight, citation_weight, format_weight, search_turns_weight, non_stop_penalty } = recipe;
  const top = recipe.verification_reward * (rubric_weight + citation_weight + format_weight + search_turns_weight);
  return [null, non_stop_penalty.enabled ? Math.max(top, non_stop_penalty.value) : top];
}

/** The measure fields that change the rubric judgments only. */
const OF_RUBRIC: ReadonlySet<string> = new Set(['judging', 'batch', 'template', 'evidence']);

/** Whether supported claims were recorded without the check of the judge's quotes. */
function lacksQuotes({ citation }: DrTuluFacts): boolean {
  return (
    citation.status === 'scored' &&
    citation.observed.statements.some((one) => one.cited && one.support > 0 && one.quote === undefined)
  );
}

export const drTuluComposer = withVotes(
  withTerms(
    withJudgeOptions({
      name: 'dr-tulu',
      recipe: { fields: FIELDS, named: DR_TULU_RECIPES, range: drTuluRewardRange },
      compose: composeDrTulu,
      contributions: (score, { non_stop_penalty }) =>
        contributionsOf(
          score,
          ['rubric', 'citation', 'format', 'search_turns'],
          non_stop_penalty.enabled ? ['non_stop_penalty'] : [],
        ),
      groupVote: () => null,
      combine: combineDrTulu,
      monitor: drTuluMonitor,
      // Parts that pay for an answer whatever it says.
      stricter: ({ citation_weight, format_weight, search_turns_weight }) =>
        ({
          citation_weight: citation_weight / 2,
          format_weight: format_weight / 2,
          search_turns_weight: search_turns_weight / 2,
        }) satisfies Partial<DrTuluRecipe>,
      gaps: (before, after, changed) => [
        ...changed
          .filter((field) => field !== 'batch' || after.judging === 'batched')
          .map((field) => ({
            name: `recipe.${field}`,
            isOpen: (facts: DrTuluFacts) => {
              const { rubric, citation } = neededByDrTulu(facts, after);
              return OF_RUBRIC.has(field) ? rubric : field !== 'judge_options' || rubric || citation;
            },
          })),
        ...(after.unverified_quote === 'zero'
          ? [{ name: 'citation.quote', isOpen: (facts: DrTuluFacts) => lacksQuotes(facts) }]
          : []),
        ...finishReasonGaps<DrTuluFacts>({
          before: before.non_stop_penalty.enabled,
          after: after.non_stop_penalty.enabled,
        }),
      ],
    } satisfies VotingComposer<DrTulu>),
  ),
);
