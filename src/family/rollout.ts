/**
 * A rollout: plain values that the caller has validated (rollout-schema.ts). All recipe families share the type; each
 * reads the fields that it needs and names the missing ones (requirements.ts).
 */

import type { AnswerFormatName } from '../citations/formats/names.ts';
import type { SourceInput } from '../citations/sources.ts';
import type { ProgramTest } from '../judgments/kinds/execution/execution.ts';
import type { Polarity } from '../judgments/kinds/rubric/static-criteria.ts';
import type { Messages, TrajectoryOptions } from '../trajectory/rollout-messages.ts';

export type CriterionInput = {
  readonly title?: string;
  readonly description: string;
  /** From 0 to MAX_CRITERION_WEIGHT. Default 1. */
  readonly weight?: number;
};

/** A criterion of dr-tulu: the sign of the weight is its polarity. */
export type SignedCriterionInput = {
  readonly title?: string;
  readonly description: string;
  /** At most MAX_CRITERION_WEIGHT in size; negative = the criterion describes a fault. */
  readonly weight: number;
};

/** The sources of a rollout: raw tool output with tagged pieces, or the pieces themselves. */
export type RolloutSources = { readonly tool_output: string } | { readonly sources: readonly SourceInput[] };

/** One message of a conversation. `reasoning_content`: the policy's thinking, if `content` does not contain it. */
export type TraceMessage = {
  readonly role: string;
  readonly content?: string;
  readonly reasoning_content?: string;
};

/** The input of a score: a response, the sources that it cites, and what its recipe reads about the question. */
export type Rollout = {
  /** At most one of `tool_output` and `sources`; see `RolloutSources`. */
  readonly tool_output?: string;
  readonly sources?: readonly SourceInput[];
  readonly question?: string;
  /** With `messages`: the policy's final answer. */
  readonly response: string;
  /** The conversation or transcript as the trainer sent it, and how to read it; families take calls, results and turns from it. */
  readonly messages?: Messages;
  readonly trajectory?: TrajectoryOptions;
  /** The answer as its vendor sent it, from which `response` was converted, and its format. */
  readonly cited_answer?: unknown;
  readonly answer_format?: AnswerFormatName;
  /** The policy's reasoning, if it is not part of the response. */
  readonly reasoning?: string;
  /** A conversation whose last turn is the response; gold entities count in every assistant turn. */
  readonly history?: readonly TraceMessage[];
  readonly positive_rubrics?: readonly CriterionInput[];
  readonly negative_rubrics?: readonly CriterionInput[];
  /** As reported by the trainer or the backend: `stop`, `length`, … */
  readonly finish_reason?: string;
  readonly rubrics?: readonly SignedCriterionInput[];
  /** The reference answer. */
  readonly reference?: string;
  /** Gold entities, which correct reasoning names. */
  readonly entities?: readonly string[];
  /** Single-hop criteria of carr, about `<E0>` (the answer), `<E1>`, … */
  readonly entity_rubrics?: readonly string[];
  /** Gold ids of the chunks that contain the answer. */
  readonly useful_chunks?: readonly number[];
  /** User turns + assistant turns + 1, as verl counts: 2 = no tool call, 4 = one round. */
  readonly num_turns?: number;
  /** Length of the response in tokens, tool output included. */
  readonly response_tokens?: number;
  readonly tests?: readonly ProgramTest[];
};

/** A criterion of one rollout: the row's own, or one of the static set. */
export type Criterion = {
  /**
   * `c1`…`cn` by index in the list of the row's positive criteria, its negative ones, and the static set, in this
   * order.
   */
  readonly key: string;
  readonly origin: 'instance' | 'static';
  readonly polarity: Polarity;
  readonly weight: number;
  readonly title?: string;
  readonly description: string;
};
