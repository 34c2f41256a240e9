/**
 * A ledger row: the record of one rollout of a run, with everything that replay reads. `compose(facts, recipe)` gives
 * the reward under any recipe of the family. A row holds no text.
 */
import type { Facts } from '../families/registry.ts';
import type { UnscoredReason } from '../family/score.ts';
import type { PinnedJudgment } from '../judgments/pin.ts';

/** The place of a rollout in its run. `group` is a prompt, `sample` one of its rollouts. */
export type RolloutPlace = {
  readonly run: string;
  /** The trainer's step, from 0; `null` = unknown, as for adapters. */
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
};

export type LedgerRow = RolloutPlace & {
  readonly v: 1;
  /** Counts from 0. Other content at the same place is a new attempt (a resumed checkpoint); the latest counts. */
  readonly attempt: number;
  /** `inferred`: group and sample are digests of prompt and request, because the trainer sends no ids. */
  readonly grouping: 'given' | 'inferred';
  /** Content digest (content-digest.ts), SHA-256 in hex: rollout, recipe, judge, replicate. */
  readonly content: string;
  /** SHA-256 (hex) of the recipe that scored the rollout; the run stores each recipe once. */
  readonly recipe: string;
  readonly facts: Facts;
  /** The judgments that the facts were read from. */
  readonly judgments: readonly PinnedJudgment[];
  /** As answered. An unscored rollout has a row too: its facts say what is missing. */
  readonly reward: number | null;
  readonly reason: UnscoredReason | null;
  /** ISO 8601. */
  readonly recorded_at: string;
};
