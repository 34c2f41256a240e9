/**
 * Summarises a run step by step: rewards, components, spread within groups, unscored rollouts. It takes rollouts in
 * ledger order and holds one group in memory.
 */
import * as z from 'zod';
import type { UnscoredReason } from '../family/score.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/protocol/failure.ts';
import { advantages } from '../scoring/advantages.ts';
import { Moments, Tally } from './moments.ts';
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
});

/** The summary of one training step of a run. */
export type RunStep = z.infer<typeof runStepSchema>;

/** The input of a summary: one rollout. */
export type SummarisedRollout = {
  readonly step: number | null;
  readonly group: string;
  readonly inferred: boolean;
  readonly reward: number | null;
  readonly reason: UnscoredReason | null;
  /** Value of each component; `null` = it has none. */
  readonly components: Readonly<Record<string, number | null>>;
  readonly judgments: number;
  readonly cached: number;
};

export class RunSummary {
  #step: StepFigures | null = null;

  /** Adds the next rollout. @returns the previous step, complete, if this rollout begins a new step; else `null`. */
  add(rollout: SummarisedRollout): RunStep | null {
    const over = this.#step !== null && this.#step.step !== rollout.step ? this.end() : null;
    this.#step ??= new StepFigures(rollout.step);
    this.#step.add(rollout);
    return over;
  }

  /** Ends the current step and returns it; `null` if there is none. */
  end(): RunStep | null {
    const figures = this.#step?.figures ?? null;
    this.#step = null;
    return figures;
  }
}

const FAILURES: ReadonlySet<string> = new Set(JUDGE_FAILURE_REASONS.filter((reason) => reason !== 'judgment_skipped'));

class StepFigures {
  readonly step: number | null;
  readonly #reward = new Moments();
  #least: number | null = null;
  #most: number | null = null;
  readonly #components = new Map<string, Moments>();
  readonly #spread = new Moments();
  readonly #degenerate = new Tally();
  readonly #unscored = new Tally();
  #groups = 0;
  #group: { readonly id: string; readonly rewards: (number | null)[] } | null = null;
  readonly #counts = { rollouts: 0, failures: 0, judgments: 0, cached: 0, inferred: 0 };

  constructor(step: number | null) {
    this.step = step;
  }

  add({ group, inferred, reward, reason, components, judgments, cached }: SummarisedRollout): void {
    if (this.#group?.id !== group) this.#endGroup();
    this.#group ??= { id: group, rewards: [] };
    this.#group.rewards.push(reward);
    this.#counts.rollouts++;
    this.#counts.judgments += judgments;
    this.#counts.cached += cached;
    if (inferred) this.#counts.inferred++;
    if (reward === null) this.#addUnscored(reason ?? 'not_measured');
    else this.#addReward(reward);
    for (const [name, value] of Object.entries(components)) {
      const moments = this.#components.get(name) ?? new Moments();
      this.#components.set(name, moments);
      if (value !== null) moments.add(value);
    }
  }

  #addUnscored(reason: UnscoredReason): void {
    this.#unscored.add(reason);
    if (FAILURES.has(reason)) this.#counts.failures++;
  }

  #addReward(reward: number): void {
    this.#reward.add(reward);
    if (this.#least === null || reward < this.#least) this.#least = reward;
    if (this.#most === null || reward > this.#most) this.#most = reward;
  }

  #endGroup(): void {
    if (this.#group === null) return;
    this.#groups++;
    const result = advantages(this.#group.rewards, 'mean');
    if (!result.ok) throw new Error('RunSummary: recorded rewards without advantages');
    const { std, degenerate, valid } = result.group;
    if (degenerate !== null) this.#degenerate.add(degenerate.reason);
    if (std !== null && valid > 1) this.#spread.add(std);
    this.#group = null;
  }

  get figures(): RunStep {
    this.#endGroup();
    const { rollouts, failures, judgments, cached, inferred } = this.#counts;
    const reasons = this.#degenerate.counts;
    const degenerate = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    return {
      step: this.step,
      groups: this.#groups,
      rollouts,
      scored: this.#reward.count,
      reward: { mean: this.#reward.mean, min: this.#least, max: this.#most, std: this.#reward.std },
      components: Object.fromEntries(
        [...this.#components].map(([name, { count, mean }]) => [name, { rollouts: count, mean }]),
      ),
      spread: { groups: this.#spread.count, mean_std: this.#spread.mean },
      degenerate: { groups: degenerate, share: this.#groups === 0 ? null : degenerate / this.#groups, reasons },
      unscored: this.#unscored.counts,
      judge_failures: failures,
      judgments: { had: judgments, cached, hit_rate: judgments === 0 ? null : cached / judgments },
      inferred,
    };
  }
}
