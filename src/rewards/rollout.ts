/** A rollout as the library takes it: plain values, already validated by the caller or by src/schema. */
import type { Polarity } from './facts.ts';

export type CriterionInput = {
  readonly title?: string;
  readonly description: string;
  /** Finite, >= 0. Default 1. */
  readonly weight?: number;
};

export type SourceInput = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
};

/** Where the sources of a rollout come from: raw tool output with tagged pieces, or the pieces themselves. */
export type RolloutSources = { readonly tool_output: string } | { readonly sources: readonly SourceInput[] };

export type Rollout = RolloutSources & {
  readonly question: string;
  readonly response: string;
  readonly positive_rubrics: readonly CriterionInput[];
  readonly negative_rubrics: readonly CriterionInput[];
  /** As the trainer or the backend reported it: `stop`, `length`, … */
  readonly finish_reason?: string;
};

/** A criterion of one rollout: the row's own, or one of the static set. */
export type Criterion = {
  /** `c1`…`cn` by position: the row's positives, its negatives, then the static set. */
  readonly key: string;
  readonly origin: 'instance' | 'static';
  readonly polarity: Polarity;
  readonly weight: number;
  readonly title?: string;
  readonly description: string;
};
