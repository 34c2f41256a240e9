/**
 * Scores rollouts, alone or as a group: plans them, obtains their judgments stage by stage, measures, composes, and
 * makes the replies. Independent of the platform: the Worker, the command line and batches call it.
 *
 *     plan -> judgments (store, judge, sandbox), once for each stage -> facts -> compose -> reply
 *
 * An unscored rollout keeps its reason and the failure behind it; the caller decides what becomes of it.
 */

import { citedAnswerReport } from '../citations/formats/report.ts';
import { validatedAnswer } from '../citations/formats/requested-answer.ts';
import type { SourceReader } from '../citations/recent-sources.ts';
import { sourcesOf } from '../citations/sources.ts';
import type { SourceSet } from '../citations/types.ts';
import { BUILT_IN, type Composers } from '../families/composers.ts';
import { type BuiltInTypes, familyOf, planRollout } from '../families/registry.ts';
import type { ResolvedRecipe } from '../families/resolve.ts';
import type { CreditBy } from '../family/credit.ts';
import type { FamilyTypes, Measured, Panel, PlanOptions } from '../family/family.ts';
import type { Rollout } from '../family/rollout.ts';
import type { BaseScore } from '../family/score.ts';
import { type PlanRun, runPlans, type Stage } from '../family/stages.ts';
import type { VerdictLevel } from '../family/verdict-levels.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Issuer } from '../judgments/issuer.ts';
import type { JudgmentKind } from '../judgments/kinds/names.ts';
import {
  type ObtainedJudgment,
  type ObtainOptions,
  type ObtainTimings,
  obtainJudgments,
  type WantedJudgment,
} from '../judgments/obtain.ts';
import { pinJudgments } from '../judgments/pin.ts';
import type { JudgeFailure } from '../judgments/protocol/failure.ts';
import type { AnswerText } from '../lexical/index.ts';
import { MAX_GROUP_SOURCES } from '../limits.ts';
import type { Result } from '../result.ts';
import { trajectoryReport } from '../trajectory/report.ts';
import { type Credit, creditOf } from './credit.ts';
import { type PanelReport, panelReport } from './panel-report.ts';
import { createReceipt, type ReceiptParts } from './receipt.ts';
import type { Receipt } from './receipt-schema.ts';
import { createRequestDigests } from './request-digest.ts';
import { type MadeBy, reportJudgment } from './score-reply.ts';

/** What scoring needs of a list of families. */
export type ScoringRules<T extends FamilyTypes = BuiltInTypes> = {
  readonly composers: Composers<T>;
  /** Plans the judgments of one rollout. */
  plan(
    rollout: Rollout,
    recipe: T['recipe'],
    options: PlanOptions,
  ): Result<Stage<Measured<T>>, readonly InputProblem[]>;
  /** The verdicts in facts, in order; `null` = one is missing. */
  verdicts(facts: T['facts']): readonly VerdictLevel[] | null;
  /** Signs a score; `null` = these families have no receipts. */
  readonly sign:
    | ((parts: Omit<ReceiptParts, 'score'> & { readonly score: T['score'] }, by: Issuer) => Promise<Receipt>)
    | null;
};

/** The rules of the built-in families. */
const BUILT_IN_RULES: ScoringRules = {
  composers: BUILT_IN,
  plan: planRollout,
  verdicts: (facts) => familyOf(facts).facts.verdicts(facts),
  sign: createReceipt,
};

export type ScoringRequest<T extends FamilyTypes = BuiltInTypes> = {
  readonly rollout: Rollout;
  readonly recipe: ResolvedRecipe<T['recipe'], string>;
  readonly plan?: Omit<PlanOptions, 'sources' | 'panel'>;
  /** Signs a receipt for the reply; absent = no receipt. */
  readonly receiptIssuer?: Issuer;
  readonly whenMissing?: WhenMissing;
  /** Reads sources; default `sourcesOf`. */
  readonly readSources?: SourceReader;
};

type GroupScoringRequest<T extends FamilyTypes = BuiltInTypes> = {
  /** At least one. */
  readonly rollouts: readonly Rollout[];
  readonly recipe: ResolvedRecipe<T['recipe'], string>;
  readonly plan?: Omit<PlanOptions, 'sources' | 'samples' | 'panel'>;
  /** Signs a receipt for each reply; absent = no receipts. */
  readonly receiptIssuer?: Issuer;
  readonly whenMissing?: WhenMissing;
  /** Reads sources; default `sourcesOf`. */
  readonly readSources?: SourceReader;
};

/**
 * What to do if mode `only` does not find a judgment. `refuse` (default): the result `missing`, which names the keys.
 * `report`: a reply whose reward is `null` for `judgment_missing`.
 */
