/**
 * Watches a recorded run for signs that the policy earns its reward in a way nobody wanted. It reads recorded facts
 * and counts only: no text, no judge.
 */
import { BUILT_IN, type Composers } from '../families/composers.ts';
import type { Observations } from '../family/monitor.ts';
import {
  type AlertFigure,
  emptyClaims,
  isOffQuestionCopy,
  type Means,
  RANK_FIGURES,
  type WatchedRollout,
} from './alert-figures.ts';
import {
  ALERT_WINDOW_STEPS,
  ALERT_WINDOWS,
  type AlertRule,
  type FigureReader,
  RULES,
  type Rule,
} from './alert-rules.ts';
import { type PlacedRollout, type RewardScale, StepOfRun } from './alert-step.ts';
import type { RecipeValues } from './gaps.ts';
import type { PayingParts, RewardParts } from './paying-parts.ts';
import { bestRemedy, type GroupToReplay, type Remedy } from './remedies.ts';
import {
  type RecipesOfRun,
  type ReplayedGroup,
  type ReplayedSample,
  type ReplayRow,
  replayGroup,
} from './replay-group.ts';
import type { RolloutCounts } from './rollout-counts.ts';
import type { AlertExample, ShownRollouts } from './shown-rollouts.ts';

/** Groups of each of the last steps on which changes of the recipe are tried. */
const REPLAYED_GROUPS = 16;

/** A row with its counts. Absent: those of an earlier version, which lack words and outcomes. */
export type WatchedRow = ReplayRow & { readonly counts?: RolloutCounts };

export type Alert = {
  readonly rule: AlertRule;
  /** What the policy does, as a sentence without its full stop, with the figures of the last window that met the rule. */
  readonly message: string;
  /** The step from which the rule holds (its last two windows met it), and the last step of the last window. */
  readonly since: number;
  readonly until: number;
  /** Whether the run's last window meets the rule. */
  readonly active: boolean;
  /**
   * The figures that the rule reads, with rewards in the unit of the recipe: at the begin of the run, and in the last
   * window that met the rule. `null` = not observed there.
   */
  readonly figures: Readonly<
    Partial<Record<AlertFigure, { readonly first: number | null; readonly last: number | null }>>
  >;
  /** Rollouts of the last step that met the rule, the clearest first. */
  readonly rollouts: readonly AlertExample[];
  /** What the rollouts of that window earn that show it; `null` = the rule is about no single rollouts. */
  readonly shown: ShownRollouts | null;
  /** What the rewards of that window differ by inside groups; `null` = no rollout earned anything. */
  readonly paying: PayingParts | null;
  /** The change of the recipe that helps most; `null` = none is known, or the alert is over. */
  readonly remedy: Remedy | null;
};

/**
 * Why a rule is not watched. `no_reference`: the family has no reference recipe. `no_outcome`: the trainer sends none.
 * `no_words`: the run has no counts of its answers. `no_range`: the recipe's reward is unbounded. `few_groups`: fewer
 * than 16 groups of four steps have differences. `no_holdout`: the recipe holds no criteria of these rows out.
 * `no_structure`: the run has no counts of what its answers cite: it is of an earlier version, or its family reads no
 * citations. `no_own_criteria`: no row has a positive criterion of its own. `not_observed`: the facts do not say it.
 */
export const UNWATCHED_REASONS = [
  'no_reference',
  'no_outcome',
  'no_words',
  'no_structure',
  'no_range',
  'few_groups',
  'no_holdout',
  'no_own_criteria',
  'not_observed',
] as const;

/** A rule that cannot be watched, and why. */
export type Unwatched = { readonly rule: AlertRule; readonly reason: (typeof UNWATCHED_REASONS)[number] };

export type RunAlerts = {
  /** Watched steps. Rollouts without a step are not watched. */
  readonly steps: number;
  /** By the step from which they hold. */
  readonly alerts: readonly Alert[];
  readonly unwatched: readonly Unwatched[];
};

/** Collects a run group by group, in the order of its steps. Memory grows with the steps, not with the rollouts. */
export class AlertWatch {
  readonly #recipes: ReadonlyMap<string, RecipeValues>;
  readonly #references: RecipesOfRun | null;
  readonly #composers: Composers;
  readonly #scale: RewardScale | null;
  readonly #steps: StepOfRun[] = [];
  /** Whether a row was judged that has no positive criterion of its own. */
  #asksNothing = false;
  /** Whether a row has counts of the words of its answer, and of what it cites. */
  #hasWords = false;
  #hasStructure = false;
  /** Groups of the last steps, for the remedies. */
  #recent: { readonly step: number; readonly groups: (readonly PlacedRow[])[] }[] = [];

