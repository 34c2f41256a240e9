/**
 * A ledger row: what is recorded of one rollout of a run, and all that replay reads. `compose(facts, recipe)` of another
 * recipe is its reward under that recipe; the pinned judgments say what the facts were read from. It holds no text.
 */

import type { Facts } from '../family/facts.ts';
import type { UnscoredReason } from '../family/score.ts';
import type { PinnedJudgment } from '../judgments/pin.ts';

/** Where a rollout stands in its run. `group` is what its trainer or we call the prompt, `sample` one rollout of it. */
export type RolloutPlace = {
  readonly run: string;
  /** Of the trainer, from 0; `null` where it does not say, as adapters do not. */
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
};

export type LedgerRow = RolloutPlace & {
  readonly v: 1;
  /** From 0. The same place with other content is a new attempt (a resumed checkpoint); the latest counts. */
  readonly attempt: number;
  /** `inferred`: group and sample are digests of prompt and request, as the trainer sent no ids. */
  readonly grouping: 'given' | 'inferred';
  /** SHA-256 (hex) of what was scored, and how: rollout, recipe, judge, replicate (content.ts). Recorded once. */
  readonly content: string;
  /** SHA-256 (hex) of the recipe that it was scored under; the run keeps each recipe once. */
  readonly recipe: string;
  readonly facts: Facts;
  /** The judgments that the facts were read from. */
  readonly judgments: readonly PinnedJudgment[];
  /** As it was answered. A rollout whose judgment failed is recorded too: its facts say what is missing. */
  readonly reward: number | null;
  readonly reason: UnscoredReason | null;
  /** ISO 8601. */
  readonly recorded_at: string;
};