type WhenMissing = 'refuse' | 'report';

/** A scored rollout, or an unscored one with the failure behind it. */
export type ScoredRollout<T extends FamilyTypes = BuiltInTypes> = {
  readonly score: T['score'];
  readonly contributions: MadeBy['contributions'];
  readonly recipe: MadeBy['recipe'];
  readonly receipt: Receipt | null;
  /** The judges behind the verdicts; `null` = one judge. */
  readonly panel: PanelReport | null;
  /** The score with all reports. It is built when it is first read, and costs nothing until then. */
  readonly reply: T['reply'] & MadeBy;
  /** The reward as shares; absent: the plan does not ask for it. */
  readonly credit?: Credit;
  /** The failure that left the reward `null`; `null` if there is a reward, or nothing failed. */
  readonly failure: JudgeFailure | null;
  /** The content that a run records: the facts, and the requested judgments. */
  readonly facts: T['facts'];
  readonly obtained: readonly ObtainedJudgment[];
  /** Reads the answer with its question and sources; `null` = it has none. Absent: the family does not read it. */
  readonly answer?: (() => AnswerText) | null;
};

type NotScored =
  /** Mode `only`, and the store lacks a needed judgment; lists what the stages so far asked for and the store lacks. */
  | { readonly status: 'missing'; readonly judgments: readonly { readonly kind: JudgmentKind; readonly key: string }[] }
  /** Input errors: a field that the recipe reads is missing or wrong, or a limit is exceeded. */
  | { readonly status: 'invalid'; readonly problems: readonly InputProblem[] };

export type ScoringResult<T extends FamilyTypes = BuiltInTypes> =
  | ({ readonly status: 'done'; readonly timings: ObtainTimings } & ScoredRollout<T>)
  | NotScored;

type GroupScoringResult<T extends FamilyTypes = BuiltInTypes> =
  | { readonly status: 'done'; readonly members: readonly ScoredRollout<T>[]; readonly timings: ObtainTimings }
  | NotScored;

/** Scores one rollout of a built-in family. Expected failures are results; a rejection is a bug. */
export function scoreRollout(request: ScoringRequest, options: ObtainOptions): Promise<ScoringResult> {
  return scoreRolloutBy(BUILT_IN_RULES, request, options);
}

/** Scores one rollout by the rules of a list of families. */
export async function scoreRolloutBy<T extends FamilyTypes>(
  rules: ScoringRules<T>,
  request: ScoringRequest<T>,
  options: ObtainOptions,
): Promise<ScoringResult<T>> {
  const { recipe, rollout, plan, whenMissing = 'refuse', readSources = sourcesOf } = request;
  const sources = givenSources(rollout, readSources);
  const planned = rules.plan(rollout, recipe.recipe, {
    ...plan,
    ...(sources === null ? {} : { sources }),
    ...panelOf(options),
  });
  if (!planned.ok) return { status: 'invalid', problems: planned.error };
  const { runs, missing, timings } = await obtainStages([planned.value], options);
  const replies = createReplies(rules, request, options);
  const [run] = runs;
  if (run === undefined) throw new Error('scoreRollout: the plan was lost');
  const { facts } = run.value;
  const score = rules.composers.compose(facts, recipe.recipe);
  if (whenMissing === 'refuse' && score.reason === 'judgment_missing') return { status: 'missing', judgments: missing };
  const scored = await replies({ rollout, run, score, failure: failureBehind(score, [run]) });
  // Not spread: a copy would build the reply.
  return Object.assign(scored, { status: 'done' as const, timings });
}

/**
 * Scores the samples of one prompt together. Their sources are parsed once, the judgments of each stage are obtained at
 * once, and a recipe that compares within the group does so. Problems of a sample are named below `responses[i]`.
 */
export function scoreGroup(request: GroupScoringRequest, options: ObtainOptions): Promise<GroupScoringResult> {
  return scoreGroupBy(BUILT_IN_RULES, request, options);
}

/** Scores a group by the rules of a list of families. */
export async function scoreGroupBy<T extends FamilyTypes>(
  rules: ScoringRules<T>,
  request: GroupScoringRequest<T>,
  options: ObtainOptions,
): Promise<GroupScoringResult<T>> {
  const { rollouts, whenMissing = 'refuse' } = request;
  const { recipe } = request.recipe;
  const planned = planGroup(rules, request, options);
  if (!planned.ok) return { status: 'invalid', problems: planned.error };
  const { runs, missing, timings } = await obtainStages(planned.value, options);
  const votes = rules.composers.groupVotes(runs.map(({ value: { facts } }) => ({ facts, recipe })));
  const finished = rollouts.flatMap((rollout, position): Finished<T>[] => {
    const run = runs[position];
    if (run === undefined) return [];
    const score = rules.composers.compose(run.value.facts, recipe, votes);
    const behind = score.depends_on?.flatMap((other) => runs[other] ?? []) ?? [run];
    return [{ rollout, run, score, failure: failureBehind(score, behind) }];
  });
  if (finished.length !== rollouts.length) throw new Error('scoreGroup: a member was lost');
  if (whenMissing === 'refuse' && finished.some(({ failure }) => failure?.reason === 'judgment_missing')) {
    return { status: 'missing', judgments: missing };
  }
  const replies = createReplies(rules, request, options);
  return { status: 'done', members: await Promise.all(finished.map(replies)), timings };
}

