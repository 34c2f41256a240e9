/**
 * The scoring line from end to end, independent of the platform: the Worker, the command line and batches call it.
 *
 *     plan -> judgments (store, judge, sandbox) -> measure -> compose -> reply
 *
 * A rollout is scored alone or with its group. It never decides what an unscored reward becomes on the wire: it says which
 * failure stands behind it.
 */
import { sourcesOf } from '../citations/sources.ts';
import {
  type FinishedRollout,
  type MeasuredRollout,
  type PlannedRollout,
  type PlanOptions,
  planRollout,
} from '../families/plan-rollout.ts';
import type { ResolvedRecipe } from '../families/resolve.ts';
import type { Facts } from '../family/facts.ts';
import type { Rollout } from '../family/rollout.ts';
import type { Score } from '../family/score.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Issuer } from '../judgments/issuer.ts';
import { type ObtainedJudgment, type ObtainOptions, type ObtainTimings, obtainJudgments } from '../judgments/obtain.ts';
import { pinJudgments } from '../judgments/pin.ts';
import type { JudgeFailure, JudgmentKind } from '../judgments/types.ts';
import { reportJudgment } from './judgment-report.ts';
import { createReceipt } from './receipt.ts';
import type { Receipt } from './receipt-schema.ts';
import { createRequestDigests } from './request-digest.ts';
import type { ScoreReply } from './score-reply.ts';

export type ScoringRequest = {
  readonly rollout: Rollout;
  readonly recipe: ResolvedRecipe;
  readonly plan?: Omit<PlanOptions, 'sources'>;
  /** Signs the reply with a receipt; absent = it has none. */
  readonly receiptIssuer?: Issuer;
};

export type GroupScoringRequest = {
  /** At least one; all have the same `tool_output` or `sources`. */
  readonly rollouts: readonly Rollout[];
  readonly recipe: ResolvedRecipe;
  readonly plan?: Omit<PlanOptions, 'sources'>;
  /** Signs a receipt for each reply; absent = they have none. */
  readonly receiptIssuer?: Issuer;
};

/** A scored rollout, or an unscored one with the failure behind it. */
export type ScoredRollout = {
  readonly reply: ScoreReply;
  /** The failure that left the reward `null`; `null` where there is a reward or where nothing failed. */
  readonly failure: JudgeFailure | null;
  /** What was observed, and the judgments that were asked for: what a run records. */
  readonly facts: Facts;
  readonly obtained: readonly ObtainedJudgment[];
};

type Undone =
  /** Mode `only`, and a needed judgment is not in the store. */
  | { readonly status: 'missing'; readonly judgments: readonly { readonly kind: JudgmentKind; readonly key: string }[] }
  /** The rollout does not fit the recipe or the limits: the caller's to mend. */
  | { readonly status: 'invalid'; readonly problems: readonly InputProblem[] };

export type ScoringResult = ({ readonly status: 'done'; readonly timings: ObtainTimings } & ScoredRollout) | Undone;

export type GroupScoringResult =
  | { readonly status: 'done'; readonly members: readonly ScoredRollout[]; readonly timings: ObtainTimings }
  | Undone;

/** Scores one rollout. Expected failures are results; a rejection is a bug. */
export async function scoreRollout(request: ScoringRequest, options: ObtainOptions): Promise<ScoringResult> {
  const { recipe, rollout, receiptIssuer = null } = request;
  const planned = planRollout(rollout, recipe.recipe, request.plan);
  if (!planned.ok) return { status: 'invalid', problems: planned.problems };
  const { judgments, timings } = await obtainJudgments(planned.planned.wanted, options);
  const measured = planned.planned.measure(judgments.map(({ outcome }) => outcome));
  const finished = measured.finish(null);
  if (finished.score.reason === 'judgment_missing') return { status: 'missing', judgments: missingOf(judgments) };
  const scored = createReplies(recipe, receiptIssuer, options);
  return { status: 'done', ...(await scored({ ...finished, rollout, judgments, facts: measured.facts })), timings };
}

/**
 * Scores the samples of one prompt together: their sources are read once, all their judgments are obtained at once, and
 * families that normalise within the group do so. Problems of a sample are named below `responses[i]`.
 */
