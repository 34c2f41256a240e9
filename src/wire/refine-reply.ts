/** Builds the reply of `POST /v1/refine`: decides which candidates are scored, and orders them. */
import { Offsets, withOffsets } from '../citations/offset-units.ts';
import { sourcesOf } from '../citations/sources.ts';
import type { Verification } from '../citations/verify.ts';
import type { Rollout } from '../family/rollout.ts';
import type { Aborted, FinishedCandidate } from '../generation/candidate.ts';
import type { Generator } from '../generation/generator.ts';
import type { RefinedCandidates } from '../generation/refine.ts';
import { candidateRollout, type RefinePlan } from '../generation/refine-plan.ts';
import type { InputProblem } from '../input-problem.ts';
import type { TokenUsage } from '../judgments/protocol/failure.ts';
import type { Result } from '../result.ts';
import { advantages, type GroupAdvantages } from '../scoring/advantages.ts';
import type { CANDIDATE_UNSCORED_REASONS, RefineRequest } from './refine.ts';
import type { ScoreResponse } from './score.ts';
import { scoreWithOffsets } from './score-offsets.ts';

/** The part of the reply that is known before the first candidate. */
export type RefineStart = {
  readonly generator: string;
  readonly model: string;
  readonly prompt_tokens: number;
  readonly cut: { readonly kept_chars: number; readonly chars: number } | null;
  /** The text that the policy saw, if the request gave sources. */
  readonly tool_output?: string;
};

type CandidateReply = {
  readonly index: number;
  readonly response: string;
  readonly thinking?: string;
  readonly finish_reason: string | null;
  readonly aborted: Aborted | null;
  readonly verification: Verification;
} & Partial<CandidateScore>;

type CandidateScore = {
  readonly reward: number | null;
  readonly status: ScoreResponse['status'];
  readonly reason: ScoreResponse['reason'] | (typeof CANDIDATE_UNSCORED_REASONS)[number];
  readonly score: ScoreResponse | null;
  readonly advantage: number;
  readonly masked: boolean;
};

export type RefineReply = RefineStart & {
  readonly candidates: readonly CandidateReply[];
  readonly sampling: RefineRequest['sampling'];
  readonly usage: TokenUsage | null;
  readonly group?: Pick<GroupAdvantages, 'mean' | 'std' | 'valid' | 'degenerate'>;
  readonly recipe?: ScoreResponse['recipe'];
};

export function refineStart(
  { request, prompt, prompt_tokens }: RefinePlan<RefineRequest>,
  generator: Generator,
): RefineStart {
  const { name, model } = generator;
  const start = { generator: name, model, prompt_tokens, cut: prompt.cut };
  return request.sources === undefined ? start : { ...start, tool_output: prompt.tool_output };
}

/**
 * The candidates to score as one group. Stopped candidates are incomplete, and too large ones exceed the judge's
 * limits.
 */
export function scoredRollouts(
  { request, prompt, recipe }: RefinePlan<RefineRequest>,
  candidates: readonly FinishedCandidate[],
): Rollout[] {
  if (recipe === null) return [];
  return candidates.flatMap((candidate): Rollout[] =>
    isScored(candidate)
      ? [candidateRollout(request, prompt.tool_output, candidate.response, candidate.finish_reason)]
      : [],
  );
}

function isScored(candidate: FinishedCandidate): candidate is FinishedCandidate & { readonly finish_reason: string } {
  return candidate.fits && candidate.finish_reason !== null;
}

