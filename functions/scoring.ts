/**
 * Scoring as the Worker does it: a validated request in, a reply or a failure out. `/v1/score` calls it, and so will
 * batches and adapters; nothing here knows HTTP.
 */

import type { CallClass, Desk } from '../src/judgments/desk.ts';
import type { Signing } from '../src/judgments/issuer.ts';
import type { JudgeChoice } from '../src/judgments/judge.ts';
import type { ObtainTimings } from '../src/judgments/obtain.ts';
import type { JudgmentStore } from '../src/judgments/store.ts';
import { JUDGE_DEADLINE_MS, SCORING_DEADLINE_MS } from '../src/limits.ts';
import { type ResolvedRecipe, resolveRecipe } from '../src/recipes/resolve.ts';
import { scoreRollout } from '../src/rewards/scoring.ts';
import { rolloutOf, type ScoreRequest, type ScoreResponse } from '../src/schema/score.ts';
import { type Backends, chooseJudge } from './backends/configured.ts';
import type { RequestFailure } from './http/errors.ts';

export type ScoringPlatform = {
  readonly backends: Backends;
  readonly store: JudgmentStore;
  /** Where paid judge calls are made. */
  readonly desk: Desk;
  /** Whether somebody waits for the score, or a batch collects it. */
  readonly class: CallClass;
  readonly signing: Signing;
};

export type ScoringReply =
  | { readonly ok: true; readonly reply: ScoreResponse; readonly timings: ObtainTimings }
  | { readonly ok: false; readonly failure: RequestFailure; readonly timings: ObtainTimings | null };

/**
 * 1. the recipe, by name or inline; 2. the judges; 3. the scoring line; 4. what an unscored reward becomes: a failure
 * by default, a `null` reward where the request says so. Never a number.
 */
export async function scoreRequest(request: ScoreRequest, platform: ScoringPlatform): Promise<ScoringReply> {
  const recipe = await resolveRecipe(request.recipe);
  if (!recipe.ok) return refused({ reason: 'input_invalid', problems: recipe.problems });

  const named = typeof request.judge === 'string' ? [request.judge] : (request.judge ?? [undefined]);
  const judges = named.flatMap((name) => chooseJudge(platform.backends, name) ?? []);
  if (judges.length < named.length) {
    const configured = platform.backends.named.map((backend) => backend.judge.name);
    return refused({ reason: 'judge_unknown', configured });
  }

  // Another judge is another measure, so it takes over whole rollouts only, and only where the caller named it.
  const started = performance.now();
  let last: ScoringReply | null = null;
  for (const judge of judges) {
    const left = SCORING_DEADLINE_MS - (performance.now() - started);
    if (last !== null && left < MIN_TURN_MS) break;
    const turn = await scoreWith(judge, request, recipe.resolved, platform, Math.min(JUDGE_DEADLINE_MS, left));
    if (turn.status === 'done') return turn.reply;
    // What is missing is missing under the judge that was asked for first.
    last = last !== null && turn.status === 'missing' ? last : turn.reply;
  }
  if (last === null) throw new Error('scoreRequest: no judge was tried');
  return last;
}

/** A judge that cannot have this long is not asked. */
const MIN_TURN_MS = 1_000;

type Turn = { readonly reply: ScoringReply; readonly status: 'done' | 'failed' | 'missing' };

/** Scores with one judge. */
async function scoreWith(
  judge: JudgeChoice,
  request: ScoreRequest,
  recipe: ResolvedRecipe,
  platform: ScoringPlatform,
  deadline_ms: number,
): Promise<Turn> {
  const result = await scoreRollout(
    { rollout: rolloutOf(request), recipe },
    {
      judge,
      store: platform.store,
      ...(runsInDesk(judge, platform.backends) ? { desk: { desk: platform.desk, class: platform.class } } : {}),
      signing: platform.signing,
      mode: request.judgments,
      replicate: request.replicate,
      deadline_ms,
      now: () => new Date().toISOString(),
      elapsed: () => performance.now(),
    },
  );
  switch (result.status) {
    case 'invalid':
      return { status: 'done', reply: refused({ reason: 'input_invalid', problems: result.problems }) };
    case 'missing':
      return { status: 'missing', reply: refused({ reason: 'judgment_missing', missing: result.judgments }) };
    case 'done': {
      const { reply, failure, timings } = result;
      if (failure === null) return { status: 'done', reply: { ok: true, reply, timings } };
      return request.on_judge_failure === 'error'
        ? { status: 'failed', reply: { ok: false, failure: { reason: 'judgment_failed', failure }, timings } }
        : { status: 'failed', reply: { ok: true, reply, timings } };
    }
  }
}

/** Where the backend's judgments are made: a paid call at the desk, pure computation here. */
function runsInDesk(choice: JudgeChoice, backends: Backends): boolean {
  if (!choice.ok) return false;
  const { name } = choice.judge;
  return backends.named.some(({ judge, runs_in }) => judge.name === name && runs_in === 'desk');
}

function refused(failure: RequestFailure): ScoringReply {
  return { ok: false, failure, timings: null };
}
