/**
 * Scores the samples of an adapter request: samples in, rewards out, or one failure for the whole request. A reward is
 * always a number that the recipe computed.
 */

import type { RequestFailure } from '../../../service/failures.ts';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { type PlacedSample, placeSamples } from '../../../service/place-samples.ts';
import type { Ledger } from '../../../service/ports.ts';
import { recordScores } from '../../../service/record.ts';
import { SCORING_DEADLINE_MS, type ScoringOptions, type ScoringReply, scoreOne } from '../../../service/score.ts';
import { grammarsOf } from '../../../src/citations/answer-limits.ts';
import type { RecipeInput } from '../../../src/families/resolve.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { InputProblem } from '../../../src/input-problem.ts';
import { CALLER_DEADLINE_MS } from '../../../src/judgments/obtain.ts';
import type { Result } from '../../../src/result.ts';
import { contentDigests } from '../../../src/runs/content-digest.ts';
import type { RolloutOutcome } from '../../../src/runs/rollout-counts.ts';
import { visitOfPlace } from '../../../src/runs/row.ts';
import type { ScoredRollout } from '../../../src/scoring/score-rollouts.ts';
import { type RunReport, type TrainerReply, trainerJson } from '../../../src/wire/adapters/reply.ts';
import type { AdapterQuery } from '../../../src/wire/adapters/request.ts';
import type { WantedPlace } from '../../../src/wire/adapters/run-place.ts';
import { DEFAULT_RETRY_AFTER_S } from '../../../src/wire/problem-entry.ts';
import { requestedPanel } from '../../../src/wire/score.ts';
import { admitAnswers } from '../body.ts';
import { type Context, platformOf, succeeded } from '../context.ts';

type Path = InputProblem['path'];

/**
 * How long an adapter retries a failure for a client that hardly retries: OpenRLHF tries five times within four
 * seconds, NeMo Gym once. A judge keeps its whole deadline after the last wait. slime and LongTraceRL retry for
 * minutes, so their adapters answer at once: a held connection would delay their next samples.
 */
export const ADAPTER_RETRY_WINDOW_MS = SCORING_DEADLINE_MS - CALLER_DEADLINE_MS;

export type Sample = {
  readonly rollout: Rollout;
  /** Maps a rollout field to its path in the trainer's request, for problems. */
  readonly place: (path: Path) => Path;
  /** Where the sample is to be recorded; `null` = nowhere. */
  readonly wanted: WantedPlace | null;
  /** What the trainer knows of the sample beside its reward; kept if it is recorded. */
  readonly reported?: RolloutOutcome;
};

export type Determined = {
  readonly member: ScoredRollout;
  readonly reward: number;
  /** The place in the run where the sample was recorded; `null` = the request names no run. */
  readonly run: RunReport | null;
};

type AdapterScoring = {
  readonly recipe: RecipeInput;
  readonly query: Pick<AdapterQuery, 'judge' | 'judges' | 'deadline_s' | 'group_size' | 'store_reasons'>;
  /**
   * How long failures with a short `Retry-After` are retried, in milliseconds, for clients that hardly retry; 0 =
   * never.
   */
  readonly retryWindowMs: number;
};

/** Scores samples concurrently. @throws RequestError unless every sample has a reward. */
export async function scoreSamples(
  c: Context,
  samples: readonly Sample[],
  { recipe, query, retryWindowMs }: AdapterScoring,
): Promise<Determined[]> {
  const wanted = wantedOf(samples, query.group_size);
  const platform = await platformOf(c);
  const options: ScoringOptions = {
    recipe,
    ...(query.judge === undefined ? {} : { judge: query.judge }),
    ...(query.judges === undefined ? {} : { judges: query.judges }),
    ...(query.deadline_s === undefined ? {} : { deadline_s: query.deadline_s }),
    judgments: 'use',
    replicate: 0,
    // An unscored sample of a run is recorded, too.
    on_judge_failure: wanted.length > 0 ? 'null' : 'error',
    measureAll: wanted.length > 0,
    samples: samples.length,
    store_reasons: query.store_reasons === 'true',
  };
  // A body that waited for room has used part of the window, and the answers may use more.
  const ends = performance.now() + retryWindowMs - (c.get('phases').body ?? 0);
  const left = (): number => (retryWindowMs === 0 ? 0 : ends - performance.now());
  const responses = samples.map(({ rollout }) => rollout.response);
  await admitAnswers(c, responses, { waitMs: left(), grammars: grammarsOf(recipe) });
  const windowMs = left();
  const scored = await Promise.all(
    samples.map(({ rollout, wanted: place }) => {
      const own = place === null ? options : { ...options, ...visitOfPlace(place) };
      return retried(() => scoreOne(rollout, own, platform), { failureIn, windowMs, signal: c.req.raw.signal });
    }),
  );
  const failure = failureOf(scored, samples);
  const recording = { options, groupSize: query.group_size ?? null, ledger: platform.ledger };
  if (failure !== null) {
    await recordUnscored(c, samples, scored, recording);
    throw new RequestError(failure);
  }
  const scores = combined(scored);
  const members = succeeded(c, scores);
  const determined = members.map((member) => ({ member, reward: rewardOf(member) }));
  if (wanted.length === 0) return determined.map((member) => ({ ...member, run: null }));
  const recorded = await record(c, samples, scores, recording);
  if (!recorded.ok) throw new RequestError(recorded.error);
  return determined.map((member, n) => ({ ...member, run: recorded.value[n] ?? null }));
}

