/**
 * Watches a recorded run for signs that the policy earns its reward in a way nobody wanted. It reads recorded facts
 * only: no text, no judge.
 */
import { BUILT_IN, type Composers } from '../families/composers.ts';
import type { Observations } from '../family/monitor.ts';
import {
  ALERT_WINDOW_STEPS,
  type AlertFigure,
  type AlertRule,
  type FigureReader,
  IN_REWARD_UNITS,
  type Means,
  RULES,
  type Rule,
} from './alert-rules.ts';
import type { RecipeValues } from './gaps.ts';
import { Moments } from './moments.ts';
import {
  type RecipesOfRun,
  type ReplayedGroup,
  type ReplayedSample,
  type ReplayRow,
  replayGroup,
} from './replay-group.ts';

/** Rollouts that an alert names. */
const MAX_EXAMPLES = 3;

export type Alert = {
  readonly rule: AlertRule;
  readonly message: string;
  /** The last step of the first window that met the rule, and of the last one. */
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
  /** Rollouts of the last window that met the rule, the clearest first. */
  readonly rollouts: readonly AlertExample[];
};

export type AlertExample = Pick<ReplayRow, 'step' | 'group' | 'sample'> & {
  readonly reward: number | null;
  /** Its reward under the reference recipe; `null` = unscored there, or there is no reference. */
  readonly reference: number | null;
};

/** A rule that cannot be watched, and why. */
export type Unwatched = { readonly rule: AlertRule; readonly reason: 'no_reference' | 'not_observed' };

export type RunAlerts = {
  /** Watched steps. Rollouts without a step are not watched. */
  readonly steps: number;
  readonly alerts: readonly Alert[];
  readonly unwatched: readonly Unwatched[];
};

/** Collects a run group by group, in the order of its steps. Memory grows with the steps, not with the rollouts. */
export class AlertWatch {
  readonly #recipes: ReadonlyMap<string, RecipeValues>;
  readonly #references: RecipesOfRun | null;
  readonly #composers: Composers;
  readonly #scale: number;
  readonly #steps: StepOfRun[] = [];

  /** @param recipes the recipes of the run by digest, all of one family. */
  constructor(recipes: ReadonlyMap<string, RecipeValues>, composers: Composers = BUILT_IN) {
    this.#recipes = recipes;
    this.#composers = composers;
    this.#references = referencesOf(recipes, composers);
    this.#scale = Math.max(...[...recipes.values()].map((recipe) => widthOf(recipe, composers)));
  }

