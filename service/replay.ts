/**
 * Replays a recorded run under another recipe: which rewards and advantages it would have had. Where the request asks
 * for it, a judge measures what the ledger lacks, from the text that the run stores, through the same scoring as
 * `/v1/score`. New judgments are stored, so a second replay calls no judge. The ledger itself does not change.
 */

import * as z from 'zod';
import type { Recipe } from '../src/families/composers.ts';
import { familyOf } from '../src/families/registry.ts';
import type { Rollout, SignedCriterionInput } from '../src/family/rollout.ts';
import { responseFields, rolloutOf, sharedFields } from '../src/family/rollout-schema.ts';
import type { UnscoredReason } from '../src/family/score.ts';
import { samplesOf } from '../src/family/shared-limits.ts';
import { MAX_RUN_GROUP } from '../src/limits.ts';
import type { Result } from '../src/result.ts';
import type { ReplayedRubricsInput } from '../src/rubrics/replayed-set.ts';
import { sampledGroups } from '../src/runs/group-sample.ts';
import { planReplay, type ReplayPlan } from '../src/runs/plan-replay.ts';
import { gapsOf, type Measurement, type PreparedGroup, replayPrepared } from '../src/runs/replay-group.ts';
import {
  findMissing,
  type Measurer,
  type ReplayParts,
  type RowsOfGroup,
  replayLines,
} from '../src/runs/replay-lines.ts';
import { ReplayedRubrics } from '../src/runs/replay-rubrics.ts';
import { findStepProblems, StepRefused } from '../src/runs/replay-step.ts';
import { type LedgerRow, visitOfPlace } from '../src/runs/row.ts';
import type { ReplayRequest } from '../src/wire/replay.ts';
import type { ReplayLine } from '../src/wire/replay-reply.ts';
import { chooseJudge } from './backends/configured.ts';
import { RequestError, type RequestFailure } from './failures.ts';
import type { DetailPlace } from './ledger-port.ts';
import { lifeOf, type StoredRun } from './ledger-port.ts';
import type { ReplayPlatform } from './ports.ts';
import { scoreOne } from './score.ts';

/** Rollouts of a group that are judged concurrently, with their texts in memory. */
const REPLAY_CONCURRENCY = 8;

/** Reasons for a missing reward that remain if a judge judges the rollout again. */
const BEYOND_A_JUDGE: ReadonlySet<UnscoredReason | null> = new Set(['nothing_to_score', 'group_vote_unknown']);

type Replay = {
  /** The lines of the reply. @throws RequestError or StorageError if the replay cannot continue. */
  readonly lines: AsyncGenerator<ReplayLine>;
  /** Whether the replay calls a judge, so that a single line may take long. */
  readonly judges: boolean;
};

/** Starts a replay. It fails before the first line if the replay could not be complete. */
export async function startReplay(
  run: StoredRun,
  request: ReplayRequest,
  platform: ReplayPlatform,
): Promise<Result<Replay, RequestFailure>> {
  const { ledger } = platform;
  const recorded = new Map([...(await ledger.contents(run)).recipes].map(([digest, { recipe }]) => [digest, recipe]));
  const planned = await planReplay(run.id, recorded, request);
  if (!planned.ok) return { ok: false, error: { reason: 'input_invalid', problems: planned.error } };
  const { value: plan } = planned;
  const rubrics = request.rubrics === undefined ? null : await rubricsOf(request.rubrics, run, platform);
  if (rubrics !== null && !rubrics.ok) return rubrics;
  const groups = () => sampledGroups(rowsOfGroups(platform, run, request.steps), request.sample);
  const refusal = await refusalOf(plan, run, platform, groups);
  if (refusal !== null) return { ok: false, error: refusal };
  const problems = await findStepProblems(groups(), plan);
  if (problems.length > 0) return { ok: false, error: { reason: 'input_invalid', problems } };
  const judges = plan.measures.kind !== 'nothing';
  const measurer = judges ? new RunMeasurer(plan, run, platform) : null;
  return {
    ok: true,
    value: { lines: replyLines(groups(), plan, { measurer, rubrics: rubrics?.value ?? null }), judges },
  };
}

/** The lines of the reply. @throws RequestError also if judging gave a step components that do not fit the rule. */
async function* replyLines(
  groups: AsyncIterable<RowsOfGroup>,
  plan: ReplayPlan,
  parts: ReplayParts,
): AsyncGenerator<ReplayLine> {
  try {
    yield* replayLines(groups, plan, parts);
  } catch (error) {
    if (error instanceof StepRefused) throw new RequestError({ reason: 'input_invalid', problems: error.problems });
    throw error;
  }
}

