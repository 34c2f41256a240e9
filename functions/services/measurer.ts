/**
 * Measuring rollouts of a run anew, from the text that the run keeps: those that have no reward under the other recipe, or
 * all of them by another judge. It goes through the same scoring as `/v1/score`; what is judged is stored under its key, so
 * that a second replay asks nobody. The ledger itself does not change.
 */

import type { Recipe } from '../../src/families/recipes.ts';
import type { Rollout } from '../../src/family/rollout.ts';
import { MAX_RUN_GROUP } from '../../src/limits.ts';
import type { ReplayPlan } from '../../src/runs/plan-replay.ts';
import { gapsOf, type Measurement, type PreparedGroup, replayPrepared } from '../../src/runs/replay-group.ts';
import type { Measurer } from '../../src/runs/replay-lines.ts';
import type { LedgerRow } from '../../src/runs/row.ts';
import { RequestError } from '../http/errors.ts';
import { type ObjectPlace, readDetail } from '../ledger/run-objects.ts';
import { readPage } from '../ledger/run-rows.ts';
import { type ScoringPlatform, scoreOne } from './score.ts';
import { readStoredRollout } from './stored-rollout.ts';

/** Rollouts of a group whose texts are in memory and with a judge at once, while a replay judges. */
const REPLAY_JUDGED_AT_ONCE = 8;

export type MeasurerParts = {
  readonly db: D1Database;
  readonly bucket: R2Bucket;
  readonly platform: ScoringPlatform;
};

/** `null` = the plan measures nothing. */
export function createMeasurer(plan: ReplayPlan, parts: MeasurerParts): Measurer | null {
  return plan.measures.kind === 'nothing' ? null : new RunMeasurer(plan, parts);
}

class RunMeasurer implements Measurer {
  readonly counts = { rollouts: 0, without_text: 0, refused: 0, judge_calls: 0 };
  readonly #plan: ReplayPlan;
  readonly #parts: MeasurerParts;

  constructor(plan: ReplayPlan, { platform, ...stores }: MeasurerParts) {
    this.#plan = plan;
    // Nobody waits for one of them: they leave room for those who do.
    this.#parts = { ...stores, platform: { ...platform, class: 'batch' } };
  }

  /** @throws RequestError where nothing can be judged at all, StorageError. */
  async measure(prepared: PreparedGroup, after: ReplayPlan['after']): Promise<readonly (Measurement | null)[]> {
    const wanted = this.#wanted(prepared, after);
    if (!wanted.includes(true)) return [];
    const gaps = gapsOf(prepared.rows, prepared.recipes, after);
    const places = await this.#places(prepared.rows);
    const measured: (Measurement | null)[] = prepared.rows.map(() => null);
    const left = prepared.rows.entries();
    const work = async (): Promise<void> => {
      // All workers draw from one iterator.
      for (const [position, row] of left) {
        if (wanted[position] !== true) continue;
        const recipe = after.get(row.recipe);
        if (recipe === undefined) throw new Error('measure: a row under a recipe that the run does not have');
        measured[position] = await this.#one(row, recipe, places.get(placeKey(row)) ?? null, gaps[position] ?? []);
      }
    };
    await Promise.all(Array.from({ length: Math.min(REPLAY_JUDGED_AT_ONCE, wanted.length) }, work));
    return measured;
  }

  /** By position. Where a recipe finds nothing to score, a judge would not find it either. */
  #wanted(prepared: PreparedGroup, after: ReplayPlan['after']): boolean[] {
    if (this.#plan.measures.kind === 'all') return prepared.rows.map(() => true);
    const { samples } = replayPrepared(prepared, after);
    return samples.map((sample) => sample.after.reward === null && sample.after.reason !== 'nothing_to_score');
  }

  async #one(
    row: LedgerRow,
    recipe: Recipe,
    place: ObjectPlace | null,
    gaps: readonly string[],
  ): Promise<Measurement | null> {
    const detail = place === null ? null : await readDetail(this.#parts.bucket, place);
    if (detail === null || detail.rollout === null) {
      this.counts.without_text++;
      // What failed when it was scored keeps its reason; another judge has said nothing at all.
      return gaps.length === 0 && this.#plan.measures.kind === 'missing' ? null : { gaps: [...gaps, 'rollout.text'] };
    }
    return this.#judged(readStoredRollout(detail.rollout), recipe, row);
  }

  async #judged(rollout: Rollout, recipe: Recipe, row: LedgerRow): Promise<Measurement> {
    const { measures } = this.#plan;
    const judge = measures.kind === 'nothing' || measures.judge === null ? {} : { judge: measures.judge };
    const scored = await scoreOne(
      rollout,
      { recipe, ...judge, judgments: 'use', replicate: 0, on_judge_failure: 'null', measureAll: true },
      this.#parts.platform,
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
    // It was scored under one recipe and does not fit the other: it lacks what that one reads.
    this.counts.refused++;
    const fields = scored.failure.problems.map(({ path }) => `rollout.${path[0] ?? row.facts.family}`);
    return { gaps: [...new Set(fields)] };
  }

  /** Where the texts of a group's rows stand. */
  async #places(rows: readonly LedgerRow[]): Promise<ReadonlyMap<string, ObjectPlace | null>> {
    const [first] = rows;
    if (first === undefined) return new Map();
    const { run, step, group } = first;
    const range = step === null ? { withoutStep: true } : { fromStep: step, toStep: step };
    const { db, bucket } = this.#parts;
    const page = await readPage(db, bucket, run, { ...range, group, attempts: 'latest' }, MAX_RUN_GROUP);
    return new Map(page.map(({ row, object }) => [placeKey(row), object]));
  }
}

/** Of a row within its group; another attempt has another text. */
function placeKey({ sample, attempt }: LedgerRow): string {
  return `${attempt} ${sample}`;
}
