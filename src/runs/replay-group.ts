/**
 * Replays one group: the rewards and advantages that it would have under another recipe. It runs the `compose` and
 * `advantages` of scoring on the recorded facts, so it needs neither text nor judge and gives bit-identical results.
 */
import { BUILT_IN, type Composers, type Facts } from '../families/composers.ts';
import type { Contributions } from '../family/contributions.ts';
import type { BaseFacts } from '../family/facts.ts';
import type { SignedCriterionInput } from '../family/rollout.ts';
import type { BaseScore, Component, UnscoredReason } from '../family/score.ts';
import type { AdvantageOptions } from '../scoring/advantage-presets.ts';
import { advantages, type Degenerate } from '../scoring/advantages.ts';
import { type GdpoOptions, isGdpo } from '../scoring/gdpo.ts';
import { createGapFinder, type RecipeValues } from './gaps.ts';
import { kendallTauB } from './kendall.ts';
import type { RolloutCounts } from './rollout-counts.ts';
import type { LedgerRow } from './row.ts';

/** One recipe for every row, or a recipe for each digest that rows were recorded under. */
export type RecipesOfRun = RecipeValues | ReadonlyMap<string, RecipeValues>;

/** The columns of a row that replay reads. */
export type ReplayRow = Pick<LedgerRow, 'step' | 'group' | 'sample' | 'recipe' | 'reward'> & {
  readonly facts: BaseFacts;
};

/**
 * Returns the row as replay reads it: with the findings of its counts among its facts, where it was recorded under a
 * recipe that prices none. @param counts absent or without findings: the row as it is.
 */
export function replayedRow<Row extends LedgerRow>(row: Row, counts: Pick<RolloutCounts, 'findings'> | undefined): Row {
  const findings = counts?.findings ?? null;
  if (findings === null) return row;
  const { facts } = row;
  return { ...row, facts: BUILT_IN.of(facts).withFindings?.(facts, findings) ?? facts };
}

/** The score of a rollout under one of the two recipes. */
export type ReplayedScore = {
  readonly reward: number | null;
  readonly reason: UnscoredReason | null;
  /** Ids of the samples on whose unknown votes the reward depends; only with the reason `group_vote_unknown`. */
  readonly depends_on?: readonly string[];
  /** The components of the score; empty if the recipe reads something that was not observed. */
  readonly components: Readonly<Record<string, Component>>;
  readonly advantage: number;
  /** Whether the loss leaves the rollout out, because it is unscored. */
  readonly masked: boolean;
};

/**
 * How the recorded reward compares with the reward recomposed from the recorded facts and recipe. `alone`: the recipe
 * normalises within the group, and the reward was recorded without the group; `before` uses the group. `different`: the
 * recording version of the formula gave another reward.
 */
type RecordedReward = 'equal' | 'alone' | 'different';

/**
 * How an advantage's sign changes. `silenced`: to 0. `awakened`: from 0. `not_compared`: unscored before or after.
 */
export type SignChange = 'kept' | 'flipped' | 'silenced' | 'awakened' | 'not_compared';

export type ReplayedSample<Row extends ReplayRow = LedgerRow> = {
  readonly row: Row;
  readonly recorded: RecordedReward;
  readonly before: ReplayedScore;
  readonly after: ReplayedScore;
  /**
   * The observations that the other recipe reads and the recorded facts lack (gaps.ts); if there are any, `after` is
   * unscored.
   */
  readonly gaps: readonly string[];
  /** The set of an evolving rubric that scores it here, and the criteria without a verdict; `null` = as recorded. */
  readonly rubric: { readonly set: string | null; readonly missing: readonly string[] } | null;
  readonly sign: SignChange;
};

/** The rule of a replay. A GDPO rule needs every group of a step (replay-step.ts). */
export type ReplayRule = AdvantageOptions | GdpoOptions;

export type ReplayedGroup<Row extends ReplayRow = LedgerRow> = {
  readonly step: number | null;
  readonly group: string;
  /** In the order of the rows. */
  readonly samples: readonly ReplayedSample<Row>[];
  /** Kendall's tau-b between the rewards before and after, over samples scored both times; `null` = undefined. */
  readonly tau: number | null;
  readonly degenerate: { readonly before: Degenerate | null; readonly after: Degenerate | null };
  /**
   * With a GDPO rule: the contributions of each sample, `null` = unscored. Its advantages are not final until the step
   * is complete. `null` = another rule.
   */
  readonly contributions: { readonly before: SampleContributions; readonly after: SampleContributions } | null;
};

type SampleContributions = readonly (Contributions | null)[];

/**
 * A group whose scores under the recorded recipes are composed, so that a sweep composes them once instead of once per
 * value.
 */
export type PreparedGroup<Row extends ReplayRow = LedgerRow> = {
  readonly rows: readonly Row[];
  readonly recorded: readonly RecordedReward[];
  readonly recipes: RecipesOfRun;
  readonly advantages: ReplayRule;
  readonly before: Side;
  readonly composers: Composers;
  /** The rubric of each row in the replay, by index; `null` or absent = the recorded one. */
  readonly rubrics: readonly (OtherRubric | null)[];
};