/** The other sets of the run's evolving rubrics, or why there are none. */
async function rubricsOf(
  asked: ReplayedRubricsInput,
  run: StoredRun,
  { rubrics }: ReplayPlatform,
): Promise<Result<ReplayedRubrics, RequestFailure>> {
  if ((await rubrics.list(run, null, 1)).length === 0) {
    const message = 'the run has no evolving rubrics: leave the field out';
    return { ok: false, error: { reason: 'input_invalid', problems: [{ path: ['rubrics'], message }] } };
  }
  const life = lifeOf(run);
  const readLog = async (prompt: string) => {
    const stored = await rubrics.read(life, prompt);
    if (stored === null) return null;
    return { rules: stored.rules, log: stored.events.flatMap(({ superseded, entry }) => (superseded ? [] : [entry])) };
  };
  return { ok: true, value: new ReplayedRubrics(asked, readLog) };
}

async function* rowsOfGroups(
  { ledger }: ReplayPlatform,
  run: StoredRun,
  steps: ReplayRequest['steps'],
): AsyncGenerator<RowsOfGroup> {
  for await (const { rows } of ledger.groups(run, { fromStep: steps?.from, toStep: steps?.to })) yield rows;
}

/** Why the replay would be incomplete: an unknown judge, no stored text, or missing measurements. */
async function refusalOf(
  plan: ReplayPlan,
  run: StoredRun,
  { backends }: ReplayPlatform,
  groups: () => AsyncIterable<RowsOfGroup>,
): Promise<RequestFailure | null> {
  const { measures } = plan;
  const judge = measures.kind === 'nothing' ? null : measures.judge;
  if (judge !== null && chooseJudge(backends, judge) === null) {
    return { reason: 'judge_unknown', configured: backends.named.map((backend) => backend.judge.name) };
  }
  if (measures.kind === 'all' && !run.store_text) return { reason: 'text_not_kept', missing: null };
  if (!plan.mayLeaveGaps || measures.kind === 'all' || (measures.kind === 'missing' && run.store_text)) return null;
  const missing = await findMissing(groups(), plan);
  if (missing.open === 0) return null;
  return measures.kind === 'missing'
    ? { reason: 'text_not_kept', missing }
    : { reason: 'measurement_missing', missing, can_fill: run.store_text };
}

/** Measures rollouts again: those without a reward under the new recipe, or all of them with another judge. */
class RunMeasurer implements Measurer {
  readonly counts = { rollouts: 0, without_text: 0, refused: 0, judge_calls: 0 };
  readonly #plan: ReplayPlan;
  readonly #run: StoredRun;
  readonly #platform: ReplayPlatform;

  constructor(plan: ReplayPlan, run: StoredRun, platform: ReplayPlatform) {
    this.#plan = plan;
    this.#run = run;
    // No caller waits for a single rollout, so its judge calls yield to live ones.
    this.#platform = { ...platform, class: 'batch' };
  }

  /** @throws RequestError if no rollout can be judged, StorageError. */
  async measure(prepared: PreparedGroup, after: ReplayPlan['after']): Promise<readonly (Measurement | null)[]> {
    const wanted = this.#wanted(prepared, after);
    if (!wanted.includes(true)) return [];
    const gaps = gapsOf(prepared.rows, prepared.recipes, after);
    const places = await this.#places(prepared.rows);
    const measured: (Measurement | null)[] = prepared.rows.map(() => null);
    const left = prepared.rows.entries();
    const work = async (): Promise<void> => {
      // All concurrent workers take their rows from one iterator.
      for (const [position, row] of left) {
        if (wanted[position] !== true) continue;
        const recipe = after.get(row.recipe);
        if (recipe === undefined) throw new Error('measure: the run lacks the recipe of a row');
        const place = places.get(placeKey(row)) ?? null;
        const criteria = prepared.rubrics[position]?.criteria ?? null;
        measured[position] = await this.#measureRow(row, recipe, { place, gaps: gaps[position] ?? [], criteria });
      }
    };
    await Promise.all(Array.from({ length: Math.min(REPLAY_CONCURRENCY, wanted.length) }, work));
    return measured;
  }

