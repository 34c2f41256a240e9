/**
 * The corrected dr-tulu reward, computed from its four terms. Source of the shares and the bound:
 * rlresearch/dr-tulu 6188f34c, `longform_rubric_rewards.py`.
 */
import { formatTerm, searchTurnsTerm } from './reward-terms.ts';
import { type CallForm, readQueries, readTranscript } from './transcript.ts';

/** The weight of each term. */
type RewardShares = {
  readonly rubric: number;
  readonly citation: number;
  readonly format: number;
  readonly searchTurns: number;
};

export type Payment = {
  readonly shares: RewardShares;
  /** Number of search queries that earns the full term. */
  readonly searchTurnsBound: number;
};

export const PAYMENT: Payment = {
  shares: { rubric: 0.5, citation: 0.2, format: 0.2, searchTurns: 0.1 },
  searchTurnsBound: 3,
};

/** The payment with `no_citation_reward`. */
export const PAYMENT_WITHOUT_CITATION: Payment = {
  shares: { rubric: 0.6, citation: 0, format: 0.2, searchTurns: 0.2 },
  searchTurnsBound: PAYMENT.searchTurnsBound,
};

/** The facts of a response that need no judge. */
type ResponseFacts = {
  readonly hasAnswer: boolean;
  /** dr-tulu's own format term, [0, 1]. */
  readonly format: number;
  /** Search queries in the context before the answer; without an answer, in the whole response. */
  readonly queries: number;
};

export function responseFacts(response: string, form: CallForm): ResponseFacts {
  const { context } = readTranscript(response);
  return {
    hasAnswer: context !== null,
    format: formatTerm(response, form),
    queries: readQueries(context ?? response, form).length,
  };
}

/** `rubricTerm` and `citationTerm`; `null` = a judgment failed. */
type JudgedTerms = { readonly rubric: number | null; readonly citation: number | null };

type RewardTerms = JudgedTerms & { readonly format: number; readonly searchTurns: number };

type FinalReward = {
  /** sum(share * term), unclamped like the rubric term. `null` if a term with a share is `null`. */
  readonly reward: number | null;
  readonly terms: RewardTerms;
};

/**
 * The reward of a response. Without a closed answer the rubric and citation terms are 0, and format and search turns
 * are still paid.
 *
 * exact/final-reward.ts differs: a response without an answer loses its search turns, because the reference reads
 * queries only in the context before an answer; citations are judged in the whole transcript instead of the answer; and
 * a failed judgment in recorded replies is 0, whereas here it leaves the reward `null`.
 * @throws RangeError on a non-finite result.
 */
export function finalReward(facts: ResponseFacts, judged: JudgedTerms, payment: Payment = PAYMENT): FinalReward {
  const terms: RewardTerms = {
    rubric: facts.hasAnswer ? judged.rubric : 0,
    citation: facts.hasAnswer ? judged.citation : 0,
    format: facts.format,
    searchTurns: searchTurnsTerm(facts.queries, payment.searchTurnsBound),
  };
  return { reward: weigh(terms, payment.shares), terms };
}

/**
 * sum(share * term). `null` if a term with a share is `null`; terms without a share are ignored.
 * @throws RangeError on a non-finite result.
 */
export function weigh(terms: RewardTerms, shares: RewardShares): number | null {
  let reward = 0;
  for (const name of ['rubric', 'citation', 'format', 'searchTurns'] as const) {
    if (shares[name] === 0) continue;
    const term = terms[name];
    if (term === null) return null;
    reward += shares[name] * term;
  }
  if (!Number.isFinite(reward)) throw new RangeError('dr-tulu reward: a non-finite term or share');
  return reward;
}
