/**
 * Summarises a run step by step: rewards, components, spread within groups, unscored rollouts, and what the answers
 * contain. Figures of some groups
 * are JSON that can be stored, and figures of different groups of a step can be merged.
 */
import * as z from 'zod';
import type { UnscoredReason } from '../family/score.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/protocol/failure.ts';
import { advantages } from '../scoring/advantages.ts';
import { CountFigures, countFigures, momentSumsSchema, storedCountsSchema } from './count-figures.ts';
import { type MomentSums, Moments, Tally } from './moments.ts';
import type { RolloutCounts } from './rollout-counts.ts';
import { stepSchema } from './row.ts';

const countSchema = z.int().min(0);
const shareSchema = z.number().min(0).max(1).nullable();
const countByName = z.record(z.string(), countSchema);

const momentsSchema = z.strictObject({
  mean: z.number().nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  std: z.number().nullable().describe('With the divisor n - 1; null for fewer than two.'),
});

export const runStepSchema = z.strictObject({
  step: stepSchema.nullable().describe('null: rollouts whose trainer sends no step.'),
  groups: countSchema,
  rollouts: countSchema.describe('Each rollout counts once, by its latest attempt.'),
  scored: countSchema,
  reward: momentsSchema.describe('Over the scored rollouts.'),
  components: z
    .record(z.string(), z.strictObject({ rollouts: countSchema, mean: z.number().nullable() }))
    .describe('Mean value of each component, over the rollouts that have one.'),
  spread: z
    .strictObject({ groups: countSchema, mean_std: z.number().min(0).nullable() })
    .describe(
      'Mean over groups of the std (divisor n - 1) of the rewards, for groups with at least two scored samples.',
    ),
  degenerate: z
    .strictObject({ groups: countSchema, share: shareSchema, reasons: countByName })
    .describe('Groups without a training signal: all rewards equal, or fewer than two.'),
  unscored: countByName.describe('Rollouts without a reward, by reason.'),
  judge_failures: countSchema.describe('Unscored rollouts whose judge failed.'),
  judgments: z
    .strictObject({ had: countSchema, cached: countSchema, hit_rate: shareSchema })
    .describe('Judgments of the rollouts, and how many of them came from the store.'),
  inferred: countSchema.describe('Rollouts whose group and sample are inferred.'),
  ...countFigures,
});

/** The summary of one training step of a run. */
export type RunStep = z.infer<typeof runStepSchema>;

/** The input of a summary: one rollout. */
export type SummarisedRollout = {
  readonly inferred: boolean;
  readonly reward: number | null;
  readonly reason: UnscoredReason | null;
  /** Value of each component; `null` = it has none. */
  readonly components: Readonly<Record<string, number | null>>;
  readonly judgments: number;
  readonly cached: number;
  readonly counts: RolloutCounts;
};

/** The figures of some groups of one step, as they are stored. Read and written by this file only. */
export const groupFiguresSchema = z.strictObject({
  v: z.literal(1),
  groups: countSchema,
  rollouts: countSchema,
  reward: momentSumsSchema,
  least: z.number().nullable(),
  most: z.number().nullable(),
  components: z.record(z.string(), momentSumsSchema),
  spread: momentSumsSchema,
  degenerate: countByName,
  unscored: countByName,
  judge_failures: countSchema,
  judgments: countSchema,
  cached: countSchema,
  inferred: countSchema,
  contents: storedCountsSchema,
});

export type GroupFigures = z.infer<typeof groupFiguresSchema>;

const FAILURES: ReadonlySet<string> = new Set(JUDGE_FAILURE_REASONS.filter((reason) => reason !== 'judgment_skipped'));

/** Computes the figures of some groups of one step. */
export class StepFigures {
  readonly #reward = new Moments();
  #least: number | null = null;
  #most: number | null = null;
  readonly #components = new Map<string, Moments>();
  readonly #spread = new Moments();
  readonly #degenerate = new Tally();
  readonly #unscored = new Tally();
  readonly #contents = new CountFigures();
  readonly #counts = { groups: 0, rollouts: 0, judge_failures: 0, judgments: 0, cached: 0, inferred: 0 };