export async function scoreGroup(request: GroupScoringRequest, options: ObtainOptions): Promise<GroupScoringResult> {
  const { recipe, rollouts, receiptIssuer = null } = request;
  const planned = planGroup(request);
  if (!planned.ok) return { status: 'invalid', problems: planned.problems };

  const wanted = planned.plans.flatMap(({ plan }) => plan.wanted);
  const { judgments, timings } = await obtainJudgments(wanted, options);
  let next = 0;
  const members = planned.plans.map(({ rollout, plan }) => {
    const own = judgments.slice(next, next + plan.wanted.length);
    next += plan.wanted.length;
    return { rollout, own, measured: plan.measure(own.map(({ outcome }) => outcome)) };
  });
  const group = { max: largestVote(members.map(({ measured }) => measured)) };
  const finished = members.map(({ rollout, own, measured }) => ({
    rollout,
    judgments: own,
    facts: measured.facts,
    ...measured.finish(group),
  }));
  if (finished.some(({ score }) => score.reason === 'judgment_missing')) {
    return { status: 'missing', judgments: missingOf(judgments) };
  }
  if (finished.length !== rollouts.length) throw new Error('scoreGroup: a member was lost');
  const scored = createReplies(recipe, receiptIssuer, options);
  return {
    status: 'done',
    members: await Promise.all(finished.map(scored)),
    timings,
  };
}

type PlannedGroup =
  | { readonly ok: true; readonly plans: readonly { readonly rollout: Rollout; readonly plan: PlannedRollout }[] }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

function planGroup({ rollouts, recipe, plan }: GroupScoringRequest): PlannedGroup {
  const [first] = rollouts;
  const origin =
    first?.tool_output !== undefined
      ? { tool_output: first.tool_output }
      : first?.sources !== undefined
        ? { sources: first.sources }
        : null;
  const shared = { ...plan, ...(origin === null ? {} : { sources: sourcesOf(origin) }) };
  const plans: { rollout: Rollout; plan: PlannedRollout }[] = [];
  for (const [position, rollout] of rollouts.entries()) {
    const planned = planRollout(rollout, recipe.recipe, shared);
    // What one sample lacks of the shared part, all lack: the first tells.
    if (!planned.ok) return { ok: false, problems: planned.problems.map((problem) => ofSample(problem, position)) };
    plans.push({ rollout, plan: planned.planned });
  }
  return { ok: true, plans };
}

const SAMPLE_FIELDS: ReadonlySet<unknown> = new Set([
  'response',
  'reasoning',
  'finish_reason',
  'num_turns',
  'response_tokens',
]);

function ofSample(problem: InputProblem, position: number): InputProblem {
  if (!SAMPLE_FIELDS.has(problem.path[0])) return problem;
  return { ...problem, path: ['responses', position, ...problem.path] };
}

function largestVote(members: readonly MeasuredRollout[]): number | null {
  let largest: number | null = null;
  for (const { groupVote } of members) {
    if (groupVote !== null && (largest === null || groupVote > largest)) largest = groupVote;
  }
  return largest;
}

type Finished = FinishedRollout & {
  readonly rollout: Rollout;
  readonly judgments: readonly ObtainedJudgment[];
  readonly facts: Facts;
};

/** Makes the replies of one request. They have receipts where there is an issuer; what members share is hashed once. */
function createReplies(
  recipe: ResolvedRecipe,
  issuer: Issuer | null,
  options: ObtainOptions,
): (finished: Finished) => Promise<ScoredRollout> {
  const { name, digest } = recipe;
  const [least, most] = recipe.reward_range;
  const requestDigest = createRequestDigests();
  const receiptOf = async ({ rollout, score, judgments }: Finished, by: Issuer): Promise<Receipt> => {
    const [request, pinned] = await Promise.all([requestDigest(rollout), pinJudgments(judgments)]);
    return createReceipt({ request, recipe: digest, judgments: pinned, score, issued_at: options.now() }, by);
  };
  return async (finished) => {
    const { reply, score, judgments, facts } = finished;
    const madeBy: Pick<ScoreReply, 'judgments' | 'recipe' | 'receipt'> = {
      judgments: judgments.map(reportJudgment),
      recipe: { name, digest, reward_range: [least, most] },
      receipt: issuer === null ? null : await receiptOf(finished, issuer),
    };
    return { reply: { ...reply, ...madeBy }, failure: failureBehind(score, judgments), facts, obtained: judgments };
  };
}

function missingOf(judgments: readonly ObtainedJudgment[]): { kind: JudgmentKind; key: string }[] {
  return judgments.flatMap(({ kind, key, outcome }) =>
    !outcome.ok && outcome.failure.reason === 'judgment_missing' && key !== null ? [{ kind, key }] : [],
  );
}

/**
 * The failure that the reward's reason names. Skipped judgments are no failure: the caller asked for it.
 * @throws Error if the reason names a failure that no judgment has, which no path should reach.
 */
function failureBehind(score: Score, judgments: readonly ObtainedJudgment[]): JudgeFailure | null {
  if (score.reason === null || score.reason === 'nothing_to_score' || score.reason === 'judgment_skipped') return null;
  for (const { outcome } of judgments) {
    if (!outcome.ok && outcome.failure.reason === score.reason) return outcome.failure;
  }
  throw new Error(`scoring: no judgment failed with ${score.reason}, and yet the reward is unscored for it`);
}