/** Builds the whole reply. @param scores of `scoredRollouts`, in its order. @throws Error if the counts differ. */
export function refineReply(
  plan: RefinePlan<RefineRequest>,
  generator: Generator,
  { candidates, usage }: RefinedCandidates,
  scores: readonly ScoreResponse[],
): Result<RefineReply, readonly InputProblem[]> {
  const { request, recipe } = plan;
  const common = { ...refineStart(plan, generator), sampling: request.sampling, usage };
  if (recipe === null) {
    const ordered = candidates.toSorted((a, b) => byVerification(a, b, request.mode));
    return { ok: true, value: { ...common, candidates: ordered.map((candidate) => plainReply(candidate, plan)) } };
  }
  const left = scores.values();
  const outcomes = candidates.map((candidate) => outcomeOf(candidate, plan, left));
  if (left.next().done !== true) throw new Error('refineReply: more scores than candidates');
  const result = advantages(
    outcomes.map(({ reward }) => reward),
    request.advantages,
  );
  if (!result.ok) return result;
  const { mean, std, valid, degenerate } = result.value;
  const { name, digest, reward_range } = recipe;
  const replies = candidates.map((candidate, position): CandidateReply & CandidateScore => {
    const outcome = outcomes[position];
    const own = result.value.advantages[position];
    if (outcome === undefined || own === undefined) throw new Error('refineReply: a candidate was lost');
    return { ...plainReply(candidate, plan), ...outcome, advantage: own.advantage, masked: own.masked };
  });
  return {
    ok: true,
    value: {
      ...common,
      candidates: replies.toSorted(byReward),
      group: { mean, std, valid, degenerate },
      recipe: { name, digest, reward_range: [reward_range[0], reward_range[1]] },
    },
  };
}

function plainReply(
  { index, response, thinking, finish_reason, aborted, verification }: FinishedCandidate,
  { request, prompt }: RefinePlan<RefineRequest>,
): CandidateReply {
  const reply = { index, response, ...(thinking === null ? {} : { thinking }), finish_reason, aborted, verification };
  const unit = request.offsets;
  if (unit === 'utf16') return reply;
  const { tool_output } = prompt;
  const sources = sourcesOf({ tool_output }).list.map(({ text }) => text);
  return {
    ...reply,
    aborted: aborted === null ? null : { ...aborted, span: new Offsets(response, unit).span(aborted.span) },
    verification: withOffsets(unit, verification, { response, tool_output, sources }),
  };
}

type Outcome = Pick<CandidateScore, 'reward' | 'status' | 'reason' | 'score'>;

function outcomeOf(
  candidate: FinishedCandidate,
  { request, prompt }: RefinePlan<RefineRequest>,
  scores: IterableIterator<ScoreResponse>,
): Outcome {
  if (!isScored(candidate)) {
    const reason = candidate.aborted === null ? 'response_too_large' : 'aborted';
    return { reward: null, status: 'unscored', reason, score: null };
  }
  const { done, value: score } = scores.next();
  if (done === true) throw new Error('refineReply: fewer scores than candidates');
  const rollout = candidateRollout(request, prompt.tool_output, candidate.response, candidate.finish_reason);
  const { reward, status, reason } = score;
  return { reward, status, reason, score: scoreWithOffsets(request.offsets, score, rollout) };
}

/** Compares two candidates for sorting: largest reward first, unscored last, ties by index. */
function byReward(a: CandidateScore & CandidateReply, b: CandidateScore & CandidateReply): number {
  if (a.reward === null || b.reward === null) {
    return Number(a.reward === null) - Number(b.reward === null) || a.index - b.index;
  }
  return b.reward - a.reward || a.index - b.index;
}

/**
 * Compares two candidates for sorting by their verification: stopped candidates last; then well-formed first, fewer
 * invented ids, larger share of cited statements, index.
 */
function byVerification(a: FinishedCandidate, b: FinishedCandidate, mode: RefineRequest['mode']): number {
  return (
    Number(a.aborted !== null) - Number(b.aborted !== null) ||
    b.verification.format[mode] - a.verification.format[mode] ||
    invented(a) - invented(b) ||
    citedShare(b) - citedShare(a) ||
    a.index - b.index
  );
}

function invented({ verification }: FinishedCandidate): number {
  return verification.finding_counts.citation_id_unknown ?? 0;
}

/** An answer without statements to cite sorts after answers that cite. */
function citedShare({ verification }: FinishedCandidate): number {
  return verification.ratios.cited_share ?? 0;
}
