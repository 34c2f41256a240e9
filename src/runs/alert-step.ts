/** Accumulates a step of a run for its alerts. Memory does not grow with the rollouts, once the step is complete. */
import type { Observations } from '../family/monitor.ts';
import { ALERT_FIGURES, type AlertFigure, citingOf, type Means, type WatchedRollout } from './alert-figures.ts';
import { type AlertRule, RULES } from './alert-rules.ts';
import { PartsOfGroups, type PayingParts, type RewardParts } from './paying-parts.ts';
import { addRanks, NO_RANKS, type RankSums, rankCorrelation, rankSums } from './rank-correlation.ts';
import type { AnswerStructure } from './rollout-counts.ts';
import { type AlertExample, RolloutsThatShow, type ShownRollouts } from './shown-rollouts.ts';

/** A rollout with its place and the parts of its reward. */
export type PlacedRollout = {
  readonly watched: WatchedRollout;
  readonly example: AlertExample;
  /** `null` = unscored. */
  readonly parts: RewardParts | null;
};

/** Prompts of a step that share an answer. */
const REPEATED_PROMPTS = 3;

/** The lower end of the recipe's range, and its width. */
export type RewardScale = { readonly least: number; readonly width: number };

type RankFigure = 'criteria_rank' | 'outcome_rank';

