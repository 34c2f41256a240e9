/**
 * A rollout as the library takes it: plain values, already validated by the caller or by src/schema. One shape for all
 * recipe families; each reads what it needs and names what is missing (family.ts).
 */

import type { Polarity } from '../judgments/kinds/rubric/static-criteria.ts';
import type { ProgramTest } from '../judgments/types.ts';

export type CriterionInput = {
  readonly title?: string;
  readonly description: string;
  /** Finite, >= 0. Default 1. */
  readonly weight?: number;
};

/** dr-tulu's list: one criterion with a weight whose sign is its polarity. */
export type SignedCriterionInput = {
  readonly title?: string;
  readonly description: string;
  /** Finite; negative = the criterion describes a fault. */
  readonly weight: number;
};

export type SourceInput = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
};

/** Where the sources of a rollout come from: raw tool output with tagged pieces, or the pieces themselves. */
export type RolloutSources = { readonly tool_output: string } | { readonly sources: readonly SourceInput[] };

/** One message of a conversation. `reasoning_content`: the policy's thinking, which `content` then leaves out. */
export type TraceMessage = {
  readonly role: string;
  readonly content?: string;
  readonly reasoning_content?: string;
};

export type Rollout = {
  /** At most one of the two; see `RolloutSources`. */
  readonly tool_output?: string;
  readonly sources?: readonly SourceInput[];
  readonly question?: string;
  readonly response: string;
  /** The policy's reasoning where it stands apart from the response. */
  readonly reasoning?: string;
  /** A conversation of several turns, of which the response is the last: gold entities count in every assistant's. */
  readonly history?: readonly TraceMessage[];
  readonly positive_rubrics?: readonly CriterionInput[];
  readonly negative_rubrics?: readonly CriterionInput[];
  /** As the trainer or the backend reported it: `stop`, `length`, … */
  readonly finish_reason?: string;
  readonly rubrics?: readonly SignedCriterionInput[];
  /** The right final answer. */
  readonly reference?: string;
  /** Gold entities: what a right line of reasoning names. */
  readonly entities?: readonly string[];
  /** Gold ids of the chunks that hold the answer. */
  readonly useful_chunks?: readonly number[];
  /** User and assistant turns and 1, as verl counts: 2 = no tool call, 4 = one round. */
  readonly num_turns?: number;
  /** Length of the response in tokens, tool output included. */
  readonly response_tokens?: number;
  readonly tests?: readonly ProgramTest[];
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
