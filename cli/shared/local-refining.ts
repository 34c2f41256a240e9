/**
 * Refines in this process: the extractive refiner answers, the lexical judge scores. Neither is a model. It follows the
 * same steps as service/refine.ts, which needs the bindings of a Worker.
 */
import { createExtractiveGenerator, EXTRACTIVE_NAME } from '../../lib/extractive-generator.ts';
import type { GenerationFailure } from '../../src/generation/generator.ts';
import {
  finishRefinement,
  REFINE_STREAM_DEADLINE_MS,
  type RefineEvent,
  refineCandidates,
} from '../../src/generation/refine.ts';
import { planRefinement, type RefinePlan } from '../../src/generation/refine-plan.ts';
import type { InputProblem } from '../../src/input-problem.ts';
import type { JudgmentKind } from '../../src/judgments/kinds/names.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import { scoreGroup } from '../../src/scoring/score-rollouts.ts';
import type { RefineRequest } from '../../src/wire/refine.ts';
import { type RefineReply, refineReply, scoredRollouts } from '../../src/wire/refine-reply.ts';
import type { ScoreResponse } from '../../src/wire/score.ts';
import { type LocalJudging, namesAnotherJudge } from './local-judging.ts';

export const EXTRACTIVE_NOTICE =
  'Refiner: extractive, built in. It copies sentences that share words with the question and is no model.';

export type RefiningFailure =
  | { readonly reason: 'input_invalid'; readonly problems: readonly InputProblem[] }
  | { readonly reason: 'generator_unknown' }
  | { readonly reason: 'judge_unknown' }
  | { readonly reason: 'judgment_missing'; readonly missing: readonly { kind: JudgmentKind; key: string }[] }
  | { readonly reason: 'judgment_failed'; readonly failure: JudgeFailure }
  | { readonly reason: 'generation_failed'; readonly failure: GenerationFailure };

type LocalRefinement =
  | { readonly ok: true; readonly reply: RefineReply }
  | { readonly ok: false; readonly failure: RefiningFailure };

/** @param onEvent receives each event; generation waits until its promise resolves. */
export async function refineLocally(
  request: RefineRequest,
  judging: LocalJudging,
  onEvent: (event: RefineEvent) => Promise<void>,
): Promise<LocalRefinement> {
  if (request.generator !== undefined && request.generator !== EXTRACTIVE_NAME) {
    return { ok: false, failure: { reason: 'generator_unknown' } };
  }
  if (namesAnotherJudge(request)) return { ok: false, failure: { reason: 'judge_unknown' } };
  const generator = createExtractiveGenerator(Math.random);
  const planned = await planRefinement(request, generator);
  if (!planned.ok) return invalid(planned.problems);
  const { plan } = planned;
  const run = refineCandidates(plan, generator, {
    deadline_ms: REFINE_STREAM_DEADLINE_MS,
    signal: new AbortController().signal,
    elapsed: () => performance.now(),
  });
  const refined = await finishRefinement(run, onEvent);
  if (!refined.ok) return { ok: false, failure: { reason: 'generation_failed', failure: refined.failure } };
  const scored = await scoresOf(plan, scoredRollouts(plan, refined.candidates), judging);
  if (!scored.ok) return scored;
  const reply = refineReply(plan, generator, refined, scored.scores);
  return reply.ok ? reply : invalid(reply.problems);
}

type Scores =
  | { readonly ok: true; readonly scores: readonly ScoreResponse[] }
  | Extract<LocalRefinement, { ok: false }>;

async function scoresOf(
  { request, recipe }: RefinePlan<RefineRequest>,
  rollouts: ReturnType<typeof scoredRollouts>,
  judging: LocalJudging,
): Promise<Scores> {
  if (recipe === null || rollouts.length === 0) return { ok: true, scores: [] };
  const result = await scoreGroup({ rollouts, recipe }, judging(request));
  switch (result.status) {
    case 'invalid':
      return invalid(result.problems);
    case 'missing':
      return { ok: false, failure: { reason: 'judgment_missing', missing: result.judgments } };
    case 'done': {
      const failure = result.members.find((member) => member.failure !== null)?.failure ?? null;
      if (failure !== null && request.on_judge_failure === 'error') {
        return { ok: false, failure: { reason: 'judgment_failed', failure } };
      }
      return { ok: true, scores: result.members.map(({ reply }) => reply) };
    }
  }
}

function invalid(problems: readonly InputProblem[]): Extract<LocalRefinement, { ok: false }> {
  return { ok: false, failure: { reason: 'input_invalid', problems } };
}