  /** Adds one group: each rollout once, by its latest attempt. */
  addGroup(rollouts: readonly SummarisedRollout[]): void {
    for (const rollout of rollouts) this.#addRollout(rollout);
    this.#counts.groups++;
    const result = advantages(
      rollouts.map(({ reward }) => reward),
      'mean',
    );
    // A reward beyond REWARD_LIMIT, which no recipe gives: rows of earlier imports may have one.
    if (!result.ok) return;
    const { std, degenerate, valid } = result.value;
    if (degenerate !== null) this.#degenerate.add(degenerate.reason);
    if (std !== null && valid > 1) this.#spread.add(std);
  }

  #addRollout({ inferred, reward, reason, components, judgments, cached, counts }: SummarisedRollout): void {
    this.#counts.rollouts++;
    this.#contents.add(counts);
    this.#counts.judgments += judgments;
    this.#counts.cached += cached;
    if (inferred) this.#counts.inferred++;
    if (reward === null) this.#addUnscored(reason ?? 'not_measured');
    else {
      this.#reward.add(reward);
      this.#extend(reward, reward);
    }
    for (const [name, value] of Object.entries(components)) {
      const moments = this.#component(name);
      if (value !== null) moments.add(value);
    }
  }

  #addUnscored(reason: UnscoredReason): void {
    this.#unscored.add(reason);
    if (FAILURES.has(reason)) this.#counts.judge_failures++;
  }

  #extend(least: number | null, most: number | null): void {
    if (least !== null && (this.#least === null || least < this.#least)) this.#least = least;
    if (most !== null && (this.#most === null || most > this.#most)) this.#most = most;
  }

  #component(name: string): Moments {
    const moments = this.#components.get(name) ?? new Moments();
    this.#components.set(name, moments);
    return moments;
  }

  /** Adds the figures of other groups of the same step. */
  merge(other: GroupFigures): void {
    this.#reward.merge(other.reward);
    this.#extend(other.least, other.most);
    for (const [name, sums] of Object.entries(other.components)) this.#component(name).merge(sums);
    this.#spread.merge(other.spread);
    this.#degenerate.merge(other.degenerate);
    this.#unscored.merge(other.unscored);
    this.#contents.merge(other.contents);
    this.#counts.groups += other.groups;
    this.#counts.rollouts += other.rollouts;
    this.#counts.judge_failures += other.judge_failures;
    this.#counts.judgments += other.judgments;
    this.#counts.cached += other.cached;
    this.#counts.inferred += other.inferred;
  }

  /** The figures in the form in which they are stored and merged. */
  get stored(): GroupFigures {
    return {
      v: 1,
      ...this.#counts,
      reward: this.#reward.sums,
      least: this.#least,
      most: this.#most,
      components: Object.fromEntries(
        [...this.#components].map(([name, { sums }]): [string, MomentSums] => [name, sums]),
      ),
      spread: this.#spread.sums,
      degenerate: this.#degenerate.counts,
      unscored: this.#unscored.counts,
      contents: this.#contents.stored,
    };
  }

  /** The summary of the step. @param step `null` = the rollouts have no step. */
  summary(step: number | null): RunStep {
    const { groups, rollouts, judge_failures, judgments, cached, inferred } = this.#counts;
    const reasons = this.#degenerate.counts;
    const degenerate = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    return {
      step,
      groups,
      rollouts,
      scored: this.#reward.count,
      reward: { mean: this.#reward.mean, min: this.#least, max: this.#most, std: this.#reward.std },
      components: Object.fromEntries(
        [...this.#components].map(([name, { count, mean }]) => [name, { rollouts: count, mean }]),
      ),
      spread: { groups: this.#spread.count, mean_std: this.#spread.mean },
      degenerate: { groups: degenerate, share: groups === 0 ? null : degenerate / groups, reasons },
      unscored: this.#unscored.counts,
      judge_failures,
      judgments: { had: judgments, cached, hit_rate: judgments === 0 ? null : cached / judgments },
      inferred,
      ...this.#contents.summary,
    };
  }
}
