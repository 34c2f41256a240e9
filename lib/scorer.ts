/** The scorer: a judge, a store for its judgments, and the pipeline from rollout to reward. */
import { FAMILIES, planOf } from '../src/families/registry.ts';
import { CREDIT_BY, type CreditBy } from '../src/family/credit.ts';
import type { BaseFacts } from '../src/family/facts.ts';
import type { Family, FamilyTypes, PlanOptions, ScoringFamily } from '../src/family/family.ts';
import type { BaseScore } from '../src/family/score.ts';
import type { InputProblem } from '../src/input-problem.ts';
import type { Judge } from '../src/judgments/judge.ts';
import type { ObtainOptions } from '../src/judgments/obtain.ts';
import { type JudgingMember, memberName } from '../src/judgments/panel.ts';
import type { JudgmentStore } from '../src/judgments/store.ts';
import { MAX_PANEL_MEMBERS } from '../src/limits.ts';
import type { AdvantageOptions } from '../src/scoring/advantage-presets.ts';
import type { GroupAdvantages, SampleAdvantage } from '../src/scoring/advantages.ts';
import { takeTurns } from '../src/scoring/judge-turns.ts';
import { type ScoredRollout, type ScoringRules, scoreGroupBy, scoreRolloutBy } from '../src/scoring/score-rollouts.ts';
import { advantages } from './advantages.ts';
import { InputError } from './input-error.ts';
import { memoryStore } from './memory-store.ts';
import { type FamilyOf, type OwnFamilies, type RecipeInput, type ScoredBy, withOwnFamilies } from './own-families.ts';
import { type Rollout, readRollout } from './rollout.ts';

/** A judge among several. `replicate`: which of its independent judgments, from 0. */
export type ScorerMember = { readonly judge: Judge; readonly replicate: number };

/** Who reads the answers. */
export type ScorerJudges =
  | {
      /**
       * One judge. A list is tried in turn: the next judge scores the whole rollout or group, if one before it failed.
       * Each judgment names its model.
       */
      readonly judge: Judge | readonly [Judge, ...Judge[]];
      readonly judges?: never;
    }
  | {
      /**
       * Two to five judges that vote on every verdict; the recipe's fields `vote` and `voters` say how. A verdict that
       * depends on a judge that failed is unscored.
       */
      readonly judges: readonly (Judge | ScorerMember)[];
      readonly judge?: never;
    };

/** Options of `createScorer`. `F`: the families beside the built-in ones. */
export type ScorerOptions<F extends ScoringFamily = never> = ScorerJudges & {
  /** Where judgments are kept and looked up, by content. Default: `memoryStore()`. */
  readonly store?: JudgmentStore;
  /** Runs programs and compares expressions, for tool-call recipes. Default: none; what needs it is unscored. */
  readonly sandbox?: Judge;
  /** Families of your own, written with `citeward/families`. Default: none. */
  readonly families?: readonly F[];
  /** Time for all judgments of one call, all stages and judges together, in milliseconds. Default 90,000. */
  readonly deadlineMs?: number;
};

/** Options of `score`. */
export type ScoreOptions = {
  /**
   * `use`: takes stored judgments and asks the judge for the rest. `only`: takes stored judgments alone; if one is
   * missing, `reward` is `null` (`judgment_missing`). Default `use`.
   */
  readonly judgments?: 'use' | 'only';
  /** Another independent judgment of the same thing, to measure the judge's noise: an integer from 0. Default 0. */
  readonly replicate?: number;
  /** Measure everything that the family can, so that `replay` can change any weight. Default false. */
  readonly measureAll?: boolean;
  /**
   * Adds `credit`: the reward as shares of the answer's claims, or of the turns whose results the claims cite. The shares,
   * added in order, are the reward exactly. `turns` needs `messages`. Default: none.
   */
  readonly credit?: CreditBy;
  /**
   * Names the visit of the prompt for a recipe with `dropout`, the same for all samples of a group: `step 7, aare`.
   * Default: the question.
   */
  readonly visit?: string;
};

/** Options of `group`. */
export type GroupOptions = ScoreOptions & {
  /** The trainer's rule. Default `mean`: centred, not scaled. */
  readonly advantages?: AdvantageOptions;
};

/** The reply of the recipe's family (reward, components, claims, judgments) with the facts to replay it from. */
export type Scored<R = RecipeInput, F extends ScoringFamily = never> = ScoredBy<FamilyOf<R, F>, F>;

/** The scores of a group with their advantages, and the group's mean, deviation and degeneracy. */
export type ScoredGroup<R = RecipeInput, F extends ScoringFamily = never> = {
  /** In the order of the rollouts. */
  readonly members: readonly (Scored<R, F> & SampleAdvantage)[];
  /** The members. @deprecated An alias of this release: use `members`, as the replies of `POST /v1/groups` name them. */
  readonly samples: readonly (Scored<R, F> & SampleAdvantage)[];
} & Omit<GroupAdvantages, 'advantages'>;