type RolloutPlan<T extends FamilyTypes> = Stage<Measured<T>>;
type RolloutRun<T extends FamilyTypes> = PlanRun<Measured<T>, ObtainedJudgment>;

type ObtainedStages<T extends FamilyTypes> = {
  /** In the order of the plans. */
  readonly runs: readonly RolloutRun<T>[];
  /** Judgments that the store lacks; only in mode `only`. */
  readonly missing: readonly { readonly kind: JudgmentKind; readonly key: string }[];
  /** Summed over the stages, which run one after another. */
  readonly timings: ObtainTimings;
};

/** Runs plans to their ends. The deadline spans all stages: a later stage gets the time that the earlier ones left. */
async function obtainStages<T extends FamilyTypes>(
  plans: readonly RolloutPlan<T>[],
  options: ObtainOptions,
): Promise<ObtainedStages<T>> {
  const missing: { kind: JudgmentKind; key: string }[] = [];
  const timings = { store_read: 0, judge: 0, store_write: 0 };
  let firstStart: number | null = null;
  const obtain = async (wanted: readonly WantedJudgment[]): Promise<readonly ObtainedJudgment[]> => {
    const now = options.elapsed();
    firstStart ??= now;
    const deadline_ms = Math.max(0, options.deadline_ms - (now - firstStart));
    const obtained = await obtainJudgments(wanted, { ...options, deadline_ms });
    for (const part of ['store_read', 'judge', 'store_write'] as const) timings[part] += obtained.timings[part];
    for (const { kind, key, outcome } of obtained.judgments) {
      if (!outcome.ok && outcome.failure.reason === 'judgment_missing' && key !== null) missing.push({ kind, key });
    }
    return obtained.judgments;
  };
  return { runs: await runPlans(plans, obtain), missing, timings };
}

/** One plan for each rollout, in order. */
function planGroup<T extends FamilyTypes>(
  rules: ScoringRules<T>,
  { rollouts, recipe, plan, readSources = sourcesOf }: GroupScoringRequest<T>,
  options: ObtainOptions,
): Result<RolloutPlan<T>[], readonly InputProblem[]> {
  // Samples with the same given sources share one set. Those that come as messages have their own tool results.
  const sets = new Map<unknown, SourceSet | null>();
  const plans: RolloutPlan<T>[] = [];
  for (const [position, rollout] of rollouts.entries()) {
    const given = rollout.tool_output ?? rollout.sources;
    const sources = sets.get(given) ?? givenSources(rollout, readSources);
    sets.set(given, sources);
    const shared = { samples: rollouts.length, ...(sources === null ? {} : { sources }) };
    const problem = groupSourcesProblem(rollout, shared);
    if (problem !== null) return { ok: false, error: [problem] };
    const planned = rules.plan(rollout, recipe.recipe, { ...plan, ...shared, ...panelOf(options) });
    // A problem of the shared fields is the same for all samples: the first sample reports it.
    if (!planned.ok) return { ok: false, error: planned.error.map((problem) => ofSample(problem, position)) };
    plans.push(planned.value);
  }
  return { ok: true, value: plans };
}

/** The panel of the options, as plans take it. */
function panelOf({ panel = [] }: ObtainOptions): { readonly panel?: Panel } {
  const [first, ...others] = panel;
  return first === undefined ? {} : { panel: [first, ...others] };
}

/** Each member's reply lists the sources that a group shares, so both numbers together are limited. */
function groupSourcesProblem(
  { tool_output }: Rollout,
  { samples, sources }: { readonly samples: number; readonly sources?: SourceSet },
): InputProblem | null {
  const count = sources?.list.length ?? 0;
  if (samples === 1 || count === 0 || samples * count <= MAX_GROUP_SOURCES) return null;
  const most = Math.max(1, Math.floor(MAX_GROUP_SOURCES / count));
  const message =
    `${samples} samples with ${count} sources each; at most ${MAX_GROUP_SOURCES} in one request: ` +
    `send at most ${most} samples together, or fewer sources`;
  return { path: [tool_output === undefined ? 'sources' : 'tool_output'], message };
}

