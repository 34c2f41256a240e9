/**
 * Generates candidates for a request and scores them if it names a recipe, reporting events as they happen.
 * `readyRefinement` rejects everything that can be rejected before a token is generated.
 */
import type { Generator } from '../src/generation/generator.ts';
import { finishRefinement, type RefineEvent, refineCandidates } from '../src/generation/refine.ts';
import { planRefinement, type RefinePlan } from '../src/generation/refine-plan.ts';
import type { ObtainTimings } from '../src/judgments/obtain.ts';
import type { Failed, Result } from '../src/result.ts';
import type { RefineRequest } from '../src/wire/refine.ts';
import {
  type RefineReply,
  type RefineStart,
  refineReply,
  refineStart,
  scoredRollouts,
} from '../src/wire/refine-reply.ts';
import { requestedPanel, type ScoreResponse } from '../src/wire/score.ts';
import { chooseGenerator, chooseJudge } from './backends/configured.ts';
import type { RequestFailure } from './failures.ts';
import type { ScoringPlatform } from './ports.ts';
import { scoreTogether } from './score.ts';

/** A valid request with the generator that will run it. */
export type ReadyRefinement = {
  readonly start: RefineStart;
  readonly plan: RefinePlan<RefineRequest>;
  readonly generator: Generator;
};

type FailedRequest = Failed<RequestFailure>;

/** Validates a request against this deployment: generator, judges and prompt size. */
export async function readyRefinement(
  request: RefineRequest,
  { backends }: ScoringPlatform,
): Promise<Result<ReadyRefinement, RequestFailure>> {
  const chosen = chooseGenerator(backends, request.generator);
  if (chosen === null) {
    const configured = backends.generators.named.map(({ generator }) => generator.name);
    return { ok: false, error: { reason: 'generator_unknown', configured } };
  }
  if (!chosen.ok) return { ok: false, error: { reason: 'generation_failed', failure: chosen.error } };
  const { value: generator } = chosen;
  const panel = requestedPanel(request)?.map(({ judge }) => judge);
  const named = typeof request.judge === 'string' ? [request.judge] : (request.judge ?? panel ?? []);
  if (named.some((name) => chooseJudge(backends, name) === null)) {
    const configured = backends.named.map(({ judge }) => judge.name);
    return { ok: false, error: { reason: 'judge_unknown', configured } };
  }
  const planned = await planRefinement(request, generator);
  if (!planned.ok) return { ok: false, error: { reason: 'input_invalid', problems: planned.error } };
  const { value: plan } = planned;
  return { ok: true, value: { start: refineStart(plan, generator), plan, generator } };
}

type RefiningOptions = {
  /** For all candidates together; judging has its own deadlines. */
  readonly deadline_ms: number;
  /** Aborts when the caller has disconnected. */
  readonly signal: AbortSignal;
  /** Receives each event; generation continues when it resolves. */
  readonly onEvent: (event: RefineEvent) => Promise<void>;
};

/** Times in milliseconds; phases that were not reached are absent. */
type RefineTimings = { readonly generate: number } & Partial<ObtainTimings>;

type RefiningResult =
  | { readonly ok: true; readonly reply: RefineReply; readonly timings: RefineTimings }
  | (FailedRequest & { readonly timings: RefineTimings });

/** Generates the candidates, then scores them if there is a recipe. */
export async function refine(
  { plan, generator }: ReadyRefinement,
  platform: ScoringPlatform,
  { deadline_ms, signal, onEvent }: RefiningOptions,
): Promise<RefiningResult> {
  const elapsed = (): number => performance.now();
  const started = elapsed();
  const run = refineCandidates(plan, generator, { deadline_ms, signal, elapsed });
  const refined = await finishRefinement(run, onEvent);
  const generated = { generate: elapsed() - started };
  if (!refined.ok) {
    return { ...refused({ reason: 'generation_failed', failure: refined.error }), timings: generated };
  }
  // Judge calls cost money, too.
  if (signal.aborted) return { ...refused(CALLER_GONE), timings: generated };
  const scored = await scoresOf(plan, scoredRollouts(plan, refined.value.candidates), platform);
  const timings = { ...generated, ...scored.timings };
  if (!scored.ok) return { ok: false, failure: scored.failure, timings };
  const reply = refineReply(plan, generator, refined.value, scored.scores);
  if (!reply.ok) return { ...refused({ reason: 'input_invalid', problems: reply.error }), timings };
  return { ok: true, reply: reply.value, timings };
}

/** Only the log shows this failure. */
const CALLER_GONE: RequestFailure = {
  reason: 'generation_failed',
  failure: {
    reason: 'generator_interrupted',
    detail: 'the caller disconnected before the candidates were complete',
    retryable: true,
  },
};

type Scores =
  | { readonly ok: true; readonly scores: readonly ScoreResponse[]; readonly timings: ObtainTimings | null }
  | (FailedRequest & { readonly timings: ObtainTimings | null });

/** Scores the candidates as `/v1/groups` does. */
async function scoresOf(
  { request }: RefinePlan<RefineRequest>,
  rollouts: ReturnType<typeof scoredRollouts>,
  platform: ScoringPlatform,
): Promise<Scores> {
  const { recipe, judge, judges, judgments, replicate, on_judge_failure } = request;
  if (recipe === undefined || rollouts.length === 0) return { ok: true, scores: [], timings: null };
  const options = {
    recipe,
    judgments,
    replicate,
    on_judge_failure,
    ...(judge === undefined ? {} : { judge }),
    ...(judges === undefined ? {} : { judges }),
  };
  const scored = await scoreTogether(rollouts, options, platform);
  if (!scored.ok) return scored;
  return { ok: true, scores: scored.reply.map(({ reply }) => reply), timings: scored.timings };
}

function refused(failure: RequestFailure): FailedRequest {
  return { ok: false, failure };
}
