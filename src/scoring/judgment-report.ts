/** What a reply says of each judgment behind it. */
import type { ObtainedJudgment } from '../judgments/obtain.ts';
import type { JudgeFailure } from '../judgments/types.ts';
import type { JudgmentReport } from './score-reply.ts';

/** What the reply says of one judgment. */
export function reportJudgment(obtained: ObtainedJudgment): JudgmentReport {
  const { kind, key, preimage, cuts, outcome, issuer, stored, storeProblem } = obtained;
  return {
    kind,
    key,
    cached: outcome.ok && outcome.cached,
    stored,
    model: preimage?.judge.model ?? null,
    template: preimage?.judge.template ?? null,
    sampling: preimage === null || preimage.judge.sampling === null ? null : { ...preimage.judge.sampling },
    issuer,
    cuts: cuts.map((cut) => ({ ...cut })),
    usage: outcome.ok ? outcome.judgment.usage : null,
    judged_at: outcome.ok ? outcome.judgment.judged_at : null,
    latency_ms: outcome.ok ? outcome.latency_ms : null,
    failure: outcome.ok ? null : reportFailure(outcome.failure),
    store_problem: storeProblem === null ? null : reportFailure(storeProblem),
  };
}

function reportFailure({ reason, detail, retryable }: JudgeFailure): {
  reason: JudgeFailure['reason'];
  detail: string;
  retryable: boolean;
} {
  return { reason, detail, retryable };
}