/** The set of an evolving rubric that scores a rollout in a replay (replay-rubrics.ts). */
export type OtherRubric = {
  /** The id of the set; `null` = unknown. */
  readonly set: string | null;
  /** Its criteria, for a judge; `null` = unknown. */
  readonly criteria: readonly SignedCriterionInput[] | null;
  /** The facts under the set; the recorded ones if there is a gap. */
  readonly facts: BaseFacts;
  /** The ids of the criteria that have no verdict for the rollout. */
  readonly missing: readonly string[];
  /** Why there is no reward; `[]` = nothing is missing. */
  readonly gaps: readonly string[];
};

/** The result of measuring a rollout again: its facts under the other recipe, or the names of what is still missing. */
export type Measurement = { readonly facts: Facts } | { readonly gaps: readonly string[] };

type Side = {
  readonly scores: readonly ReplayedScore[];
  readonly degenerate: Degenerate | null;
  /** `null` = the rule does not need them. */
  readonly contributions: SampleContributions | null;
};

/**
 * Replays one group under another recipe.
 * @param rows all samples of one group of one step, at least one, each at its latest attempt.
 * @throws RangeError if a recipe is missing, a recipe's family differs from the facts', or an advantage rule is
 * invalid.
 */
export function replayGroup<Row extends ReplayRow>(
  rows: readonly Row[],
  before: RecipesOfRun,
  after: RecipesOfRun,
  options: AdvantageOptions = 'mean',
  composers: Composers = BUILT_IN,
): ReplayedGroup<Row> {
  return replayPrepared(prepareGroup(rows, before, options, composers), after);
}

/**
 * Composes the scores of a group under its recorded recipes and compares them with the recorded rewards.
 * @throws RangeError as `replayGroup`.
 */
export function prepareGroup<Row extends ReplayRow>(
  rows: readonly Row[],
  recipes: RecipesOfRun,
  options: ReplayRule = 'mean',
  composers: Composers = BUILT_IN,
  rubrics: PreparedGroup['rubrics'] = [],
): PreparedGroup<Row> {
  const members = rows.map(
    (row): Member => ({
      facts: row.facts,
      recipe: recipeOf(row, recipes, 'recorded'),
      open: false,
      sample: row.sample,
    }),
  );
  const before = composeMembers(members, options, composers);
  const recorded = rows.map((row, position): RecordedReward => {
    const composed = before.scores[position];
    if (composed?.reward === row.reward) return 'equal';
    const member = members[position];
    if (member === undefined) return 'different';
    return composers.compose(member.facts, member.recipe).reward === row.reward ? 'alone' : 'different';
  });
  return { rows, recorded, recipes, advantages: options, before, composers, rubrics };
}

/**
 * Composes the scores of a prepared group under the other recipe.
 * @param measured facts measured for the other recipe, by index of the row; `null` or absent = the row's own facts.
 */
export function replayPrepared<Row extends ReplayRow>(
  prepared: PreparedGroup<Row>,
  recipes: RecipesOfRun,
  measured: readonly (Measurement | null)[] = [],
): ReplayedGroup<Row> {
  const { rows, recorded, before, composers } = prepared;
  const finderOf = findersOf(prepared.recipes, recipes, composers);
  const gaps = rows.map((row, position) => {
    const again = measured[position] ?? null;
    const rubric = prepared.rubrics[position] ?? null;
    if (again === null) {
      const own = finderOf(row)(rubric?.facts ?? row.facts);
      return rubric === null || rubric.gaps.length === 0 ? own : [...rubric.gaps, ...own];
    }
    return 'gaps' in again ? again.gaps : NO_GAPS;
  });
  const members = rows.map((row, position): Member => {
    const again = measured[position] ?? null;
    const recorded = prepared.rubrics[position]?.facts ?? row.facts;
    const facts = again !== null && 'facts' in again ? again.facts : recorded;
    const open = (gaps[position] ?? NO_GAPS).length > 0;
    return { facts, recipe: recipeOf(row, recipes, 'other'), open, sample: row.sample };
  });
  const after = composeMembers(members, prepared.advantages, composers);
  const samples = rows.map((row, position): ReplayedSample<Row> => {
    const one = scoreAt(before, position);
    const other = scoreAt(after, position);
    return {
      row,
      recorded: recorded[position] ?? 'different',
      before: one,
      after: other,
      gaps: gaps[position] ?? NO_GAPS,
      rubric: rubricOf(prepared.rubrics[position] ?? null, measured[position] ?? null),
      sign: signChange(one, other),
    };
  });
  const [first] = rows;
  if (first === undefined) throw new RangeError('replayGroup: a group without rows');
  return {
    step: first.step,
    group: first.group,
    samples,
    tau: tauOf(samples),
    degenerate: { before: before.degenerate, after: after.degenerate },
    contributions:
      before.contributions === null || after.contributions === null
        ? null
        : { before: before.contributions, after: after.contributions },
  };
}

