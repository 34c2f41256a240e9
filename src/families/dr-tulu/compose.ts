/** Computes the dr-tulu reward from facts and a recipe. Pure. Both compat modes use this formula. */
import { countedScore, countedSupport } from '../../family/criterion-evidence.ts';
import type { Observed } from '../../family/facts.ts';
import type { Component, UnscoredReason } from '../../family/score.ts';
import type { DrTuluFacts, DrTuluStatementFact } from './facts.ts';
import type { DrTuluRecipe } from './recipe.ts';
import type { DrTuluScore } from './reply.ts';
import { weigh } from './terms/final-reward.ts';
import { rubricTerm, searchTurnsTerm } from './terms/reward-terms.ts';

const CLAIM_SHARE = 0.6;
const VALID_ID_SHARE = 0.4;

/** Which judgments can change this reward. A failure of any other judgment leaves the reward scored. */
export function neededByDrTulu(
  { has_answer, finish_reason }: Pick<DrTuluFacts, 'has_answer' | 'finish_reason'>,
  recipe: DrTuluRecipe,
): { readonly rubric: boolean; readonly citation: boolean } {
  const open = has_answer && !isPenalised(finish_reason, recipe);
  return { rubric: open && recipe.rubric_weight > 0, citation: open && recipe.citation_weight > 0 };
}

function isPenalised(finishReason: string | null, recipe: DrTuluRecipe): boolean {
  return recipe.non_stop_penalty.enabled && finishReason !== 'stop';
}

type Term = { readonly value: number } | { readonly reason: UnscoredReason };

/** Mean F1 over claims and uncited parts, [0, 1]; 0 without any. */
function claimF1(statements: readonly DrTuluStatementFact[], recipe: DrTuluRecipe): number {
  let sum = 0;
  for (const statement of statements) sum += statementF1(statement, recipe);
  return statements.length === 0 ? 0 : sum / statements.length;
}

function statementF1(statement: DrTuluStatementFact, recipe: DrTuluRecipe): number {
  if (!statement.cited) return statement.needs_citation ? 0 : 1;
  const support = countedSupport(statement, recipe);
  const { relevance } = statement;
  return support + relevance > 0 ? (2 * support * relevance) / (support + relevance) : 0;
}

/** What each claim and uncited part adds to the citation term, in order: its F1 in the mean, by the weight of the mean. */
export function statementParts({ citation }: Pick<DrTuluFacts, 'citation'>, recipe: DrTuluRecipe): readonly number[] {
  if (citation.status === 'unscored') return [];
  const { statements } = citation.observed;
  return statements.map((statement) => (CLAIM_SHARE * statementF1(statement, recipe)) / statements.length);
}

function term<T>(part: Observed<T>, value: (observed: T) => number): Term {
  return part.status === 'scored' ? { value: value(part.observed) } : { reason: part.reason };
}

/**
 *     rubric       = sum(s * w) / max(sum of positive w, 1), s = score / 2, unclamped
 *     citation     = 0.6 * mean claim F1 + 0.4 * valid id ratio; 0 without a claim or uncited part
 *     search_turns = min(queries / bound, 1)
 *     base         = the four terms by their weights; without an answer rubric and citation are 0
 *     reward       = verification_reward * base, or the penalty's value where it applies
 *
 * @throws RangeError on a non-finite result.
 */
export function composeDrTulu(facts: DrTuluFacts, recipe: DrTuluRecipe): DrTuluScore {
  const none: Term = { value: 0 };
  const rubric = facts.has_answer
    ? term(facts.rubric, (criteria) => {
        const counted = criteria.map((one) => ({ ...one, score: countedScore(one, recipe) }));
        const value = rubricTerm(counted);
        if (value === null) throw new Error('composeDrTulu: a scored rubric without a score');
        return value;
      })
    : none;
  const citation = facts.has_answer
    ? term(facts.citation, ({ statements, valid_id_ratio }) =>
        statements.length === 0 ? 0 : CLAIM_SHARE * claimF1(statements, recipe) + VALID_ID_SHARE * valid_id_ratio,
      )
    : none;
  const searchTurns = searchTurnsTerm(facts.queries, recipe.search_turns_bound);
  const shares = {
    rubric: recipe.rubric_weight,
    citation: recipe.citation_weight,
    format: recipe.format_weight,
    searchTurns: recipe.search_turns_weight,
  };
  const terms = { rubric: numberOf(rubric), citation: numberOf(citation), format: facts.format, searchTurns };
  const base = weigh(terms, shares);
  const penalised = isPenalised(facts.finish_reason, recipe);
  const scale = recipe.verification_reward;
  const reward = penalised ? recipe.non_stop_penalty.value : base === null ? null : scale * base;
  if (reward !== null && !Number.isFinite(reward)) throw new RangeError('composeDrTulu: a non-finite reward');
  const lost = [rubric, citation].find(
    (part, n) => 'reason' in part && (n === 0 ? shares.rubric : shares.citation) > 0,
  );
  const part = (one: Term, weight: number): Component =>
    'value' in one
      ? { status: 'scored', value: one.value, weight, contribution: scale * weight * one.value }
      : { status: 'unscored', value: null, weight, contribution: null, reason: one.reason };
  return {
    family: 'dr-tulu',
    reward,
    base,
    status: reward === null ? 'unscored' : 'scored',
    reason: reward === null && lost !== undefined && 'reason' in lost ? lost.reason : null,
    decided_by: penalised ? 'non_stop_penalty' : reward === null ? null : facts.has_answer ? 'components' : 'no_answer',
    components: {
      rubric: part(rubric, shares.rubric),
      citation: part(citation, shares.citation),
      format: part({ value: facts.format }, shares.format),
      search_turns: part({ value: searchTurns }, shares.searchTurns),
    },
    details: {
      compat: facts.compat,
      claim_f1: facts.citation.status === 'scored' ? claimF1(facts.citation.observed.statements, recipe) : null,
      valid_id_ratio: facts.citation.status === 'scored' ? facts.citation.observed.valid_id_ratio : null,
      queries: facts.queries,
    },
  };
}

function numberOf(one: Term): number | null {
  return 'value' in one ? one.value : null;
}
