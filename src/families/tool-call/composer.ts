/**
 * The parts of the tool-call family that replay needs: field kinds, named recipes, reward range, `compose` and gaps.
 * Imports no schema, so that a bundle that only composes stays small.
 */

import { contributionsOf } from '../../family/contributions.ts';
import type { FieldKinds } from '../../family/family.ts';
import { withTerms } from '../../family/terms.ts';
import { type VotingComposer, withVotes } from '../../family/with-votes.ts';
import { composeToolCall } from './compose.ts';
import type { ToolCallFacts } from './facts.ts';
import type { ToolCallRecipe } from './recipe.ts';
import type { ToolCallReply, ToolCallScore } from './reply.ts';

/** The types of the family. */
export type ToolCall = {
  readonly recipe: ToolCallRecipe;
  readonly facts: ToolCallFacts;
  readonly score: ToolCallScore;
  readonly reply: ToolCallReply;
};

/** The kind of each field. */
const FIELDS = {
  math_equivalence: 'measure',
  time_limit_s: 'measure',
  memory_limit_mb: 'measure',
  tool_call_credit: 'compose',
  overlong_penalty: 'compose',
} as const satisfies FieldKinds<ToolCallRecipe>;

const GRPO_TCR: ToolCallRecipe = {
  family: 'tool-call',
  math_equivalence: 'exact',
  time_limit_s: 6,
  memory_limit_mb: 2048,
  tool_call_credit: { enabled: true, ceiling: -0.6, per_round: 0.1 },
  overlong_penalty: { enabled: true, max_response_tokens: 10_480, buffer_tokens: 3000, factor: 1 },
};

/** The named recipes of the family. */
export const TOOL_CALL_RECIPES = {
  'grpo-tcr': GRPO_TCR,
  'grpo-tcr-symbolic': { ...GRPO_TCR, math_equivalence: 'symbolic' },
  'open-agentrl': {
    ...GRPO_TCR,
    overlong_penalty: { enabled: true, max_response_tokens: 20_480, buffer_tokens: 4096, factor: 1 },
  },
} as const satisfies Record<string, ToolCallRecipe>;

/** Smallest and largest reward that the recipe can give; `null` = unbounded, because responses have any length. */
function toolCallRewardRange({ tool_call_credit, overlong_penalty }: ToolCallRecipe): readonly [number | null, number] {
  if (overlong_penalty.enabled && overlong_penalty.factor > 0) return [null, 1];
  // The smallest reward is that of a wrong answer with num_turns 0, one round below a rollout without a tool call (2).
  return [tool_call_credit.enabled ? -1 - tool_call_credit.per_round : -1, 1];
}

/** Maps a measure field to whether a rollout lacks the measurement that the field decides. */
const GAPS: ReadonlyMap<string, (facts: ToolCallFacts) => boolean> = new Map([
  ['math_equivalence', isNotCompared],
  ['time_limit_s', hasProgram],
  ['memory_limit_mb', hasProgram],
]);

/**
 * Whether the sandbox was not asked. A recorded run asks it about every answer, whatever the recipe; a failure has its
 * own reason.
 */
function isNotCompared({ outcome }: ToolCallFacts): boolean {
  if (outcome.kind !== 'math' || outcome.exact) return false;
  const { equivalent } = outcome;
  return equivalent.status === 'unscored' && equivalent.reason === 'not_measured';
}

function hasProgram({ outcome }: ToolCallFacts): boolean {
  return outcome.kind === 'code' && outcome.runnable;
}

export const toolCallComposer = withVotes(
  withTerms({
    name: 'tool-call',
    recipe: { fields: FIELDS, named: TOOL_CALL_RECIPES, range: toolCallRewardRange },
    compose: composeToolCall,
    contributions: (score) => contributionsOf(score, ['outcome', 'tool_calls', 'overlong']),
    groupVote: () => null,
    // A sandbox computes every verdict, so the members of a panel observe the same.
    combine: ([facts]) => facts,
    gaps: (_before, _after, changed) =>
      changed.map((field) => ({ name: `recipe.${field}`, isOpen: GAPS.get(field) ?? (() => true) })),
  } satisfies VotingComposer<ToolCall>),
);