type Recording = {
  readonly options: ScoringOptions;
  readonly groupSize: number | null;
  readonly ledger: Ledger;
};

/** Records the samples, all of which want a place in a run. */
async function record(
  c: Context,
  samples: readonly Sample[],
  { reply, recipe }: ScoredSamples,
  { options, groupSize, ledger }: Recording,
): Promise<Result<readonly RunReport[], RequestFailure>> {
  const rollouts = samples.map(({ rollout }) => rollout);
  const wanted = samples.flatMap((sample) => sample.wanted ?? []);
  const contents = contentDigests(rollouts, {
    recipe: recipe.digest,
    judge: options.judge,
    panel: requestedPanel(options),
    replicate: 0,
  });
  const placed = await placeSamples(wanted, { contents, groupSize }, ledger);
  if (!placed.ok) return placed;
  const places = placed.value.map((one, n) => ({ ...one, reported: samples[n]?.reported ?? {} }));
  noteRun(c, places);
  const recorded = await recordScores(
    { rollouts, scored: reply, places, recipe, options, store_text: false, path: ['query', 'run'] },
    ledger,
  );
  if (!recorded.ok) return recorded;
  return {
    ok: true,
    value: recorded.value.map((row, n) => ({ ...row, grouping: places[n]?.grouping ?? 'given' })),
  };
}

/**
 * Records the samples that a judge failed to score, so that they count as members of their group even if the trainer
 * gives up: the next epoch then begins another group. A retry replaces the row. If this write fails, the trainer learns
 * of the judge's failure all the same.
 */
async function recordUnscored(
  c: Context,
  samples: readonly Sample[],
  scored: readonly ScoringReply<ScoredRollout>[],
  recording: Recording,
): Promise<void> {
  const lost = samples.flatMap((sample, n) => {
    const reply = scored[n];
    return sample.wanted !== null && reply?.ok === true && reply.reply.failure !== null ? [{ sample, reply }] : [];
  });
  if (lost.length === 0) return;
  const scores = combined(lost.map(({ reply }) => reply));
  await record(
    c,
    lost.map(({ sample }) => sample),
    scores,
    recording,
  );
}

/** Scores a single sample. */
export async function scoreSample(c: Context, sample: Sample, scoring: AdapterScoring): Promise<Determined> {
  const [only] = await scoreSamples(c, [sample], scoring);
  if (only === undefined) throw new Error('scoreSample: the sample was lost');
  return only;
}

type Retrying<T> = {
  /** Why an attempt failed; `null` = it did not. */
  readonly failureIn: (attempt: T) => RequestFailure | null;
  readonly windowMs: number;
  /** Ends the retries when the caller has gone. */
  readonly signal: AbortSignal;
};

