/**
 * Scores rollouts for `/v1/score`, `/v1/groups`, the adapters, batches and webhooks: validated input in, a score or a
 * failure out.
 */
import { canonicalJson } from '../src/digest.ts';
import type { ResolvedRecipe } from '../src/families/resolve.ts';
import type { CreditBy } from '../src/family/credit.ts';
import type { Rollout } from '../src/family/rollout.ts';
import type { InputProblem } from '../src/input-problem.ts';
import { CALLER_DEADLINE_MS, type ObtainOptions, type ObtainTimings } from '../src/judgments/obtain.ts';
import { type JudgingMember, type MemberOfPanel, memberName } from '../src/judgments/panel.ts';
import type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
import type { Result } from '../src/result.ts';
import { type TurnStatus, takeTurns } from '../src/scoring/judge-turns.ts';
import { type ScoredRollout, type ScoringRequest, scoreGroup, scoreRollout } from '../src/scoring/score-rollouts.ts';
import { requestedPanel, type ScoreRequest } from '../src/wire/score.ts';
import { type Backends, chooseJudge, chooseSandbox } from './backends/configured.ts';
import type { RequestFailure } from './failures.ts';
import type { JudgeWait, ScoringPlatform } from './ports.ts';
import { requestedRecipe } from './requested-recipe.ts';

/** Deadline for all judges of one request together: trainers give up after 120 s, proxies after 100 s. */
export const SCORING_DEADLINE_MS = 95_000;

/** The wait of a request over HTTP. */
export const REQUEST_WAIT: JudgeWait = {
  each_ms: CALLER_DEADLINE_MS,
  all_ms: SCORING_DEADLINE_MS,
  most_ms: Number.POSITIVE_INFINITY,
};

/** How long the judges of a request are waited for: each, and all in turn. */
function waitOf(
  { deadline_s }: Pick<ScoringOptions, 'deadline_s'>,
  { judgeWait: { each_ms, all_ms, most_ms } = REQUEST_WAIT }: ScoringPlatform,
): Pick<JudgeWait, 'each_ms' | 'all_ms'> {
  const asked_ms = deadline_s === undefined ? null : deadline_s * 1000;
  return { each_ms: Math.min(asked_ms ?? each_ms, most_ms), all_ms: Math.min(asked_ms ?? all_ms, most_ms) };
}

/** How to score a rollout or a group; src/wire/score.ts describes the fields. */
export type ScoringOptions = Pick<
  ScoreRequest,
  'recipe' | 'judge' | 'judges' | 'judgments' | 'replicate' | 'on_judge_failure' | 'deadline_s'
> & {
  /**
   * Whether the request can be sent again at no cost, so that it is `judge_running` while a judge works, also where a
   * failed judge gives a `null` reward. Default false.
   */
  readonly sendsAgain?: boolean;
  readonly explain?: boolean;
  /** Divides the rewards. */
  readonly credit?: CreditBy;
  /** Measures everything the family can measure, so that other weights can be tried later. */
  readonly measureAll?: boolean;
  /** Names the visit of the prompt. */
  readonly visit?: string;
  /** Keeps the reasons of the judge, and shows them in the reply. */
  readonly store_reasons?: boolean;
  /** Signs the rewards. */
  readonly receipt?: boolean;
  /** The number of samples that a single rollout shares its limits with, itself included. Default 1. */
  readonly samples?: number;
};

export type ScoringReply<T> =
  | { readonly ok: true; readonly reply: T; readonly recipe: ResolvedRecipe; readonly timings: ObtainTimings }
  | { readonly ok: false; readonly failure: RequestFailure; readonly timings: ObtainTimings | null };

/** Scores a single rollout. */
export function scoreOne(
  rollout: Rollout,
  options: ScoringOptions,
  platform: ScoringPlatform,
): Promise<ScoringReply<ScoredRollout>> {
  return scoreWithFallback(options, platform, async (recipe, how, obtain) => {
    const { samples = 1 } = options;
    const result = await scoreRollout({ rollout, recipe, ...how, plan: { ...how.plan, samples } }, obtain);
    if (result.status !== 'done') return result;
    return { status: 'done', value: result, failure: result.failure, timings: result.timings };
  });
}