  /**
   * Returns for each row, by its index, whether to measure the row: whether it lacks a value of its own that a judge
   * can find.
   */
  #wanted(prepared: PreparedGroup, after: ReplayPlan['after']): boolean[] {
    if (this.#plan.measures.kind === 'all') return prepared.rows.map(() => true);
    const { samples } = replayPrepared(prepared, after);
    return samples.map(
      ({ after: { reward, reason }, rubric }) =>
        reward === null && !BEYOND_A_JUDGE.has(reason) && (rubric === null || rubric.set !== null),
    );
  }

  async #measureRow(
    row: LedgerRow,
    recipe: Recipe,
    {
      place,
      gaps,
      criteria,
    }: {
      readonly place: DetailPlace | null;
      readonly gaps: readonly string[];
      /** The criteria of the set that scores the rollout in the replay; `null` = those of its text. */
      readonly criteria: readonly SignedCriterionInput[] | null;
    },
  ): Promise<Measurement | null> {
    const detail = place === null ? null : await this.#platform.ledger.detail(place);
    if (detail === null || detail.rollout === null) {
      this.counts.without_text++;
      // A rollout without text cannot be judged. If it failed when it was scored, the reason of that failure remains;
      // if another judge is requested, the missing text itself is the gap.
      return gaps.length === 0 && this.#plan.measures.kind === 'missing' ? null : { gaps: [...gaps, 'rollout.text'] };
    }
    const rollout = readStoredRollout(detail.rollout);
    const port = criteria === null ? undefined : familyOf(row.facts).rubric;
    return this.#judge(
      port === undefined || criteria === null ? rollout : port.withCriteria(rollout, criteria),
      recipe,
      row,
    );
  }

  async #judge(rollout: Rollout, recipe: Recipe, row: LedgerRow): Promise<Measurement> {
    const { measures } = this.#plan;
    const { panel } = row.facts;
    const judge =
      measures.kind !== 'nothing' && measures.judge !== null
        ? { judge: measures.judge }
        : // The members that judged the rollout before, so that no other judge fills their gaps.
          panel === undefined
          ? {}
          : { judges: { members: panel.map(({ judge, replicate }) => ({ judge, replicate })) } };
    const scored = await scoreOne(
      rollout,
      {
        recipe,
        ...judge,
        judgments: 'use',
        replicate: measures.kind === 'all' ? measures.replicate : 0,
        on_judge_failure: 'null',
        measureAll: true,
        ...visitOfPlace(row),
        samples: samplesOf(row.facts),
      },
      this.#platform,
    );
    if (scored.ok) {
      const { facts, obtained } = scored.reply;
      this.counts.rollouts++;
      this.counts.judge_calls += obtained.filter(({ key, outcome }) =>
        outcome.ok ? !outcome.cached : key !== null,
      ).length;
      return { facts };
    }
    if (scored.failure.reason !== 'input_invalid') throw new RequestError(scored.failure);
    // The rollout lacks a field that the new recipe reads and that the recipe of its first scoring did not need.
    this.counts.refused++;
    const fields = scored.failure.problems.map(({ path }) => `rollout.${path[0] ?? row.facts.family}`);
    return { gaps: [...new Set(fields)] };
  }

  /** Where the ledger stores the texts of a group's rows. */
  async #places(rows: readonly LedgerRow[]): Promise<ReadonlyMap<string, DetailPlace | null>> {
    const [first] = rows;
    if (first === undefined) return new Map();
    const { step, group } = first;
    const range = step === null ? { withoutStep: true } : { fromStep: step, toStep: step };
    const page = await this.#platform.ledger.page(this.#run, { ...range, group, attempts: 'latest' }, MAX_RUN_GROUP);
    return new Map(page.map(({ row, detail }) => [placeKey(row), detail]));
  }
}

/** Identifies a row within its group. Each attempt has its own text. */
function placeKey({ sample, attempt }: LedgerRow): string {
  return `${attempt} ${sample}`;
}

const storedRolloutSchema = z.strictObject({
  ...sharedFields,
  ...responseFields,
  history: z
    .array(
      z.strictObject({
        role: z.string(),
        content: z.string().exactOptional(),
        reasoning_content: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
});

/** Parses the stored text of a rollout. @throws ZodError for any other form: a judge sees only what was sent. */
function readStoredRollout(stored: unknown): Rollout {
  const { history, ...fields } = storedRolloutSchema.parse(stored);
  return history === undefined ? rolloutOf(fields) : { ...rolloutOf(fields), history };
}