/** Repeats an attempt after retryable failures whose `Retry-After` is within the retry window. Returns the last one. */
export async function retried<T>(attempt: () => Promise<T>, { failureIn, windowMs, signal }: Retrying<T>): Promise<T> {
  const started = performance.now();
  for (;;) {
    const reply = await attempt();
    const failure = failureIn(reply);
    const waitMs = failure === null ? null : retryDelayMs(failure);
    if (waitMs === null || signal.aborted) return reply;
    if (performance.now() - started + waitMs > windowMs) return reply;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Why a sample has no reward, also where an unscored one was asked for. */
function failureIn(reply: ScoringReply<ScoredRollout>): RequestFailure | null {
  if (!reply.ok) return reply.failure;
  const { failure } = reply.reply;
  return failure === null ? null : { reason: 'judgment_failed', failure };
}

/** The time until a retry makes sense, in milliseconds; `null` = never. */
function retryDelayMs(failure: RequestFailure): number | null {
  if (failure.reason !== 'judgment_failed' || !failure.failure.retryable) return null;
  // A delay of 0 would retry in a busy loop.
  return Math.max(1, failure.failure.retry_after_s ?? DEFAULT_RETRY_AFTER_S) * 1000;
}

/** The failure of the whole request. Precedence: input errors, then permanent failures, then retryable ones. */
function failureOf(scored: readonly ScoringReply<ScoredRollout>[], samples: readonly Sample[]): RequestFailure | null {
  const problems: InputProblem[] = [];
  const failures: RequestFailure[] = [];
  for (const [n, reply] of scored.entries()) {
    const failure = failureIn(reply);
    if (failure === null) continue;
    if (failure.reason !== 'input_invalid') failures.push(failure);
    else for (const { path, message } of failure.problems) problems.push({ path: placed(path, samples[n]), message });
  }
  if (problems.length > 0) return { reason: 'input_invalid', problems };
  return failures.find((failure) => retryDelayMs(failure) === null) ?? failures[0] ?? null;
}

function placed(path: Path, sample: Sample | undefined): Path {
  if (path[0] === 'recipe') return ['query', ...path];
  if (path[0] === 'judges') return ['query', 'judges'];
  return sample?.place(path) ?? path;
}

type ScoredSamples = Extract<ScoringReply<readonly ScoredRollout[]>, { ok: true }>;

/** Combines scores that all succeeded into one reply. */
function combined(scored: readonly ScoringReply<ScoredRollout>[]): ScoredSamples {
  const scores = scored.flatMap((reply) => (reply.ok ? [reply] : []));
  const [first] = scores;
  if (first === undefined || scores.length < scored.length) throw new Error('combined: not all samples were scored');
  const longest = (phase: keyof typeof first.timings): number =>
    Math.max(...scores.map(({ timings }) => timings[phase]));
  return {
    ok: true,
    reply: scores.map(({ reply }) => reply),
    recipe: first.recipe,
    timings: { store_read: longest('store_read'), judge: longest('judge'), store_write: longest('store_write') },
  };
}

/** @throws RequestError if the reward is `null` although nothing failed: a retry would change nothing. */
function rewardOf({ score: { reward } }: ScoredRollout): number {
  if (reward !== null) return reward;
  const message = 'this recipe finds nothing to score in the sample';
  throw invalidInput(['query', 'recipe'], message);
}

/**
 * The places that the samples want, or none if the request records nothing. @throws RequestError if some samples have a
 * run and others have none or another one, or if epochs could not be told apart.
 */
function wantedOf(samples: readonly Sample[], groupSize: number | undefined): readonly WantedPlace[] {
  const wanted = samples.flatMap((sample) => sample.wanted ?? []);
  const runs = new Set(wanted.map(({ run }) => run));
  if (wanted.length > 0 && (wanted.length < samples.length || runs.size > 1)) {
    throw invalidInput(['labels'], 'expected one run for all samples of a request');
  }
  const isOpen = wanted.some(({ isVisited, sample }) => isVisited && sample === null);
  if (isOpen && groupSize === undefined) {
    const message =
      'required with run: the number of samples of each prompt in a step (add &group_size=8 to the URL). The trainer ' +
      'sends no ids, so the epochs of a prompt could not be told apart';
    throw invalidInput(['query', 'group_size'], message);
  }
  return wanted;
}

/** Stores the run and the groups of a request in its context, for the log line. */
function noteRun(c: Context, places: readonly PlacedSample[]): void {
  const [first] = places;
  if (first === undefined) return;
  c.set('namedRun', { run: first.run, groups: [...new Set(places.map(({ group }) => group))] });
}

/** Answers with JSON text, because `c.json` writes whole numbers without a decimal point. */
export function sendJsonText(c: Context, text: string): Response {
  return c.body(text, 200, { 'content-type': 'application/json' });
}

export function sendTrainerReply(c: Context, reply: TrainerReply): Response {
  return sendJsonText(c, trainerJson(reply));
}