  /** @param recipes the recipes of the run by digest, all of one family. */
  constructor(recipes: ReadonlyMap<string, RecipeValues>, composers: Composers = BUILT_IN) {
    this.#recipes = recipes;
    this.#composers = composers;
    this.#references = referencesOf(recipes, composers);
    this.#scale = scaleOf(recipes, composers);
  }

  /** Adds the latest attempts of a group. @throws RangeError if its recipe is not among the run's. */
  add(rows: readonly WatchedRow[]): void {
    const [row] = rows;
    if (row === undefined || row.step === null) return;
    const step = this.#stepOf(row.step);
    const group = replayGroup(rows, this.#recipes, this.#references ?? this.#recipes, 'mean', this.#composers);
    const placed = this.#placed(group);
    step.add(placed);
    const recent = this.#recent.at(-1);
    if (recent !== undefined && recent.groups.length < REPLAYED_GROUPS) {
      recent.groups.push(rows.map((one, n) => ({ row: one, watched: placed[n]?.watched ?? null })));
    }
  }

  #stepOf(number: number): StepOfRun {
    const last = this.#steps.at(-1);
    if (last?.number === number) return last;
    last?.complete();
    const step = new StepOfRun(number, this.#scale ?? UNBOUNDED);
    this.#steps.push(step);
    this.#recent = [...this.#recent.slice(1 - ALERT_WINDOW_STEPS), { step: number, groups: [] }];
    return step;
  }

  #placed(group: ReplayedGroup<WatchedRow>): PlacedRollout[] {
    const hasSignal = group.degenerate.before === null;
    const observed = withoutAnswerUnmet(
      group.samples.map(({ row: { facts, recipe } }) => {
        const values = this.#recipes.get(recipe);
        return values === undefined ? null : (this.#composers.of(values).monitor?.observe(facts) ?? null);
      }),
    );
    this.#asksNothing ||= observed.some((one) => one?.asks_nothing === true);
    const outcomes = group.samples.map(({ row }) => row.counts?.outcome ?? null);
    const rewards = group.samples.map(({ before }) => before.reward);
    const above = {
      reward: aboveMean(rewards),
      outcome: aboveMean(outcomes),
      criteria_met: aboveMean(observed.map((one) => one?.criteria_met ?? null)),
    };
    return group.samples.map((sample, n): PlacedRollout => {
      const { row, before, after } = sample;
      const { step, group: name, sample: id } = row;
      const { reward } = before;
      const reference = this.#references === null ? null : after.reward;
      const { answer, findings = null } = row.counts ?? {};
      this.#hasWords ||= answer !== undefined;
      this.#hasStructure ||= answer?.structure !== undefined;
      const met = observed[n]?.criteria_met ?? null;
      const isUnmet = met !== null && met < 0.5;
      return {
        watched: {
          reward,
          gap: reward === null || reference === null ? null : (reward - reference) / (this.#scale ?? UNBOUNDED).width,
          observed: observed[n] ?? null,
          hasSignal,
          answer,
          outcome: outcomes[n] ?? null,
          right: outcomes[n] ?? this.#judgedOutcome(row),
          holdout: holdoutOf(before.components),
          emptyClaims: findings === null ? null : emptyClaims(findings, isUnmet || observed[n]?.asks_nothing === true),
          isOffQuestionCopy: answer != null && isOffQuestionCopy(answer),
          isUnmet,
          above: {
            reward: above.reward(n),
            outcome: above.outcome(n),
            criteria_met: above.criteria_met(n),
          },
        },
        example: { step, group: name, sample: id, reward, reference },
        parts: this.#partsOf(sample),
      };
    });
  }

  /** The parts of a reward: its components, that of the rubric by its criteria; `null` = unscored. */
  #partsOf({ row: { facts, recipe }, before }: ReplayedSample<WatchedRow>): RewardParts | null {
    const values = this.#recipes.get(recipe);
    if (values === undefined || before.reward === null) return null;
    const parts: Record<string, number> = {};
    let rest = before.reward;
    for (const [name, { contribution }] of Object.entries(before.components)) {
      if (contribution === null || contribution === 0) continue;
      rest -= contribution;
      const shares =
        name === 'rubric' ? this.#composers.of(values).monitor?.criteriaShares?.(facts, values) : undefined;
      for (const [part, share] of Object.entries(shares ?? { [name]: 1 })) parts[part] = share * contribution;
    }
    // A rule that replaces or multiplies the sum, such as a penalty.
    return Math.abs(rest) > ROUNDING ? { ...parts, [OTHER_RULES]: rest } : parts;
  }

  #judgedOutcome({ facts, recipe }: WatchedRow): number | null {
    const values = this.#recipes.get(recipe);
    return values === undefined ? null : (this.#composers.of(values).judgedOutcome?.(facts) ?? null);
  }

  get alerts(): RunAlerts {
    this.#steps.at(-1)?.complete();
    const first = StepOfRun.means(this.#steps.slice(0, ALERT_WINDOW_STEPS));
    const windows = this.#windows();
    const found = RULES.flatMap((rule) => this.#alertOf(rule, first, windows) ?? []);
    found.sort((one, other) => one.since - other.since);
    return { steps: this.#steps.length, alerts: found, unwatched: this.#unwatched(windows) };
  }

  /** The means of every window, the first one first. */
  #windows(): Means[] {
    const count = Math.max(0, this.#steps.length + 1 - ALERT_WINDOW_STEPS);
    return Array.from({ length: count }, (_, n) => StepOfRun.means(this.#steps.slice(n, n + ALERT_WINDOW_STEPS)));
  }

  #alertOf(rule: Rule, first: Means, windows: readonly Means[]): Alert | null {
    if (rule.readsLevel === true && this.#scale === null) return null;
    let [since, last]: [number | null, number | null] = [null, null];
    let inARow = 0;
    // The first window is compared with later ones that do not overlap it.
    for (let n = rule.compares ? ALERT_WINDOW_STEPS : 0; n < windows.length; n++) {
      const means = windows[n];
      if (means === undefined) continue;
      const [reads, readsFirst] = [readerOf(means), readerOf(first)];
      inARow = rule.isMet(reads, readsFirst, reads('reward') - readsFirst('reward')) ? inARow + 1 : 0;
      if (inARow < ALERT_WINDOWS) continue;
      since ??= n;
      last = n;
    }
    const [from, to, lastMeans] = [this.#endOf(since), this.#endOf(last), windows[last ?? -1]];
    if (from === null || to === null || last === null || lastMeans === undefined) return null;
    const steps = this.#steps.slice(last, last + ALERT_WINDOW_STEPS);
    const end = this.#steps.at(-1)?.number ?? to;
    const active = to === end || rule.latches === true;
    const shown = StepOfRun.shown(steps, rule.rule);
    const shownValue = (means: Means, figure: AlertFigure) =>
      inUnits(figure, means.get(figure) ?? null, this.#scale ?? UNBOUNDED);
    const also = rule.alsoReads?.filter((name) => lastMeans.get(name) !== null) ?? [];
    const figures = [...rule.reads, ...also].map((name) => [
      name,
      { first: shownValue(first, name), last: shownValue(lastMeans, name) },
    ]);
    const view = {
      last: (figure: AlertFigure) => shownValue(lastMeans, figure) ?? Number.NaN,
      first: (figure: AlertFigure) => shownValue(first, figure) ?? Number.NaN,
      shown,
    };
    return {
      rule: rule.rule,
      message: rule.says(view),
      since: from,
      until: active ? end : to,
      active,
      figures: Object.fromEntries(figures),
      rollouts: steps.at(-1)?.examples(rule.rule) ?? [],
      shown,
      paying: StepOfRun.paying(steps),
      remedy: active && rule.hasRemedy !== false ? this.#remedyOf(rule) : null,
    };
  }

  /** The number of the last step of a window. */
  #endOf(window: number | null): number | null {
    return window === null ? null : (this.#steps[window + ALERT_WINDOW_STEPS - 1]?.number ?? null);
  }

  #remedyOf({ clarity }: Rule): Remedy | null {
    const groups = this.#recent.flatMap((step) =>
      step.groups.map(
        (rows): GroupToReplay => ({
          rows: rows.map(({ row }) => row),
          shows: rows.map(({ watched }) => watched !== null && clarity(watched) !== null),
        }),
      ),
    );
    if (!groups.some(({ shows }) => shows.includes(true))) return null;
    return bestRemedy(groups, this.#recipes, this.#composers, (this.#scale ?? UNBOUNDED).width);
  }

  #unwatched(windows: readonly Means[]): Unwatched[] {
    if (windows.length === 0) return [];
    const isLacking = (figure: AlertFigure) => windows.every((means) => means.get(figure) === null);
    return RULES.flatMap(({ rule, reads, readsLevel }): Unwatched[] => {
      const lacking = reads.filter((figure) => figure !== 'reward' && isLacking(figure));
      if (lacking.length > 0) return [{ rule, reason: this.#reasonOf(lacking) }];
      return readsLevel === true && this.#scale === null ? [{ rule, reason: 'no_range' }] : [];
    });
  }

  #reasonOf(lacking: readonly AlertFigure[]): Unwatched['reason'] {
    if (lacking.includes('outcome')) return 'no_outcome';
    if (lacking.includes('gap') && this.#references === null) return 'no_reference';
    if (lacking.includes('held_out_met')) return 'no_holdout';
    if (this.#asksNothing && lacking.some((figure) => OF_CRITERIA.has(figure))) return 'no_own_criteria';
    if (!this.#hasWords && lacking.some((figure) => OF_WORDS.has(figure))) return 'no_words';
    if (!this.#hasStructure && lacking.some((figure) => OF_STRUCTURE.has(figure))) return 'no_structure';
    return lacking.every((figure) => RANK_FIGURES.has(figure)) ? 'few_groups' : 'not_observed';
  }
}

type PlacedRow = { readonly row: WatchedRow; readonly watched: WatchedRollout | null };

/** Figures that a run of an earlier version, or of a family that reads no answer, lacks. */
const OF_WORDS: ReadonlySet<AlertFigure> = new Set(['copies', 'words', 'repeated', 'sources_cited']);
/** Figures that such a run lacks although it has counts of words. */
const OF_STRUCTURE: ReadonlySet<AlertFigure> = new Set(['ids', 'repeated_ids', 'same_place', 'hedged']);
const OF_CRITERIA: ReadonlySet<AlertFigure> = new Set(['criteria_met', 'unmet']);
/** Figures in reward units; the others of these count from the lower end of the range. */
const REWARDS: ReadonlySet<AlertFigure> = new Set(['reward', 'unmet_reward']);

/** What the components of a reward do not explain. */
const OTHER_RULES = 'other_rules';
const ROUNDING = 1e-9;

/** Rewards of an unbounded recipe are taken as they are. */
const UNBOUNDED: RewardScale = { least: 0, width: 1 };

function inUnits(figure: AlertFigure, value: number | null, { least, width }: RewardScale): number | null {
  if (value === null) return null;
  if (figure === 'gap') return value * width;
  return REWARDS.has(figure) ? least + value * width : value;
}

/** The reference of each recipe; `null` if the family has none. */
function referencesOf(recipes: ReadonlyMap<string, RecipeValues>, composers: Composers): RecipesOfRun | null {
  const references = new Map<string, RecipeValues>();
  for (const [digest, recipe] of recipes) {
    const reference = composers.of(recipe).monitor?.reference?.(recipe);
    if (reference === undefined) return null;
    references.set(digest, { ...recipe, ...reference });
  }
  return references;
}

/** The range of all recipes together; `null` if one is unbounded. */
function scaleOf(recipes: ReadonlyMap<string, RecipeValues>, composers: Composers): RewardScale | null {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const recipe of recipes.values()) {
    const [low, high] = composers.of(recipe).recipe.range(recipe);
    if (low === null || high === null) return null;
    least = Math.min(least, low);
    most = Math.max(most, high);
  }
  return most > least ? { least, width: most - least } : null;
}

/** Rollouts without an answer meet none of the criteria that another of their group shows the row to have. */
function withoutAnswerUnmet(observed: readonly (Observations | null)[]): (Observations | null)[] {
  if (observed.every((one) => one === null || one.criteria_met === null)) return [...observed];
  return observed.map((one) => (one === null || one.has_answer ? one : { ...one, criteria_met: 0 }));
}

/** Both means of a recipe with a holdout. */
function holdoutOf(components: ReplayedSample['before']['components']): WatchedRollout['holdout'] {
  const [paid, heldOut] = [components['paid_criteria']?.value, components['held_out_criteria']?.value];
  return paid == null || heldOut == null ? null : { paid, heldOut };
}

/** How far each number is above the mean of those that are known. */
function aboveMean(numbers: readonly (number | null)[]): (position: number) => number | null {
  const known = numbers.filter((number) => number !== null);
  const mean = known.reduce((sum, number) => sum + number, 0) / known.length;
  return (position) => {
    const number = numbers[position] ?? null;
    return number === null ? null : number - mean;
  };
}

function readerOf(means: Means): FigureReader {
  return (figure) => means.get(figure) ?? Number.NaN;
}
