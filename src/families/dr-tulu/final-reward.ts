/**
 * The dr-tulu reward from its four terms (REWARDS.md section 5.4), corrected. Source of the shares and the bound:
 * rlresearch/dr-tulu 6188f34c, `longform_rubric_rewards.py`.
 */
import { formatTerm, searchTurnsTerm } from './reward-terms.ts';
import { type CallForm, readQueries, readTranscript } from './transcript.ts';

/** What each term pays. */
export type RewardShares = {
  readonly rubric: number;
  readonly citation: number;
  readonly format: number;
  readonly searchTurns: number;
};

export type Payment = {
  readonly shares: RewardShares;
  /** Search queries that earn the whole term. */
  readonly searchTurnsBound: number;
};

export const PAYMENT: Payment = {
  shares: { rubric: 0.5, citation: 0.2, format: 0.2, searchTurns: 0.1 },
  searchTurnsBound: 3,
};

/** The same with `no_citation_reward`. */
export const PAYMENT_WITHOUT_CITATION: Payment = {
  shares: { rubric: 0.6, citation: 0, format: 0.2, searchTurns: 0.2 },
  searchTurnsBound: PAYMENT.searchTurnsBound,
};

/** What can be said of a response without a judge. */
export type ResponseFacts = {
  readonly hasAnswer: boolean;
  /** Its own format term, [0, 1]. */
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
export type JudgedTerms = { readonly rubric: number | null; readonly citation: number | null };

export type RewardTerms = JudgedTerms & { readonly format: number; readonly searchTurns: number };

export type FinalReward = {
  /** sum(share * term); unclamped, since the rubric term is. `null` if a term that pays is. */
  readonly reward: number | null;
  readonly terms: RewardTerms;
};

/**
 * The reward of a response. Without a closed answer its rubric and citation terms are 0, whatever was judged, and format
 * and search turns are still paid.
 *
 * Where exact/final-reward.ts differs: it loses the search turns together with the answer, since it finds queries only in
 * the context before one; it judges citations in the whole transcript instead of the answer; and its recorded replies
 * make a 0 of a failed judgment, which leaves the reward `null` here.
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
 * sum(share * term). `null` if a term with a share is; a term without one is not looked at.
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