/** Scores rollouts and groups. `F`: the families beside the built-in ones. */
export interface Scorer<F extends ScoringFamily = never> {
  /**
   * Scores one rollout. If a judge fails, `reward` is `null` and `reason` says why; it is never a number.
   *
   * @param recipe A name, a named recipe with changes (`{ base, citation_weight: 0.5 }`), or all parameters.
   * @throws InputError if the rollout lacks what the recipe reads, or exceeds a limit.
   */
  score<const R extends RecipeInput<F>>(rollout: Rollout, recipe: R, options?: ScoreOptions): Promise<Scored<R, F>>;
  /**
   * Scores the samples of one prompt together and computes their advantages. Unscored samples are masked.
   *
   * @param rollouts At least one; all have the same question and sources.
   * @throws InputError as `score`; the path names the sample (`responses[3].finish_reason`).
   */
  group<const R extends RecipeInput<F>>(
    rollouts: readonly Rollout[],
    recipe: R,
    options?: GroupOptions,
  ): Promise<ScoredGroup<R, F>>;
}

const DEFAULT_DEADLINE_MS = 90_000;

/**
 * Creates a scorer.
 *
 * @example
 * ```ts
 * import { createScorer, lexicalJudge } from 'citeward';
 *
 * const scorer = createScorer({ judge: lexicalJudge });   // compares words; for trying out, not for training
 * const { reward, components, claims } = await scorer.score(
 *   {
 *     question: 'When did the Golden Gate Bridge open?',
 *     tool_output: '<snippet id=S1>The Golden Gate Bridge opened on 27 May 1937.</snippet>',
 *     response: '<answer><snippet id=S1>It opened on 27 May 1937.</snippet></answer>',
 *     positive_rubrics: [{ description: 'States that the bridge opened in May 1937' }],
 *   },
 *   'refiner-guarded',
 * );
 * console.log(reward, components.citation.value, claims[0]?.support);
 * ```
 * @example A conversation: response, sources and turns are read from its messages
 * ```ts
 * import { createScorer, lexicalJudge } from 'citeward';
 *
 * const scorer = createScorer({ judge: lexicalJudge });
 * const { reward, trajectory } = await scorer.score(
 *   {
 *     messages: [
 *       { role: 'user', content: 'How long is the Aare?' },
 *       { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'search', arguments: '{"query": "Aare"}' } }] },
 *       { role: 'tool', tool_call_id: 'c1', content: '<snippet id=S1>The Aare is 288 km long.</snippet>' },
 *       { role: 'assistant', content: '<answer><snippet id=S1>It is 288 km long.</snippet></answer>' },
 *     ],
 *     positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
 *   },
 *   'refiner-guarded',
 * );
 * console.log(reward, trajectory?.num_turns);
 * ```
 * @throws TypeError if an option is out of range or a family's name is taken; the message names it.
 */
export function createScorer<const F extends ScoringFamily = never>(options: ScorerOptions<F>): Scorer<F> {
  const { store = memoryStore(), sandbox, families = [], deadlineMs = DEFAULT_DEADLINE_MS } = options;
  const { rules, resolve } = scoringOf(families);
  if (!(Number.isFinite(deadlineMs) && deadlineMs > 0)) {
    throw new TypeError('createScorer: deadlineMs: expected a positive number of milliseconds');
  }
  const turns = turnsOf(options);

  const elapsed = (): number => performance.now();
  const obtaining = (by: Turn, how: ScoreOptions, deadline_ms: number): ObtainOptions => ({
    ...by,
    ...(sandbox === undefined ? {} : { sandbox: { ok: true, judge: sandbox } }),
    store,
    mode: how.judgments ?? 'use',
    replicate: replicateOf(how, by),
    deadline_ms,
    now: () => new Date().toISOString(),
    elapsed,
  });

  const inTurn = async (
    how: ScoreOptions,
    attempt: (obtain: ObtainOptions) => Promise<readonly AnyScored[]>,
  ): Promise<readonly AnyScored[]> => {
    const { scored } = await takeTurns(turns, { deadline_ms: deadlineMs, elapsed }, async (by, left_ms) => {
      const scored = await attempt(obtaining(by, how, left_ms));
      const reasons = scored.flatMap(({ failure }) => failure?.reason ?? []);
      if (reasons.length === 0) return { status: 'done', scored };
      return { status: reasons.includes('judgment_missing') ? 'missing' : 'failed', scored };
    });
    return scored;
  };

  return {
    async score(input, recipe, how = {}) {
      const rollout = rolloutFrom(input);
      const resolved = await resolve(recipe);
      const plan = planOptions(how);
      const [scored] = await inTurn(how, async (obtain) => {
        const result = await scoreRolloutBy(rules, { rollout, recipe: resolved, plan, whenMissing: 'report' }, obtain);
        if (result.status === 'invalid') throw new InputError(result.problems);
        return result.status === 'done' ? [result] : [];
      });
      return scoredUnder(resolved.recipe.family, scored);
    },
    async group(inputs, recipe, how = {}) {
      if (inputs.length === 0) throw new InputError([{ path: ['rollouts'], message: 'expected at least one' }]);
      const rollouts = inputs.map((input, position) => rolloutFrom(input, ['responses', position]));
      const resolved = await resolve(recipe);
      const plan = planOptions(how);
      const scored = await inTurn(how, async (obtain) => {
        const result = await scoreGroupBy(rules, { rollouts, recipe: resolved, plan, whenMissing: 'report' }, obtain);
        if (result.status === 'invalid') throw new InputError(result.problems);
        return result.status === 'done' ? result.members : [];
      });
      const rewards = scored.map(({ reply }) => reply.reward);
      const { advantages: own, ...group } = advantages(rewards, how.advantages);
      const members = own.map((sample, position) => ({
        ...scoredUnder<typeof recipe, F>(resolved.recipe.family, scored[position]),
        ...sample,
      }));
      return { members, samples: members, ...group };
    },
  };
}