export class StepOfRun {
  readonly number: number;
  readonly #scale: RewardScale;
  /** Every figure but the ranks is a ratio of two sums. */
  readonly #ratios = new Map<AlertFigure, { part: number; whole: number }>();
  readonly #ranks: Readonly<Record<RankFigure, RankSums>> = {
    criteria_rank: { ...NO_RANKS },
    outcome_rank: { ...NO_RANKS },
  };
  readonly #parts = new PartsOfGroups();
  readonly #showing = new Map<AlertRule, RolloutsThatShow>();
  /** How many answers cite most the source at each place of the list. */
  readonly #places = new Map<number, number>();
  /** Whether a rollout says how often it cites an id again. Then one that does not say it never does. */
  #knowsRepeated = false;
  /** By hash, until the step is complete. */
  #answers = new Map<string, { readonly prompts: Set<string>; count: number; readonly show: RolloutsThatShow }>();

  constructor(number: number, scale: RewardScale) {
    this.number = number;
    this.#scale = scale;
  }

  add(group: readonly PlacedRollout[]): void {
    const [first] = group;
    if (first !== undefined) this.#ratio('degenerate', first.watched.hasSignal ? 0 : 1);
    for (const rollout of group) this.#addRollout(rollout);
    this.#parts.add(group.flatMap(({ parts }) => (parts === null ? [] : [parts])));
    const pairs = (second: (rollout: WatchedRollout) => number | null) =>
      rankSums(
        group.flatMap(({ watched }) => {
          const other = second(watched);
          return watched.reward === null || other === null ? [] : [[watched.reward, other] as const];
        }),
      );
    addRanks(
      this.#ranks.criteria_rank,
      pairs(({ observed }) => observed?.criteria_met ?? null),
    );
    addRanks(
      this.#ranks.outcome_rank,
      pairs(({ outcome }) => outcome),
    );
  }

  #addRollout({ watched, example, parts }: PlacedRollout): void {
    const { reward, gap, observed, answer, outcome, right, holdout, emptyClaims, isUnmet } = watched;
    const level = reward === null ? null : (reward - this.#scale.least) / this.#scale.width;
    this.#ratio('unscored', reward === null ? 1 : 0);
    if (level !== null) this.#ratio('reward', level);
    if (gap !== null) this.#ratio('gap', gap);
    if (outcome !== null) this.#ratio('outcome', outcome);
    if (right !== null) this.#ratio('right', right);
    if (holdout !== null) {
      this.#ratio('paid_met', holdout.paid);
      this.#ratio('held_out_met', holdout.heldOut);
    }
    if (observed !== null) this.#addObserved(observed);
    const { claims, ids, repeated } = citingOf(watched);
    if (claims !== null && ids !== null) this.#ratio('ids', ids, claims);
    if (claims !== null) this.#ratio('repeated_ids', repeated ?? 0, claims);
    this.#knowsRepeated ||= repeated !== null;
    if (observed?.criteria_met != null) this.#ratio('unmet', isUnmet ? 1 : 0);
    if (isUnmet && level !== null) this.#ratio('unmet_reward', level);
    if (emptyClaims !== null && observed?.cited != null) this.#ratio('empty_claims', emptyClaims, observed.cited);
    if (answer !== undefined) this.#ratio('copies', watched.isOffQuestionCopy ? 1 : 0);
    if (answer != null) {
      this.#ratio('words', answer.words);
      if (answer.sources > 0) this.#ratio('sources_cited', answer.cited / answer.sources);
      if (answer.structure !== undefined) this.#addStructure(answer.structure, answer.sources);
      this.#addAnswer(answer.hash, example, parts);
    }
    for (const { rule, clarity } of RULES) {
      const clear = clarity(watched);
      if (clear !== null) this.#showingOf(rule).add(clear, example, parts);
    }
  }

  #addStructure({ place, hedges }: AnswerStructure, sources: number): void {
    this.#ratio('hedged', hedges ? 1 : 0);
    if (place !== null && sources > 2) this.#places.set(place, (this.#places.get(place) ?? 0) + 1);
  }

  #addObserved({ criteria_met, cited, uncited, citations, irrelevant }: Observations): void {
    if (criteria_met !== null) this.#ratio('criteria_met', criteria_met);
    if (cited !== null) this.#ratio('cited', cited);
    if (uncited !== null) this.#ratio('uncited', uncited);
    if (citations !== null && irrelevant !== null) this.#ratio('irrelevant', irrelevant, citations);
  }

  #addAnswer(hash: string, example: AlertExample, parts: RewardParts | null): void {
    const known = this.#answers.get(hash) ?? { prompts: new Set<string>(), count: 0, show: new RolloutsThatShow() };
    this.#answers.set(hash, known);
    // An example of each prompt, the first ones first.
    const clarity = known.prompts.has(example.group) ? Number.NEGATIVE_INFINITY : 0;
    known.prompts.add(example.group);
    known.count++;
    known.show.add(clarity, example, parts);
  }

  /** Ends the step: which answers its prompts share is known, and need not be remembered. */
  complete(): void {
    if (this.#answers.size === 0) return;
    const answers = [...this.#answers.values()].sort((one, other) => other.count - one.count);
    const repeated = answers.filter(({ prompts }) => prompts.size >= REPEATED_PROMPTS);
    const count = (list: typeof answers) => list.reduce((sum, one) => sum + one.count, 0);
    this.#ratio('repeated', count(repeated), count(answers));
    const [most, ...others] = repeated;
    if (most !== undefined) {
      for (const { show } of others) most.show.merge(show);
      this.#showing.set('repeated_answers', most.show);
    }
    this.#answers = new Map();
  }

  #ratio(figure: AlertFigure, part: number, whole = 1): void {
    const sums = this.#ratios.get(figure);
    if (sums === undefined) this.#ratios.set(figure, { part, whole });
    else {
      sums.part += part;
      sums.whole += whole;
    }
  }

  #showingOf(rule: AlertRule): RolloutsThatShow {
    const known = this.#showing.get(rule) ?? new RolloutsThatShow();
    this.#showing.set(rule, known);
    return known;
  }

  examples(rule: AlertRule): readonly AlertExample[] {
    return this.#showing.get(rule)?.examples ?? [];
  }

  static means(steps: readonly StepOfRun[]): Means {
    const mean = (figure: AlertFigure): number | null => {
      let [part, whole] = [0, 0];
      for (const step of steps) {
        const sums = step.#ratios.get(figure);
        part += sums?.part ?? 0;
        whole += sums?.whole ?? 0;
      }
      return whole === 0 ? null : part / whole;
    };
    const places = new Map<number, number>();
    for (const [place, count] of steps.flatMap((step) => [...step.#places])) {
      places.set(place, (places.get(place) ?? 0) + count);
    }
    const placed = [...places.values()].reduce((sum, count) => sum + count, 0);
    const rank = (figure: RankFigure): number | null => {
      const sums = { ...NO_RANKS };
      for (const step of steps) addRanks(sums, step.#ranks[figure]);
      return rankCorrelation(sums);
    };
    const means = new Map(ALERT_FIGURES.map((figure) => [figure, mean(figure)]));
    means.set('criteria_rank', rank('criteria_rank')).set('outcome_rank', rank('outcome_rank'));
    if (!steps.some((step) => step.#knowsRepeated)) means.set('repeated_ids', null);
    return means.set('same_place', placed === 0 ? null : Math.max(...places.values()) / placed);
  }

  /** What the rewards of some steps differ by inside groups. */
  static paying(steps: readonly StepOfRun[]): PayingParts | null {
    const all = new PartsOfGroups();
    for (const step of steps) all.merge(step.#parts);
    return all.paying;
  }

  /** The rollouts of some steps that show a rule. */
  static shown(steps: readonly StepOfRun[], rule: AlertRule): ShownRollouts | null {
    const all = new RolloutsThatShow();
    for (const step of steps) {
      const showing = step.#showing.get(rule);
      if (showing !== undefined) all.merge(showing);
    }
    return all.summary;
  }
}