/** The parsed sources that the request gives for a rollout; `null` = it gives none. */
function givenSources({ tool_output, sources }: Rollout, readSources: SourceReader): SourceSet | null {
  if (tool_output !== undefined) return readSources({ tool_output });
  return sources === undefined ? null : readSources({ sources });
}

const SAMPLE_FIELDS: ReadonlySet<unknown> = new Set([
  'response',
  'messages',
  'cited_answer',
  'answer_format',
  'trajectory',
  'reasoning',
  'finish_reason',
  'num_turns',
  'response_tokens',
]);

function ofSample(problem: InputProblem, position: number): InputProblem {
  if (!SAMPLE_FIELDS.has(problem.path[0])) return problem;
  return { ...problem, path: ['responses', position, ...problem.path] };
}

type Finished<T extends FamilyTypes> = {
  readonly rollout: Rollout;
  readonly run: RolloutRun<T>;
  readonly score: T['score'];
  readonly failure: JudgeFailure | null;
};

/**
 * Makes the scores of one request, with receipts if there is an issuer. Digests of shared fields are computed once.
 */
function createReplies<T extends FamilyTypes>(
  { composers, sign, verdicts }: ScoringRules<T>,
  { recipe, receiptIssuer: issuer, plan = {} }: Pick<GroupScoringRequest<T>, 'recipe' | 'receiptIssuer' | 'plan'>,
  options: ObtainOptions,
): (finished: Finished<T>) => Promise<ScoredRollout<T>> {
  const { name, digest } = recipe;
  const [least, most] = recipe.reward_range;
  const requestDigest = createRequestDigests();
  const receiptOf = async ({ rollout, run, score }: Finished<T>, by: Issuer): Promise<Receipt | null> => {
    if (sign === null) return null;
    const request = requestDigest(rollout);
    const judgments = pinJudgments(run.obtained);
    return sign({ request, recipe: digest, judgments, score, issued_at: options.now() }, by);
  };
  return async (finished) => {
    const { score, failure, rollout } = finished;
    const { value: measured, obtained } = finished.run;
    const contributed = composers.contributions(score, recipe.recipe);
    const panel = panelReport(measured.facts, recipe.recipe, obtained, verdicts);
    const brief: Omit<MadeBy, 'judgments' | 'trajectory' | 'cited_answer' | 'panel'> = {
      contributions: contributed === null ? null : { ...contributed },
      recipe: { name, digest, reward_range: [least, most] },
      receipt: issuer === undefined ? null : await receiptOf(finished, issuer),
    };
    const build = (): T['reply'] & MadeBy => {
      const { contributions, ...others } = brief;
      const trajectory = trajectoryReport(rollout);
      const answer = validatedAnswer(rollout);
      return {
        ...measured.reply(score),
        contributions,
        judgments: obtained.map(reportJudgment),
        ...others,
        ...(trajectory === null ? {} : { trajectory }),
        ...(answer === null ? {} : { cited_answer: citedAnswerReport(answer) }),
        ...(panel === null ? {} : { panel }),
      };
    };
    let reply: (T['reply'] & MadeBy) | null = null;
    const dividing = (by: CreditBy): Credit => {
      const { places, shares } = measured.claims ?? { places: [], shares: () => [] };
      return creditOf(by, rollout, { reward: score.reward, shares: shares(score), places });
    };
    return {
      ...brief,
      panel,
      score,
      get reply() {
        reply ??= build();
        return reply;
      },
      ...(plan.credit === undefined ? {} : { credit: dividing(plan.credit) }),
      failure,
      facts: measured.facts,
      obtained,
      ...(measured.answer === undefined ? {} : { answer: measured.answer }),
    };
  };
}

/**
 * The failure that the reward's reason names. A skipped judgment is no failure: the caller asked for it.
 *
 * @param runs The member's own run, or those of the members on which its reward depends.
 * @throws Error if no judgment failed with that reason, which no path should reach.
 */
function failureBehind(
  { reason }: BaseScore,
  runs: readonly { readonly obtained: readonly ObtainedJudgment[] }[],
): JudgeFailure | null {
  if (reason === null || reason === 'nothing_to_score' || reason === 'judgment_skipped') return null;
  for (const { obtained } of runs) {
    for (const { outcome } of obtained) {
      if (outcome.ok || outcome.failure.reason === 'judgment_skipped') continue;
      if (reason === 'group_vote_unknown' || outcome.failure.reason === reason) return outcome.failure;
    }
  }
  if (reason === 'group_vote_unknown') return null;
  throw new Error(`scoring: no judgment failed with ${reason}, and yet the reward is unscored for it`);
}