function planOptions({ measureAll = false, credit, visit }: ScoreOptions): PlanOptions {
  const options = { measureAll, ...(visit === undefined ? {} : { visit }) };
  if (credit === undefined) return options;
  if (CREDIT_BY.includes(credit)) return { ...options, credit };
  throw new InputError([{ path: ['credit'], message: `expected one of ${CREDIT_BY.join(', ')}` }]);
}

/** @throws InputError with paths below `at`. */
function rolloutFrom(input: Rollout, at: InputProblem['path'] = []) {
  const read = readRollout(input);
  if (read.ok) return read.value;
  throw new InputError(read.error.map(({ path, message }) => ({ path: [...at, ...path], message })));
}

/** Whom one attempt asks: a judge, or all members of a panel. */
type Turn = Pick<ObtainOptions, 'judge' | 'panel'>;

/** @throws TypeError that names the option. */
function turnsOf({ judge, judges }: ScorerJudges): readonly Turn[] {
  if (judges !== undefined) {
    const members = judges.map((member): JudgingMember => {
      const by: ScorerMember = 'replicate' in member ? member : { judge: member, replicate: 0 };
      return { judge: by.judge.name, replicate: by.replicate, choice: { ok: true, judge: by.judge } };
    });
    const [first] = members;
    const isInRange = first !== undefined && members.length > 1 && members.length <= MAX_PANEL_MEMBERS;
    if (!isInRange) throw new TypeError(`createScorer: judges: expected 2 to ${MAX_PANEL_MEMBERS} judges`);
    if (new Set(members.map(memberName)).size < members.length) {
      throw new TypeError('createScorer: judges: expected judges that differ; give each judgment of one its replicate');
    }
    return [{ judge: first.choice, panel: members }];
  }
  const turns: readonly Judge[] = 'judge' in judge ? [judge] : judge;
  if (turns.length === 0) throw new TypeError('createScorer: judge: expected at least one judge');
  return turns.map((by) => ({ judge: { ok: true, judge: by } }));
}

function replicateOf({ replicate = 0 }: ScoreOptions, { panel }: Turn): number {
  if (panel !== undefined && replicate !== 0) {
    throw new InputError([{ path: ['replicate'], message: 'not with judges: give each member its replicate' }]);
  }
  if (Number.isSafeInteger(replicate) && replicate >= 0) return replicate;
  throw new InputError([{ path: ['replicate'], message: 'expected an integer of at least 0' }]);
}

type AnyScored = ScoredRollout<FamilyTypes>;

/** Returns the scoring rules of the built-in families together with the caller's own families. */
function scoringOf(own: OwnFamilies) {
  const { composers, resolve } = withOwnFamilies(own, 'createScorer');
  const builtIn: readonly Family[] = FAMILIES;
  const familyNamed = new Map<string, ScoringFamily>([...FAMILIES, ...own].map((family) => [family.name, family]));
  const verdictsOf = new Map(builtIn.map(({ name, facts }) => [name, facts.verdicts]));
  const rules: ScoringRules<FamilyTypes> = {
    composers,
    plan(rollout, recipe, options) {
      const family = familyNamed.get(recipe.family);
      if (family === undefined) throw new RangeError(`createScorer: no family is called ${recipe.family}`);
      return planOf(family, rollout, recipe, options);
    },
    verdicts: (facts) => verdictsOf.get(facts.family)?.(facts) ?? null,
    sign: null,
  };
  const resolved = async (recipe: string | Readonly<Record<string, unknown>>) => {
    const resolution = await resolve(recipe);
    if (!resolution.ok) throw new InputError(resolution.error);
    return resolution.value;
  };
  return { rules, resolve: resolved };
}

/**
 * Types the score of a family as the score of its recipe: both have the same family, which the type system cannot
 * derive.
 */
function scoredUnder<const R, F extends ScoringFamily>(family: string, scored: AnyScored | undefined): Scored<R, F> {
  if (scored === undefined) throw new Error('createScorer: a rollout was lost');
  const { reply, facts, credit } = scored;
  const value = { ...reply, facts, ...(credit === undefined ? {} : { credit }) };
  if (!isOfFamily<R, F>(value, family)) throw new Error(`createScorer: a score of the family ${value.family}`);
  return value;
}

function isOfFamily<R, F extends ScoringFamily>(
  value: BaseScore & { readonly facts: BaseFacts },
  family: string,
): value is Scored<R, F> & typeof value {
  return value.family === family && value.facts.family === family;
}
