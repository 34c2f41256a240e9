/**
 * Computes the refiner reward from facts and a recipe. Pure, with only + - * /, so the Worker, the command line and the
 * browser compute the same bits.
 */

import type { Component, UnscoredReason } from '../../family/score.ts';
import { composeCitation } from './citation-score.ts';
import { breaksPolicy, needsNoCitation } from './cites.ts';
import type { RefinerFacts } from './facts.ts';
import { findingComponent, findingCost } from './finding-penalty.ts';
import { dividedCriteria, type HoldoutMeans, lacksDraws } from './holdout.ts';
import type { RefinerRecipe } from './recipe.ts';
import type { RefinerScore } from './reply.ts';
import { composeRubric, ownPositives, paddingOf } from './rubric-score.ts';

/** The judged parts of a refiner reward. */
type Judged = 'rubric' | 'citation';

/** Which judgments can change this reward. A failure of any other judgment leaves the reward scored. */
export function neededJudgments(
  facts: Pick<RefinerFacts, 'has_answer' | 'format' | 'finish_reason' | 'cites' | 'abstains'> &
    Partial<Pick<RefinerFacts, 'citation'>>,
  recipe: RefinerRecipe,
): readonly Judged[] {
  if (!facts.has_answer || isPenalised(facts.finish_reason, recipe)) return [];
  if (breaksPolicy(facts, recipe) === true) return [];
  const needed: Judged[] = [];
  const gatedOut = recipe.gate_judge_score_with_format_bonus && facts.format[recipe.mode] === 0;
  const paysRubric = rubricWeight(recipe) > 0 && !gatedOut;
  if (paysRubric || (recipe.citation_weight > 0 && scalesCitation(recipe))) needed.push('rubric');
  if (recipe.citation_weight > 0 && !needsNoCitation(facts, recipe)) needed.push('citation');
  return needed;
}

function isPenalised(finishReason: string | null, recipe: RefinerRecipe): boolean {
  return recipe.non_stop_penalty.enabled && finishReason !== 'stop';
}

/** Whether verdicts of the rubric scale the citation score. */
function scalesCitation(recipe: RefinerRecipe): boolean {
  return recipe.own_positives_required === true || recipe.padding_lowers_citation === true;
}

function rubricWeight(recipe: RefinerRecipe): number {
  return recipe.mix === 'convex' ? 1 - recipe.citation_weight : 1;
}

/**
 * The refiner reward:
 *
 *     no answer, or one that breaks the citation policy -> 0
 *     rubric'  = rubric * format if gated, else rubric
 *     citation is scaled by the own positives met and by 1 - padding, if the recipe says so; of an abstention that needs
 *              no citation it is the own positives met
 *     base     = (1 - w) * rubric' + w * citation  (convex)   or   rubric' + w * citation  (additive)
 *     reward   = verification_reward * base, less the prices of the findings, 0 at least; or the penalty's value where
 *                it applies
 *
 * @throws RangeError on a non-finite result.
 */
export function composeRefiner(facts: RefinerFacts, recipe: RefinerRecipe): RefinerScore {
  const scale = recipe.verification_reward;
  const format = facts.format[recipe.mode];
  const formatComponent: Component = { status: 'scored', value: format, weight: 0, contribution: 0 };
  const penalised = isPenalised(facts.finish_reason, recipe);

  const broken = breaksPolicy(facts, recipe);
  if (!facts.has_answer || broken === true) {
    const none = (weight: number): Component => ({ status: 'scored', value: 0, weight, contribution: 0 });
    return finished({
      family: 'refiner',
      reward: penalised ? recipe.non_stop_penalty.value : 0,
      base: 0,
      status: 'scored',
      reason: null,
      decided_by: penalised ? 'non_stop_penalty' : facts.has_answer ? 'citation_policy' : 'no_answer',
      components: {
        rubric: none(rubricWeight(recipe)),
        citation: none(recipe.citation_weight),
        format: formatComponent,
        ...(recipe.finding_penalty === undefined ? {} : { findings: findingComponent(0, 0) }),
        ...(recipe.holdout === undefined ? {} : holdoutComponents(null, null)),
      },
      details: {
        citation_recall: null,
        citation_precision: null,
        rubric_positive: null,
        rubric_negative: null,
        vacuous_credit: null,
      },
    });
  }

  const divided = dividedCriteria(facts, recipe);
  const rubric = composeRubric(divided.rubric, recipe);
  const needsNone = needsNoCitation(facts, recipe);
  const citation = needsNone ? NO_CITATION_NEEDED : composeCitation(facts, recipe);
  const scaled = citationScale(divided, recipe, needsNone);
  const hasCredit = recipe.citation_not_applicable === 'credit' && typeof scaled !== 'string';
  const credit = hasCredit ? scaled.factor : 0;
  const gated = recipe.gate_judge_score_with_format_bonus;
  const dropped = citation.status === 'not_applicable' && recipe.citation_not_applicable === 'drop';
  // A dropped component gives its weight to the other one. If that one has weight 0, no component is left to score.
  const ownRubricWeight = rubricWeight(recipe);
  const rubricWeightUsed = dropped && ownRubricWeight > 0 ? 1 : ownRubricWeight;
  const citationWeightUsed = dropped ? 0 : recipe.citation_weight;

  const rubricPart: Component =
    gated && format === 0
      ? { status: 'scored', value: 0, weight: rubricWeightUsed, contribution: 0 }
      : rubric.status === 'scored'
        ? weighted(rubric.value, rubricWeightUsed, scale)
        : { status: 'unscored', value: null, weight: rubricWeightUsed, contribution: null, reason: rubric.reason };
  const citationPart = citationComponent(citation, scaled, citationWeightUsed, credit, scale);

  const parts = [rubricPart, citationPart];
  const missing = parts.find((part) => part.status === 'unscored' && part.weight > 0);
  const missingScale = recipe.citation_weight > 0 && typeof scaled === 'string' ? scaled : null;
  const missingPart = missing?.status === 'unscored' ? missing.reason : missingScale;
  const cost = findingCost(facts, recipe);
  const isUnknown = broken === null || cost === null || lacksDraws(facts, recipe);
  const missingReason = isUnknown ? 'not_measured' : missingPart;
  const nothing = dropped && ownRubricWeight === 0;
  const base = missingReason !== null || nothing ? null : sumOfParts(rubricPart, citationPart, credit);
  const reason = penalised || base !== null ? null : (missingReason ?? 'nothing_to_score');
  const paid = base === null ? null : scale * base;
  const charged = paid === null || cost === null ? null : Math.max(paid - cost, 0);
  const reward = penalised ? recipe.non_stop_penalty.value : charged;
  return finished({
    family: 'refiner',
    reward,
    base,
    status: reward === null ? 'unscored' : 'scored',
    reason,
    decided_by: penalised ? 'non_stop_penalty' : reward === null ? null : 'components',
    components: {
      rubric: rubricPart,
      citation: citationPart,
      format: formatComponent,
      ...(recipe.finding_penalty === undefined ? {} : { findings: findingComponent(cost, paid) }),
      ...(recipe.holdout === undefined
        ? {}
        : holdoutComponents(divided.means, rubric.status === 'unscored' ? rubric.reason : null)),
    },
    details: {
      citation_recall: citation.status === 'scored' ? citation.recall : null,
      citation_precision: citation.status === 'scored' ? citation.precision : null,
      rubric_positive: rubric.status === 'scored' ? rubric.positive : null,
      rubric_negative: rubric.status === 'scored' ? rubric.negative : null,
      vacuous_credit: rubric.status === 'scored' ? rubric.vacuousCredit : null,
      ...(typeof scaled === 'string' ? {} : scaled.details),
    },
  });
}

