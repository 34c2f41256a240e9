/**
 * The length and turn terms, which every family can add to its reward: a penalty for responses near the length limit,
 * and a cost for each turn beyond a free number. A recipe without the fields `length` and `turns` has neither term.
 *
 *     reward' = reward + length + turns
 *
 * The terms are added last, to every scored reward, whatever rule decided it: a policy cannot avoid them by giving no
 * answer. Both are at most 0, in reward units. Imports no schema (term-schemas.ts), for bundles that only compose.
 */
import { overlongPenalty } from '../tools/overlong-penalty.ts';
import { type Contributions, WHOLE_REWARD, type WithReward } from './contributions.ts';
import type { BaseFacts } from './facts.ts';
import type { BaseRecipe, Composer, GroupVotes, RewardRange } from './family.ts';
import type { Gap } from './requirements.ts';
import type { BaseScore, Component } from './score.ts';

/**
 * The soft overlong punishment of DAPO, with L the tokens of the response, M `max_response_tokens`, B `buffer_tokens`:
 * 0 up to M - B, then linear to -factor at M, and -factor beyond.
 */
type LengthTerm = {
  /** `given`: the trainer's count is required. `estimated`: without one, an upper estimate of the text counts. */
  readonly count: 'given' | 'estimated';
  readonly max_response_tokens: number;
  readonly buffer_tokens: number;
  readonly factor: number;
};

/** Costs `cost_per_turn` for each turn of the policy beyond `free_turns`. */
type TurnsTerm = { readonly free_turns: number; readonly cost_per_turn: number };

/** The terms of a recipe; an absent field is off. */
export type Terms = { readonly length?: LengthTerm; readonly turns?: TurnsTerm };

/** The facts that the terms read; absent = unknown. */
export type Counts = {
  /** As the trainer counts, tool output included. */
  readonly response_tokens?: number;
  /** Upper estimate; only if the trainer gave no count. */
  readonly estimated_tokens?: number;
  /** As verl counts: user turns + assistant turns + 1. */
  readonly num_turns?: number;
};

/** The formula of the terms, for the documents of every family. */
export const TERM_FORMULA = [
  'with length: reward + max(-(L - (max_response_tokens - buffer_tokens)) / buffer_tokens, -1) * factor, at most 0;',
  '             L = response_tokens; with count "estimated" an upper estimate where that is absent',
  'with turns:  reward - cost_per_turn * max(T - free_turns, 0); T = num_turns / 2, rounded down',
] as const;

type TermTypes = {
  readonly recipe: BaseRecipe & Terms;
  readonly facts: BaseFacts & Counts;
  readonly score: BaseScore;
  readonly reply: BaseScore;
};

/** Adds the terms to a composer: fields, reward range, scores, contributions and gaps. */
export function withTerms<const C extends Composer<TermTypes>>(composer: C): C {
  return {
    ...composer,
    recipe: {
      ...composer.recipe,
      fields: { ...composer.recipe.fields, length: 'compose', turns: 'compose' },
      range: (recipe: TermTypes['recipe']): RewardRange => rangeWith(recipe, composer.recipe.range(recipe)),
    },
    compose: (facts: TermTypes['facts'], recipe: TermTypes['recipe'], group: GroupVotes): BaseScore =>
      scoreWith(termsOf(facts, recipe), composer.compose(facts, recipe, group)),
    contributions(score: WithReward<BaseScore>, recipe: TermTypes['recipe']): Contributions {
      const terms = Object.fromEntries(
        TERM_NAMES.flatMap((name) =>
          recipe[name] === undefined ? [] : [[name, score.components[name]?.contribution ?? 0]],
        ),
      );
      const own = { ...score, reward: score.reward - sumOf(Object.values(terms)) };
      return { ...(composer.contributions?.(own, recipe) ?? { [WHOLE_REWARD]: own.reward }), ...terms };
    },
    gaps: (
      before: TermTypes['recipe'],
      after: TermTypes['recipe'],
      changed: readonly string[],
    ): readonly Gap<TermTypes['facts']>[] => [...composer.gaps(before, after, changed), ...termGaps(before, after)],
  };
}

const TERM_NAMES = ['length', 'turns'] as const;

type TermName = (typeof TERM_NAMES)[number];

/** The tokens that the length term reads; `null` = unknown. */
function tokensOf({ response_tokens, estimated_tokens }: Counts, { count }: LengthTerm): number | null {
  return response_tokens ?? (count === 'estimated' ? estimated_tokens : undefined) ?? null;
}

/** The value of each term of the recipe; `null` = the facts lack what it reads. */
function termsOf(facts: Counts, { length, turns }: Terms): readonly (readonly [TermName, number | null])[] {
  const values: (readonly [TermName, number | null])[] = [];
  if (length !== undefined) {
    const tokens = tokensOf(facts, length);
    values.push(['length', tokens === null ? null : lengthPenalty(tokens, length)]);
  }
  if (turns !== undefined) {
    const { num_turns } = facts;
    values.push(['turns', num_turns === undefined ? null : turnsCost(num_turns, turns)]);
  }
  return values;
}

function lengthPenalty(tokens: number, { max_response_tokens, buffer_tokens, factor }: LengthTerm): number {
  const options = { maxTokens: max_response_tokens, bufferTokens: buffer_tokens, factor };
  return overlongPenalty(Math.min(tokens, max_response_tokens), options);
}

/** Turns alternate between the policy and its environment, so the policy has half of them. */
function turnsCost(numTurns: number, { free_turns, cost_per_turn }: TurnsTerm): number {
  const cost = cost_per_turn * Math.max(Math.floor(numTurns / 2) - free_turns, 0);
  // Not -0, which has another digest.
  return cost > 0 ? -cost : 0;
}

function scoreWith(terms: ReturnType<typeof termsOf>, score: BaseScore): BaseScore {
  if (terms.length === 0) return score;
  const values = terms.map(([, value]) => value);
  const isKnown = values.every((value) => value !== null);
  const components = { ...score.components, ...Object.fromEntries(terms.map(([name, value]) => [name, part(value)])) };
  if (score.reward === null) return { ...score, components };
  if (!isKnown) {
    return { ...score, components, reward: null, status: 'unscored', reason: 'not_measured', decided_by: null };
  }
  return { ...score, components, reward: score.reward + sumOf(values) };
}

function part(value: number | null): Component {
  return value === null
    ? { status: 'unscored', value, weight: 1, contribution: null, reason: 'not_measured' }
    : { status: 'scored', value, weight: 1, contribution: value };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The number of turns has no limit, and so the cost has none. */
function rangeWith({ length, turns }: Terms, [least, most]: RewardRange): RewardRange {
  if (least === null || (turns !== undefined && turns.cost_per_turn > 0)) return [null, most];
  return [least - (length?.factor ?? 0), most];
}

/** What a recipe's terms read and facts may lack that were recorded under a recipe without the same requirement. */
function termGaps(before: Terms, after: Terms): Gap<Counts>[] {
  const { length } = after;
  const isCounted = length === undefined || before.length?.count === 'given' || before.length?.count === length.count;
  return [
    ...(isCounted
      ? []
      : [{ name: 'rollout.response_tokens', isOpen: (facts: Counts) => tokensOf(facts, length) === null }]),
    ...(after.turns === undefined || before.turns !== undefined
      ? []
      : [{ name: 'rollout.num_turns', isOpen: ({ num_turns }: Counts) => num_turns === undefined }]),
  ];
}