  /** Adds the latest attempts of a group. @throws RangeError if its recipe is not among the run's. */
  add(rows: readonly ReplayRow[]): void {
    const [row] = rows;
    if (row === undefined || row.step === null) return;
    const last = this.#steps.at(-1);
    const step = last?.number === row.step ? last : new StepOfRun(row.step, this.#scale);
    if (step !== last) this.#steps.push(step);
    const group = replayGroup(rows, this.#recipes, this.#references ?? this.#recipes, 'mean', this.#composers);
    step.add(group, this.#references !== null, (one) => this.#observe(one));
  }

  get alerts(): RunAlerts {
    const first = meansOf(this.#steps.slice(0, ALERT_WINDOW_STEPS));
    const found = RULES.flatMap((rule) => this.#alertOf(rule, first) ?? []);
    return { steps: this.#steps.length, alerts: found, unwatched: this.#unwatched(first) };
  }

  #observe({ facts, recipe }: ReplayRow): Observations | null {
    const values = this.#recipes.get(recipe);
    return values === undefined ? null : (this.#composers.of(values).monitor?.observe(facts) ?? null);
  }

  #alertOf(rule: Rule, first: Means): Alert | null {
    let [since, last]: [StepOfRun | null, StepOfRun | null] = [null, null];
    let lastMeans = first;
    // The first window is compared with later ones that do not overlap it.
    for (let end = 2 * ALERT_WINDOW_STEPS; end <= this.#steps.length; end++) {
      const means = meansOf(this.#steps.slice(end - ALERT_WINDOW_STEPS, end));
      const rise = (means.reward ?? Number.NaN) - (first.reward ?? Number.NaN);
      if (!rule.isMet(readerOf(means), readerOf(first), rise)) continue;
      last = this.#steps[end - 1] ?? null;
      since ??= last;
      lastMeans = means;
    }
    if (since === null || last === null) return null;
    const shown = (means: Means, figure: AlertFigure): number | null => {
      const value = means[figure];
      return value !== null && IN_REWARD_UNITS.has(figure) ? value * this.#scale : value;
    };
    const figures = rule.reads.map((name) => [name, { first: shown(first, name), last: shown(lastMeans, name) }]);
    return {
      rule: rule.rule,
      message: rule.message,
      since: since.number,
      until: last.number,
      active: last === this.#steps.at(-1),
      figures: Object.fromEntries(figures),
      rollouts: last.examples(rule.rule),
    };
  }

  #unwatched(first: Means): Unwatched[] {
    return RULES.flatMap(({ rule, reads }): Unwatched[] => {
      const lacking = reads.filter((figure) => figure !== 'reward' && first[figure] === null);
      if (lacking.length === 0 || this.#steps.length === 0) return [];
      return [{ rule, reason: this.#references === null && lacking.includes('gap') ? 'no_reference' : 'not_observed' }];
    });
  }
}

/** The reference of each recipe; `null` if the family has none. */
function referencesOf(recipes: ReadonlyMap<string, RecipeValues>, composers: Composers): RecipesOfRun | null {
  const references = new Map<string, RecipeValues>();
  for (const [digest, recipe] of recipes) {
    const reference = composers.of(recipe).monitor?.reference(recipe);
    if (reference === undefined) return null;
    references.set(digest, { ...recipe, ...reference });
  }
  return references;
}

/** The width of the recipe's reward range; 1 if it is unbounded. */
function widthOf(recipe: RecipeValues, composers: Composers): number {
  const [least, most] = composers.of(recipe).recipe.range(recipe);
  return least === null || most === null || most === least ? 1 : most - least;
}

class StepOfRun {
  readonly number: number;
  readonly #scale: number;
  readonly reward = new Moments();
  readonly gap = new Moments();
  readonly criteria = new Moments();
  readonly cited = new Moments();
  readonly uncited = new Moments();
  readonly citations = { all: 0, irrelevant: 0 };
  readonly groups = { all: 0, degenerate: 0 };
  readonly rollouts = { all: 0, unscored: 0 };
  readonly #examples = new Map<AlertRule, { readonly clarity: number; readonly rollout: AlertExample }[]>();

  constructor(number: number, scale: number) {
    this.number = number;
    this.#scale = scale;
  }

  add(group: ReplayedGroup<ReplayRow>, hasReference: boolean, observe: (row: ReplayRow) => Observations | null): void {
    this.groups.all++;
    const hasSignal = group.degenerate.before === null;
    if (!hasSignal) this.groups.degenerate++;
    for (const sample of group.samples) this.#addSample(sample, hasReference, hasSignal, observe(sample.row));
  }

  #addSample(
    { row, before, after }: ReplayedSample<ReplayRow>,
    hasReference: boolean,
    hasSignal: boolean,
    observed: Observations | null,
  ): void {
    const reward = before.reward;
    const reference = hasReference ? after.reward : null;
    const gap = reward === null || reference === null ? null : (reward - reference) / this.#scale;
    this.rollouts.all++;
    if (reward === null) this.rollouts.unscored++;
    else this.reward.add(reward / this.#scale);
    if (gap !== null) this.gap.add(gap);
    this.#observe(observed);
    const { step, group, sample } = row;
    const rollout = { step, group, sample, reward, reference };
    for (const { rule, clarity } of RULES) {
      const clear = clarity({ reward, gap, observed, hasSignal });
      if (clear !== null) this.#keep(rule, clear, rollout);
    }
  }

  #observe(observed: Observations | null): void {
    if (observed === null) return;
    const { criteria_met, cited, uncited, citations, irrelevant } = observed;
    if (criteria_met !== null) this.criteria.add(criteria_met);
    if (cited !== null) this.cited.add(cited);
    if (uncited !== null) this.uncited.add(uncited);
    if (citations === null || irrelevant === null) return;
    this.citations.all += citations;
    this.citations.irrelevant += irrelevant;
  }

  #keep(rule: AlertRule, clarity: number, rollout: AlertExample): void {
    const kept = this.#examples.get(rule) ?? [];
    this.#examples.set(rule, kept);
    const position = kept.findIndex((other) => other.clarity < clarity);
    kept.splice(position === -1 ? kept.length : position, 0, { clarity, rollout });
    kept.length = Math.min(kept.length, MAX_EXAMPLES);
  }

  examples(rule: AlertRule): readonly AlertExample[] {
    return (this.#examples.get(rule) ?? []).map(({ rollout }) => rollout);
  }
}

function meansOf(steps: readonly StepOfRun[]): Means {
  const mean = (of: (step: StepOfRun) => Moments): number | null => {
    const all = new Moments();
    for (const step of steps) all.merge(of(step).sums);
    return all.mean;
  };
  const share = (of: (step: StepOfRun) => readonly [part: number, whole: number]): number | null => {
    let [part, whole] = [0, 0];
    for (const step of steps) {
      part += of(step)[0];
      whole += of(step)[1];
    }
    return whole === 0 ? null : part / whole;
  };
  return {
    reward: mean((step) => step.reward),
    gap: mean((step) => step.gap),
    criteria_met: mean((step) => step.criteria),
    cited: mean((step) => step.cited),
    uncited: mean((step) => step.uncited),
    irrelevant: share(({ citations }) => [citations.irrelevant, citations.all]),
    degenerate: share(({ groups }) => [groups.degenerate, groups.all]),
    unscored: share(({ rollouts }) => [rollouts.unscored, rollouts.all]),
  };
}

function readerOf(means: Means): FigureReader {
  return (figure) => means[figure] ?? Number.NaN;
}