/** Scores the samples of one prompt together. */
export function scoreTogether(
  rollouts: readonly Rollout[],
  options: ScoringOptions,
  platform: ScoringPlatform,
): Promise<ScoringReply<readonly ScoredRollout[]>> {
  return scoreWithFallback(options, platform, async (recipe, how, obtain) => {
    const result = await scoreGroup({ rollouts, recipe, ...how }, obtain);
    if (result.status !== 'done') return result;
    const { members, timings } = result;
    const failures = members.flatMap((member) => member.failure ?? []);
    const failure = failures.find(isRunning) ?? failures[0] ?? null;
    return { status: 'done', value: members, failure, timings };
  });
}

type How = Pick<ScoringRequest, 'plan' | 'receiptIssuer' | 'readSources'>;

type Attempt<T> =
  | {
      readonly status: 'done';
      readonly value: T;
      readonly failure: JudgeFailure | null;
      readonly timings: ObtainTimings;
    }
  | Exclude<Awaited<ReturnType<typeof scoreRollout>>, { status: 'done' }>;

type Score<T> = (recipe: ResolvedRecipe, how: How, obtain: ObtainOptions) => Promise<Attempt<T>>;

/** Resolves the recipe and the issuer, then scores with the judges of the request. */
async function scoreWithFallback<T>(
  options: ScoringOptions,
  platform: ScoringPlatform,
  score: Score<T>,
): Promise<ScoringReply<T>> {
  const recipe = await requestedRecipe(options.recipe);
  if (!recipe.ok) return refused({ reason: 'input_invalid', problems: recipe.error });

  // Checked before a judge call is paid for.
  const { issuer } = platform.signing;
  if (platform.records === null) {
    if (options.receipt === true) return refused({ reason: 'needs_worker', field: 'receipt' });
    if (options.store_reasons === true) return refused({ reason: 'needs_worker', field: 'store_reasons' });
  }
  if (options.receipt === true && issuer === null) return refused({ reason: 'issuer_unconfigured' });

  const { value: resolved } = recipe;
  const { credit, visit } = options;
  const plan = {
    ...{ explain: options.explain === true, measureAll: options.measureAll === true },
    ...(credit === undefined ? {} : { credit }),
    ...(visit === undefined ? {} : { visit }),
  };
  const signs = options.receipt === true && issuer !== null ? { receiptIssuer: issuer } : {};
  const how = { plan, readSources: platform.readSources, ...signs };
  const attempt = (obtain: ObtainOptions): Promise<Attempt<T>> => score(resolved, how, obtain);
  const judged = await withRequestedJudges(options, platform, attempt);
  return judged.ok ? { ...judged, recipe: resolved } : judged;
}

/** How judges are chosen and asked; src/wire/score.ts describes the fields. */
export type JudgingOptions = Pick<
  ScoringOptions,
  'judge' | 'judgments' | 'replicate' | 'on_judge_failure' | 'store_reasons' | 'deadline_s' | 'sendsAgain'
>;

/** Asks the panel of the request, else its judges in turn. */
export function withRequestedJudges<T>(
  options: JudgingOptions & Pick<ScoringOptions, 'judges'>,
  platform: ScoringPlatform,
  attempt: (obtain: ObtainOptions) => Promise<Attempt<T>>,
): Promise<JudgedReply<T>> {
  const panel = requestedPanel(options);
  return panel === null ? withJudges(options, platform, attempt) : withPanel(panel, options, platform, attempt);
}

/** What the judges of a request gave, or the failure. */
export type JudgedReply<T> =
  | { readonly ok: true; readonly reply: T; readonly timings: ObtainTimings }
  | { readonly ok: false; readonly failure: RequestFailure; readonly timings: ObtainTimings | null };

/**
 * Tries the first judge of the request. The next judge is used only if one fails and the caller listed several: another
 * judge measures something else, so it judges the whole rollout or group. An unscored reward becomes a failure, or a
 * `null` reward if the request asks for it; it is never a number.
 */
export async function withJudges<T>(
  options: JudgingOptions,
  platform: ScoringPlatform,
  attempt: (obtain: ObtainOptions) => Promise<Attempt<T>>,
): Promise<JudgedReply<T>> {
  const named = typeof options.judge === 'string' ? [options.judge] : (options.judge ?? [undefined]);
  const judges = named.flatMap((name) => chooseJudge(platform.backends, name) ?? []);
  if (judges.length < named.length) {
    return refused(judgeUnknown(platform.backends));
  }

  const { each_ms, all_ms } = waitOf(options, platform);
  const turns = { deadline_ms: all_ms, elapsed: () => performance.now() };
  const { reply } = await takeTurns(judges, turns, async (judge, left_ms) => {
    const deadline_ms = Math.min(each_ms, left_ms);
    return judgedBy(await attempt(obtainOptions({ judge }, options, platform, deadline_ms)), options);
  });
  return reply;
}