const NO_GAPS: readonly string[] = [];

/** Measured facts have verdicts on all criteria of the set. */
function rubricOf(rubric: OtherRubric | null, again: Measurement | null): ReplayedSample['rubric'] {
  if (rubric === null) return null;
  return { set: rubric.set, missing: again !== null && 'facts' in again ? [] : rubric.missing };
}

function scoreAt({ scores }: Side, position: number): ReplayedScore {
  const score = scores[position];
  if (score === undefined) throw new Error('replayGroup: a sample was lost');
  return score;
}

function recipeOf(row: ReplayRow, recipes: RecipesOfRun, which: string): RecipeValues {
  if (!isMap(recipes)) return recipes;
  const recipe = recipes.get(row.recipe);
  if (recipe === undefined) throw new RangeError(`replayGroup: no ${which} recipe for the digest ${row.recipe}`);
  return recipe;
}

function isMap(recipes: RecipesOfRun): recipes is ReadonlyMap<string, RecipeValues> {
  return recipes instanceof Map;
}

/**
 * Names, for each row, what the other recipe reads and the row's facts do not hold.
 * @throws RangeError as `replayGroup`.
 */
export function gapsOf(rows: readonly ReplayRow[], before: RecipesOfRun, after: RecipesOfRun): (readonly string[])[] {
  const finderOf = findersOf(before, after, BUILT_IN);
  return rows.map((row) => finderOf(row)(row.facts));
}

/** Returns a function that gives each row its gap finder (gaps.ts). Rows with the same recipe share one gap finder. */
function findersOf(
  before: RecipesOfRun,
  after: RecipesOfRun,
  composers: Composers,
): (row: ReplayRow) => ReturnType<typeof createGapFinder> {
  const known = new Map<string, ReturnType<typeof createGapFinder>>();
  return (row) => {
    const found = known.get(row.recipe);
    if (found !== undefined) return found;
    const finder = createGapFinder(recipeOf(row, before, 'recorded'), recipeOf(row, after, 'other'), composers);
    known.set(row.recipe, finder);
    return finder;
  };
}

type Member = {
  readonly facts: BaseFacts;
  readonly recipe: RecipeValues;
  /** Whether the recipe reads something that the facts do not hold. */
  readonly open: boolean;
  /** The id of the sample. */
  readonly sample: string;
};

function composeMembers(members: readonly Member[], options: ReplayRule, composers: Composers): Side {
  const votes = composers.groupVotes(
    members.map(({ facts, recipe, open }) => ({ facts: open ? null : facts, recipe })),
  );
  const measured = members.map(({ facts, recipe, open }) => (open ? null : composers.compose(facts, recipe, votes)));
  const composed = measured.map((score) => score ?? NOT_MEASURED);
  const result = advantages(
    composed.map(({ reward }) => reward),
    isGdpo(options) ? 'mean' : options,
  );
  if (!result.ok) {
    const [problem] = result.error;
    throw new RangeError(`replayGroup: no advantages: ${problem?.path.join('.')}: ${problem?.message}`);
  }
  const scores = composed.map(({ reward, reason, components, depends_on }, position): ReplayedScore => {
    const own = result.value.advantages[position];
    if (own === undefined) throw new Error('replayGroup: an advantage was lost');
    const { advantage, masked } = own;
    const score = { reward, reason, components, advantage, masked };
    return depends_on === undefined ? score : { ...score, depends_on: depends_on.map((at) => sampleAt(members, at)) };
  });
  const { degenerate } = result.value;
  if (!isGdpo(options)) return { scores, degenerate, contributions: null };
  const contributions = members.map(({ recipe }, position) => {
    const score = measured[position] ?? null;
    return score === null ? null : composers.contributions(score, recipe);
  });
  return { scores, degenerate, contributions };
}

const NOT_MEASURED: Pick<BaseScore, 'reward' | 'reason' | 'components' | 'depends_on'> = {
  reward: null,
  reason: 'not_measured',
  components: {},
};

function sampleAt(members: readonly Member[], position: number): string {
  const member = members[position];
  if (member === undefined) throw new Error('replayGroup: a reward depends on a member that the group lacks');
  return member.sample;
}

type SignedAdvantage = Pick<ReplayedScore, 'masked' | 'advantage'>;

export function signChange(before: SignedAdvantage, after: SignedAdvantage): SignChange {
  if (before.masked || after.masked) return 'not_compared';
  const [old, other] = [Math.sign(before.advantage), Math.sign(after.advantage)];
  if (old === other) return 'kept';
  if (other === 0) return 'silenced';
  return old === 0 ? 'awakened' : 'flipped';
}

function tauOf(samples: readonly ReplayedSample<ReplayRow>[]): number | null {
  const old: number[] = [];
  const other: number[] = [];
  for (const { before, after } of samples) {
    if (before.reward === null || after.reward === null) continue;
    old.push(before.reward);
    other.push(after.reward);
  }
  return kendallTauB(old, other);
}
