/**
 * The parts of the refiner family that replay needs: field kinds, named recipes, reward range, `compose` and gaps.
 * Imports no schema, so that a bundle that only composes stays small.
 */

import { contributionsOf } from '../../family/contributions.ts';
import type { FieldKinds } from '../../family/family.ts';
import { withJudgeOptions } from '../../family/judge-options.ts';
import { finishReasonGaps } from '../../family/requirements.ts';
import { withTerms } from '../../family/terms.ts';
import { type VotingComposer, withVotes } from '../../family/with-votes.ts';
import { citationPolicyGaps } from './cites.ts';
import { composeRefiner, neededJudgments } from './compose.ts';
import type { RefinerFacts } from './facts.ts';
import { findingGaps, pricedFindings } from './finding-penalty.ts';
import { holdoutGaps } from './holdout.ts';
import { refinerMonitor, stricterRefiner } from './monitor.ts';
import type { RefinerRecipe } from './recipe.ts';
import type { RefinerReply, RefinerScore } from './reply.ts';
import { combineRefiner } from './votes.ts';

/** The types of the family. */
export type Refiner = {
  readonly recipe: RefinerRecipe;
  readonly facts: RefinerFacts;
  readonly score: RefinerScore;
  readonly reply: RefinerReply;
};

/** The kind of each field. */
const FIELDS = {
  judging: 'measure',
  batch: 'measure',
  template: 'measure',
  evidence: 'measure',
  unverified_evidence: 'compose',
  judge_static: 'measure',
  verbatim_gate: 'measure',
  answer: 'measure',
  grammar: 'measure',
  citations: 'compose',
  mode: 'compose',
  citation_weight: 'compose',
  mix: 'compose',
  gate_judge_score_with_format_bonus: 'compose',
  instance_rubrics_only: 'compose',
  static_weight: 'compose',
  negatives_require_positive: 'compose',
  own_positives_required: 'compose',
  padding_lowers_citation: 'compose',
  abstentions_need_no_citation: 'compose',
  holdout: 'compose',
  dropout: 'compose',
  verification_reward: 'compose',
  non_stop_penalty: 'compose',
  citation_metric: 'compose',
  uncited_ok: 'compose',
  citation_not_applicable: 'compose',
  unverified_quote: 'compose',
  finding_penalty: 'compose',
  ask_contradiction: 'measure',
  contradiction: 'compose',
} as const satisfies FieldKinds<RefinerRecipe>;

const GPT54_INSTANCE_RUBRIC: RefinerRecipe = {
  family: 'refiner',
  judging: 'joint',
  judge_static: true,
  verbatim_gate: true,
  answer: 'first',
  mode: 'full',
  citation_weight: 0.2,
  mix: 'convex',
  gate_judge_score_with_format_bonus: false,
  instance_rubrics_only: false,
  static_weight: 1,
  negatives_require_positive: false,
  verification_reward: 10,
  non_stop_penalty: { enabled: false, value: 0 },
  citation_metric: 'answer_f1',
  uncited_ok: 'exclude',
  citation_not_applicable: 'zero',
  unverified_quote: 'keep',
};

/**
 * Markup that cites nothing takes half a point of 10, so the clean answer always earns more. A claim that cites all
 * sources takes more: the rubric pays a right answer whatever it cites.
 */
const FINDING_PRICES = {
  ids_shotgun: 0.75,
  ...{ id_in_prose: 0.5, citation_empty_claim: 0.5, citation_no_id: 0.5, citation_id_malformed: 0.5 },
  ...{ citation_unclosed: 0.5, citation_nested: 0.5, citation_stray_close: 0.5, citation_outside_answer: 0.5 },
} as const;

/** The named recipes of the family. */
export const REFINER_RECIPES = {
  'refiner-gpt54-instance-rubric': GPT54_INSTANCE_RUBRIC,
  'refiner-gpt54-instance-only': { ...GPT54_INSTANCE_RUBRIC, instance_rubrics_only: true },
  'refiner-rl-balanced': { ...GPT54_INSTANCE_RUBRIC, mode: 'answer_only', citation_weight: 0.5 },
  'refiner-guarded': {
    ...GPT54_INSTANCE_RUBRIC,
    citations: 'required',
    mode: 'answer_only',
    citation_weight: 0.6,
    negatives_require_positive: true,
    own_positives_required: true,
    padding_lowers_citation: true,
    abstentions_need_no_citation: true,
    citation_metric: 'precision_squared',
    finding_penalty: FINDING_PRICES,
  },
} as const satisfies Record<string, RefinerRecipe>;

/** Smallest and largest reward that the recipe can give. */
export function refinerRewardRange(recipe: RefinerRecipe): readonly [number, number] {
  const top = recipe.verification_reward * (recipe.mix === 'additive' ? 1 + recipe.citation_weight : 1);
  const penalty = recipe.non_stop_penalty;
  return penalty.enabled ? [Math.min(0, penalty.value), Math.max(top, penalty.value)] : [0, top];
}

/**
 * Maps a measure field to the judgment that it changes, for fields that change one judgment only. `answer` is left out,
 * because it can change every judgment.
 */
const ASKED_FOR: ReadonlyMap<string, 'rubric' | 'citation'> = new Map([
  ['judging', 'rubric'],
  ['batch', 'rubric'],
  ['template', 'rubric'],
  ['evidence', 'rubric'],
  ['judge_static', 'rubric'],
  ['verbatim_gate', 'citation'],
  ['ask_contradiction', 'citation'],
]);

export const refinerComposer = withVotes(
  withTerms(
    withJudgeOptions({
      name: 'refiner',
      recipe: { fields: FIELDS, named: REFINER_RECIPES, range: refinerRewardRange },
      compose: composeRefiner,
      contributions: (score, { non_stop_penalty, finding_penalty }) =>
        contributionsOf(
          score,
          ['rubric', 'citation', ...(finding_penalty === undefined ? [] : ['findings'])],
          non_stop_penalty.enabled ? ['non_stop_penalty'] : [],
        ),
      groupVote: () => null,
      combine: combineRefiner,
      withFindings: (facts, counts) =>
        facts.findings === undefined ? { ...facts, findings: pricedFindings(counts) } : facts,
      monitor: refinerMonitor,
      stricter: stricterRefiner,
      gaps: (before, after, changed) => [
        ...changed
          .filter((field) => field !== 'batch' || after.judging === 'batched')
          .filter((field) => field !== 'ask_contradiction' || !before[field] !== !after[field])
          .filter((field) => field !== 'grammar' || (before.grammar ?? 'snippet') !== (after.grammar ?? 'snippet'))
          .map((field) => {
            const part = ASKED_FOR.get(field);
            return {
              name: `recipe.${field}`,
              isOpen: (facts: RefinerFacts) => {
                const needed = neededJudgments(facts, after);
                return part === undefined ? field !== 'judge_options' || needed.length > 0 : needed.includes(part);
              },
            };
          }),
        ...holdoutGaps(after),
        ...citationPolicyGaps(after),
        ...findingGaps(after),
        ...finishReasonGaps<RefinerFacts>({
          before: before.non_stop_penalty.enabled,
          after: after.non_stop_penalty.enabled,
        }),
      ],
    } satisfies VotingComposer<Refiner>),
  ),
);