/** What the rubric's verdicts make of the citation score: a factor in [0, 1], and the numbers behind it. */
type CitationScale = { readonly factor: number; readonly details: Pick<Details, 'own_positives' | 'padding'> };
type Details = RefinerScore['details'];

/** An abstention has no padding that would lower its citation score. */
const NO_CITATION_NEEDED = { status: 'scored', value: 1, recall: null, precision: null } as const;

function citationScale(
  { rubric }: Pick<RefinerFacts, 'rubric'>,
  recipe: RefinerRecipe,
  needsNone: boolean,
): CitationScale | UnscoredReason {
  if (!scalesCitation(recipe)) return { factor: 1, details: {} };
  if (rubric.status === 'unscored') return rubric.reason;
  const own = ownPositives(rubric.observed, recipe);
  const padding = paddingOf(rubric.observed, recipe);
  const byOwn = recipe.own_positives_required === true;
  const byPadding = recipe.padding_lowers_citation === true;
  if (byPadding && padding === null) return 'not_measured';
  return {
    factor: (byOwn ? (own ?? 1) : 1) * (byPadding && !needsNone ? 1 - (padding ?? 0) : 1),
    details: { ...(byOwn ? { own_positives: own } : {}), ...(byPadding ? { padding } : {}) },
  };
}

/** The means of the own positive criteria that pay and of those that are held out: watched, and never part of a sum. */
function holdoutComponents(
  means: HoldoutMeans,
  unscored: UnscoredReason | null,
): Pick<RefinerScore['components'], HoldoutComponent> {
  const shown = (value: number | undefined): Component => {
    if (unscored !== null) return { status: 'unscored', value: null, weight: 0, contribution: null, reason: unscored };
    if (value === undefined) return { status: 'not_applicable', value: null, weight: 0, contribution: 0 };
    return { status: 'scored', value, weight: 0, contribution: 0 };
  };
  return { paid_criteria: shown(means?.paid), held_out_criteria: shown(means?.heldOut) };
}

type HoldoutComponent = 'paid_criteria' | 'held_out_criteria';

function weighted(value: number, weight: number, scale: number): Component {
  return { status: 'scored', value, weight, contribution: scale * weight * value };
}

function citationComponent(
  citation: ReturnType<typeof composeCitation> | typeof NO_CITATION_NEEDED,
  scaled: CitationScale | UnscoredReason,
  weight: number,
  credit: number,
  scale: number,
): Component {
  const unscored = (reason: UnscoredReason): Component => {
    return { status: 'unscored', value: null, weight, contribution: null, reason };
  };
  if (citation.status === 'unscored') return unscored(citation.reason);
  if (typeof scaled === 'string') return unscored(scaled);
  if (citation.status === 'scored') return weighted(citation.value * scaled.factor, weight, scale);
  return { status: 'not_applicable', value: null, weight, contribution: scale * weight * credit };
}

/** Weighted sum of the components with weight, which are all known here. */
function sumOfParts(rubric: Component, citation: Component, credit: number): number {
  let base = 0;
  if (rubric.weight > 0 && rubric.status === 'scored') base += rubric.weight * rubric.value;
  if (citation.weight > 0) {
    if (citation.status === 'scored') base += citation.weight * citation.value;
    else if (citation.status === 'not_applicable') base += citation.weight * credit;
  }
  return base;
}

function finished(score: RefinerScore): RefinerScore {
  const numbers = [score.reward, score.base, score.components.rubric.value, score.components.citation.value];
  if (numbers.some((value) => value !== null && !Number.isFinite(value))) {
    throw new RangeError('composeRefiner: a non-finite number; check the facts and the recipe');
  }
  return score;
}
