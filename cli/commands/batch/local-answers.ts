/**
 * Answers the requests of a batch in this process, like a Worker whose only judge is the lexical one and that has no
 * sandbox (service/answer.ts).
 */

import type * as z from 'zod';
import { parseSources } from '../../../src/citations/sources.ts';
import { type ResolvedRecipe, resolveRecipe } from '../../../src/families/resolve.ts';
import { type InputProblem, problemsOfIssues } from '../../../src/input-problem.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import { compareAnswers } from '../../../src/scoring/compare.ts';
import { scoreGroup, scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import type { BatchEndpoint } from '../../../src/wire/batches/batch.ts';
import type { LineResult } from '../../../src/wire/batches/result-line.ts';
import {
  type CompareRequest,
  compareReplyOf,
  compareRequestSchema,
  requestedComparison,
} from '../../../src/wire/compare.ts';
import { type GroupRequest, groupReplyOf, groupRequestSchema, groupRollouts } from '../../../src/wire/groups.ts';
import { makeRubricsRequestSchema } from '../../../src/wire/make-rubrics.ts';
import { refineRequestSchema } from '../../../src/wire/refine.ts';
import { requestedRollout, type ScoreRequest, scoreRequestSchema } from '../../../src/wire/score.ts';
import { scoreReplyOf } from '../../../src/wire/score-detail.ts';
import { verifyRequested, verifyRequestSchema } from '../../../src/wire/verify.ts';
import { type LocalJudging, localJudging, NO_RUNS_HERE, namesAnotherJudge } from '../../shared/local-judging.ts';
import { refineLocally } from '../../shared/local-refining.ts';
import { type LocalFailure, localProblem } from './local-problems.ts';

/** Answers the body of one request. @param requestId the id in a problem. */
export type LocalAnswers = (endpoint: BatchEndpoint, body: unknown, requestId: string) => Promise<LineResult>;

type Outcome = { readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly failure: LocalFailure };

export function localAnswers(): LocalAnswers {
  const judging = localJudging();
  return async (endpoint, body, requestId) => {
    const outcome = await answer(endpoint, body, judging);
    return outcome.ok ? outcome : { ok: false, problem: localProblem(outcome.failure, requestId) };
  };
}

async function answer(endpoint: BatchEndpoint, body: unknown, judging: LocalJudging): Promise<Outcome> {
  switch (endpoint) {
    case '/v1/score': {
      const read = parse(scoreRequestSchema, body);
      return read.ok ? score(read.request, judging) : read;
    }
    case '/v1/groups': {
      const read = parse(groupRequestSchema, body);
      return read.ok ? group(read.request, judging) : read;
    }
    case '/v1/compare': {
      const read = parse(compareRequestSchema, body);
      return read.ok ? compare(read.request, judging) : read;
    }
    case '/v1/verify': {
      const read = parse(verifyRequestSchema, body);
      if (!read.ok) return read;
      const result = verifyRequested(read.request, 'lexical');
      return result.ok ? { ok: true, body: result.verification } : invalid(result.problems);
    }
    case '/v1/rubrics': {
      const read = parse(makeRubricsRequestSchema, body);
      // The judge of this process compares words, and writes none.
      return read.ok ? { ok: false, failure: { reason: 'judge_unknown' } } : read;
    }
    case '/v1/refine': {
      const read = parse(refineRequestSchema, body);
      if (!read.ok) return read;
      if (read.request.stream)
        return invalid([{ path: ['stream'], message: 'expected false: a batch has no streams' }]);
      const result = await refineLocally(read.request, judging, async () => undefined);
      return result.ok ? { ok: true, body: result.reply } : result;
    }
  }
}

async function score(request: ScoreRequest, judging: LocalJudging): Promise<Outcome> {
  const ready = await recipeOf(request);
  if (!ready.ok) return ready;
  const scored = { rollout: requestedRollout(request), recipe: ready.recipe, plan: { explain: request.explain } };
  const result = await scoreRollout(scored, judging(request));
  if (result.status !== 'done') return undone(result);
  return failed(request, result.failure) ?? { ok: true, body: scoreReplyOf(request, scored.rollout, result) };
}

async function group(request: GroupRequest, judging: LocalJudging): Promise<Outcome> {
  const ready = await recipeOf(request);
  if (!ready.ok) return ready;
  const scored = { rollouts: groupRollouts(request), recipe: ready.recipe, plan: { explain: request.explain } };
  const result = await scoreGroup(scored, judging(request));
  if (result.status !== 'done') return undone(result);
  const { members } = result;
  const failure = members.find((member) => member.failure !== null)?.failure ?? null;
  const lost = failed(request, failure);
  if (lost !== null) return lost;
  const reply = groupReplyOf(request, scored.rollouts, members);
  return reply.ok ? { ok: true, body: reply.reply } : invalid(reply.problems);
}

async function compare(request: CompareRequest, judging: LocalJudging): Promise<Outcome> {
  if (namesAnotherJudge(request)) return { ok: false, failure: { reason: 'judge_unknown' } };
  const compared = await compareAnswers(requestedComparison(request, parseSources), judging(request));
  if (compared.missing.length > 0) {
    return { ok: false, failure: { reason: 'judgment_missing', missing: compared.missing } };
  }
  const failure = compared.answers.find((answer) => answer.failure !== null)?.failure ?? null;
  return failed(request, failure) ?? { ok: true, body: compareReplyOf(request, compared) };
}

type Ready =
  | { readonly ok: true; readonly recipe: ResolvedRecipe }
  | { readonly ok: false; readonly failure: LocalFailure };

async function recipeOf({
  recipe,
  receipt,
  run,
  ...judging
}: Pick<ScoreRequest, 'recipe' | 'judge' | 'judges' | 'receipt'> & { readonly run?: unknown }): Promise<Ready> {
  const resolved = await resolveRecipe(recipe);
  if (!resolved.ok) return invalid(resolved.problems);
  if (receipt) return { ok: false, failure: { reason: 'issuer_unconfigured' } };
  if (run !== undefined) return invalid([{ path: ['run'], message: NO_RUNS_HERE }]);
  if (!namesAnotherJudge(judging)) return { ok: true, recipe: resolved.resolved };
  return { ok: false, failure: { reason: 'judge_unknown' } };
}

/**
 * The failure of a request whose judgment failed; `null` if none failed, or if the request accepts a missing reward.
 */
function failed(
  { on_judge_failure }: Pick<ScoreRequest, 'on_judge_failure'>,
  failure: JudgeFailure | null,
): Outcome | null {
  if (failure === null || on_judge_failure === 'null') return null;
  return { ok: false, failure: { reason: 'judgment_failed', failure } };
}

function undone(result: Exclude<Awaited<ReturnType<typeof scoreRollout>>, { status: 'done' }>): Outcome {
  switch (result.status) {
    case 'invalid':
      return invalid(result.problems);
    case 'missing':
      return { ok: false, failure: { reason: 'judgment_missing', missing: result.judgments } };
  }
}

type Parsed<T> = { readonly ok: true; readonly request: T } | { readonly ok: false; readonly failure: LocalFailure };

function parse<S extends z.ZodType>(schema: S, body: unknown): Parsed<z.output<S>> {
  const parsed = schema.safeParse(body);
  return parsed.success ? { ok: true, request: parsed.data } : invalid(problemsOfIssues(parsed.error.issues, body));
}

function invalid(problems: readonly InputProblem[]): { readonly ok: false; readonly failure: LocalFailure } {
  return { ok: false, failure: { reason: 'input_invalid', problems } };
}
