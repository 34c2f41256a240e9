/**
 * The whole reward of rlresearch/dr-tulu 6188f34c (`longform_rubric_rewards.py`): `planExact` lists the questions about
 * a response, `exactReward` computes the reward from any judge's answers.
 */
import { PAYMENT, type Payment, weigh } from '../terms/final-reward.ts';
import { searchTurnsTerm } from '../terms/reward-terms.ts';
import type { CallForm } from '../terms/transcript.ts';
import { type CitationPlan, type ClaimAnswer, citationScore, planCitations } from './citation-score.ts';
import { hasCitation } from './claims.ts';
import { countQueries, extractQueries } from './queries.ts';
import { type CitationPrompt, type RecordedReply, readClaimAnswer, readCriterionScore } from './replies.ts';
import {
  type ExactCriterion,
  type RubricSet,
  type RubricVariant,
  rubricCriteria,
  rubricScore,
} from './rubric-score.ts';
import { type AnswerScope, extractTranscript } from './transcript.ts';

const ANSWER_SHARE = 0.5;
const CITATION_SHARE = 0.3;
const QUERY_SHARE = 0.2;

/**
 * 0.5 for a closed answer + 0.3 for a citation + 0.2 for a query, [0, 1], over the whole response.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - with the whole response as the answer it is 1, whatever the text;
 * - a citation whose claim contains `<` earns nothing; one whose claim or quotes are unreadable later earns its share.
 */
export function formatReward(response: string, form: CallForm, scope: AnswerScope = 'block'): number {
  if (scope === 'whole_response') return 1;
  return (
    (extractTranscript(response).answer === null ? 0 : ANSWER_SHARE) +
    (hasCitation(response) ? CITATION_SHARE : 0) +
    (extractQueries(response, form).length > 0 ? QUERY_SHARE : 0)
  );
}

type ExactRollout = {
  /** The whole transcript: thinking, calls, tool output and answer. */
  readonly response: string;
  readonly rubrics: RubricSet;
  readonly variant: RubricVariant;
  readonly form: CallForm;
  /** `false`: the plan asks nothing about citations, so the reward has no citation term. */
  readonly citations: boolean;
};

type ExactPlan = {
  readonly rollout: ExactRollout;
  /** The text that the rubric judge sees; `null` = no answer, so the rubric judge is not asked. */
  readonly answer: string | null;
  /** All criteria of the rollout. */
  readonly criteria: readonly ExactCriterion[];
  /** The criteria that the judge is asked about. */
  readonly asked: readonly ExactCriterion[];
  readonly citations: CitationPlan;
  /** Format term, [0, 1]. */
  readonly format: number;
  /** Search queries in the context; 0 without an answer. */
  readonly queries: number;
};

/**
 * Computes the parts that need no judge, and lists the questions. Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - citations are judged in the whole transcript, tool output and tags included, not in the answer.
 */
export function planExact(rollout: ExactRollout): ExactPlan {
  const { response, form } = rollout;
  const { context, answer, sources } = extractTranscript(response);
  const criteria = rubricCriteria(rollout.rubrics, rollout.variant);
  return {
    rollout,
    answer,
    criteria,
    asked: answer === null ? [] : criteria,
    citations: planCitations(response, rollout.citations && sources !== null ? sources : new Map()),
    format: formatReward(response, form),
    queries: countQueries(context, form),
  };
}

type ExactAnswers = {
  /** One score on the judge's scale for each criterion of `ExactPlan.asked`; `null` = the judge failed. */
  readonly criteria: readonly (number | null)[];
  /** One answer for each question of `ExactPlan.citations`; `null` = the judge failed. */
  readonly claims: readonly (ClaimAnswer | null)[];
};

/** The reward with the values that the reference logs; the field names are those of rlresearch/dr-tulu. */
type ExactReward = {
  readonly reward: number;
  readonly log_values: {
    readonly format_correct_has_answer: number;
    readonly rubric_reward: number;
    readonly citation_reward: number;
    readonly format_reward: number;
    readonly num_search_turns_reward: number;
    readonly num_rubrics: number;
    readonly persistent_rubric_reward: number;
    readonly adaptive_rubric_reward: number;
    /** Scores by criterion key; the reference's name is misleading. */
    readonly rubric_scores_by_title: Readonly<Record<string, number>>;
    readonly per_rubric_rewards: Readonly<Record<string, readonly number[]>>;
  };
  /** The response has no answer; it still has a reward. */
  readonly error: string | null;
};

/**
 * The reward and the values that the reference logs with it: 0.5 rubric + 0.2 citation + 0.2 format + 0.1 search turns,
 * or the shares of `payment` (`PAYMENT_WITHOUT_CITATION` if citations were not asked about). `null` if an answer is
 * `null`; only `recordedAnswers` turns a failed judgment into a number. Source: rlresearch/dr-tulu 6188f34c. Defects
 * kept:
 * - without a closed answer only the format term is paid: the search turns are lost with the context;
 * - the rubric term is not clamped, and can outweigh all others.
 * @throws RangeError if answers are missing or a number is not finite.
 */
export function exactReward(plan: ExactPlan, answers: ExactAnswers, payment: Payment = PAYMENT): ExactReward | null {
  if (answers.criteria.length !== plan.asked.length) throw new RangeError('exactReward: one score a criterion asked');
  const hasAnswer = plan.answer !== null;
  const rubric = rubricScore(plan.criteria, hasAnswer ? answers.criteria : plan.criteria.map(() => 0));
  const citation = citationScore(plan.citations, answers.claims);
  if (rubric === null || citation === null) return null;
  const searchTurns = searchTurnsTerm(plan.queries, payment.searchTurnsBound);
  const reward = weigh({ rubric: rubric.overall, citation, format: plan.format, searchTurns }, payment.shares);
  if (reward === null) return null;
  return {
    reward,
    log_values: {
      format_correct_has_answer: hasAnswer ? 1 : 0,
      rubric_reward: rubric.overall,
      citation_reward: citation,
      format_reward: plan.format,
      num_search_turns_reward: searchTurns,
      num_rubrics: plan.rollout.rubrics.rubrics.length,
      persistent_rubric_reward: rubric.persistent,
      adaptive_rubric_reward: rubric.adaptive,
      rubric_scores_by_title: rubric.scores_by_key,
      per_rubric_rewards: rubric.per_rubric_rewards,
    },
    error: hasAnswer ? null : 'Failed to extract answer from response',
  };
}

/** Recorded replies of the reference's own judges. */
type RecordedReplies = {
  criterion(criterion: string): RecordedReply;
  claim(prompt: CitationPrompt, claim: string): RecordedReply;
};

/** Reads the answers from recorded replies; a failed or unreadable reply is 0 (replies.ts). */
export function recordedAnswers(plan: ExactPlan, replies: RecordedReplies): ExactAnswers {
  return {
    criteria: plan.asked.map(({ criterion }) => readCriterionScore(replies.criterion(criterion))),
    claims: plan.citations.questions.map((question) =>
      readClaimAnswer(question, (prompt) => replies.claim(prompt, question.claim)),
    ),
  };
}