/** Asks all judges of a panel. */
async function withPanel<T>(
  panel: readonly MemberOfPanel[],
  options: JudgingOptions,
  platform: ScoringPlatform,
  attempt: (obtain: ObtainOptions) => Promise<Attempt<T>>,
): Promise<JudgedReply<T>> {
  const chosen = choosePanel(panel, platform.backends);
  if (!chosen.ok) return refused(chosen.error);
  const { each_ms } = waitOf(options, platform);
  return judgedBy(await attempt(obtainOptions(chosen.value, options, platform, each_ms)), options).reply;
}

type Judging = Pick<ObtainOptions, 'judge' | 'panel'>;

function judgeUnknown({ named }: Backends): RequestFailure {
  return { reason: 'judge_unknown', configured: named.map(({ judge }) => judge.name) };
}

/** Finds the judges of a panel. Two members that are the same judge under two names would be one vote counted twice. */
function choosePanel(panel: readonly MemberOfPanel[], backends: Backends): Result<Judging, RequestFailure> {
  const members: JudgingMember[] = [];
  const identities = new Map<string, string>();
  for (const [position, member] of panel.entries()) {
    const choice = chooseJudge(backends, member.judge);
    if (choice === null) return { ok: false, error: judgeUnknown(backends) };
    if (choice.ok) {
      const identity = canonicalJson({ ...choice.judge.identityFor('rubric'), replicate: member.replicate });
      const other = identities.get(identity);
      if (other !== undefined) {
        const message = `is the same judge as ${other}: both have the model ${choice.judge.model}; give it another replicate`;
        return { ok: false, error: invalidAt(['judges', 'members', position], message) };
      }
      identities.set(identity, memberName(member));
    }
    members.push({ ...member, choice });
  }
  const [first] = members;
  if (first === undefined) throw new Error('choosePanel: a panel without members after validation');
  return { ok: true, value: { judge: first.choice, panel: members } };
}

function invalidAt(path: InputProblem['path'], message: string): RequestFailure {
  return { reason: 'input_invalid', problems: [{ path, message }] };
}

function obtainOptions(
  judging: Judging,
  { judgments: mode, replicate, store_reasons: keepReasons }: JudgingOptions,
  { backends, judgments, records, desk, class: callClass, signing }: ScoringPlatform,
  deadline_ms: number,
): ObtainOptions {
  return {
    ...judging,
    sandbox: chooseSandbox(backends),
    store: judgments,
    ...(keepReasons === true && records !== null ? { reasons: records.reasons } : {}),
    desk: { desk, class: callClass, takes: (name) => runsInDesk(name, backends) },
    signing,
    mode,
    replicate,
    deadline_ms,
    now: () => new Date().toISOString(),
    elapsed: () => performance.now(),
  };
}

type JudgeAttempt<T> = { readonly reply: JudgedReply<T>; readonly status: TurnStatus };

/** What one judge's attempt means for the request. */
function judgedBy<T>(result: Attempt<T>, options: JudgingOptions): JudgeAttempt<T> {
  switch (result.status) {
    case 'invalid':
      return { status: 'done', reply: refused({ reason: 'input_invalid', problems: result.problems }) };
    case 'missing':
      return { status: 'missing', reply: refused({ reason: 'judgment_missing', missing: result.judgments }) };
    case 'done': {
      const { value, failure, timings } = result;
      const reply = { ok: true, reply: value, timings } as const;
      if (failure === null) return { status: 'done', reply };
      return options.on_judge_failure === 'error' || (options.sendsAgain === true && isRunning(failure))
        ? { status: 'failed', reply: { ok: false, failure: { reason: 'judgment_failed', failure }, timings } }
        : { status: 'failed', reply };
    }
  }
}

function isRunning({ reason }: JudgeFailure): boolean {
  return reason === 'judge_running';
}

/** Whether the judgments of this backend are made in the desk (paid calls) instead of here (pure computation). */
function runsInDesk(name: string, { named, sandbox }: Backends): boolean {
  if (sandbox?.judge.name === name) return sandbox.runs_in === 'desk';
  return named.some(({ judge, runs_in }) => judge.name === name && runs_in === 'desk');
}

function refused(failure: RequestFailure): Extract<ScoringReply<never>, { ok: false }> {
  return { ok: false, failure, timings: null };
}
