/**
 * Judges the criteria of a rollout in several ways: jointly as a deployment does, jointly in reversed and in random
 * order, one by one, and jointly again. The request is fitted to the judge once, so that all ways see the same sources.
 */
import { createHash } from 'node:crypto';
import { refiner } from '../../../src/families/refiner/family.ts';
import { planRefiner, type RefinerPlan } from '../../../src/families/refiner/plan.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import type { CriterionScore, RubricRequest } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { rubricCalls } from '../../../src/judgments/kinds/rubric/rubric-calls.ts';
import { type AgreementTable, PairCounter } from '../../../src/judgments/rater-agreement.ts';
import { type CriterionKind, FlipCounter, type OrderFlips, shuffledOrder } from '../../../src/labels/order-flips.ts';
import { requestedRollout, type ScoreRequest } from '../../../src/wire/score.ts';
import { type LineProblem, lineProblem } from '../../shared/rows.ts';
import { type CheckedJudge, isDeterministic } from './judges.ts';
import type { JudgingReport, MeasuredJudge } from './measured-judge.ts';

type CriteriaRow =
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[] }
  /** The rollout has no answer, so nothing is judged. */
  | { readonly kind: 'without_answer' }
  | { readonly kind: 'judged'; readonly cut: boolean; readonly anyVerdict: boolean };

/** The verdicts of one way of judging, compared with the verdicts of the joint call. */
export type ComparisonReport = {
  readonly verdicts: { readonly asked: number; readonly compared: number };
  /** Rows: joint scores 0, 1, 2; columns: scores of this way. */
  readonly table: AgreementTable;
  readonly judging: JudgingReport;
};

export type CriteriaReport = {
  /**
   * The joint call: all criteria in one call, in the order of the row. The other ways of judging are compared with it.
   */
  readonly joint: JudgingReport;
  readonly per_criterion: ComparisonReport;
  /** `null` = not asked for. */
  readonly batched: ComparisonReport | null;
  readonly reversed: ComparisonReport;
  /** In a random order, another for each answer. */
  readonly shuffled: ComparisonReport & { readonly flips: readonly OrderFlips[] };
  /** One report per repetition of the joint call; empty for a deterministic judge. */
  readonly replicates: readonly ComparisonReport[];
};

const SCORES = 3;

/** Compares the verdicts of one way of judging with the verdicts of the joint call. */
class Comparison {
  readonly #judge: MeasuredJudge;
  readonly #method: JudgingMethod;
  readonly #pairs = new PairCounter(SCORES);
  #asked = 0;
  #compared = 0;

  constructor(judge: MeasuredJudge, method: JudgingMethod) {
    this.#judge = judge;
    this.#method = method;
  }

  /**
   * Judges the request this way. @returns the number of verdicts.
   * @param onPair is told of each criterion with both verdicts.
   */
  async judge(
    request: RubricRequest,
    joint: Scores,
    onPair: (position: number, isSame: boolean) => void = () => undefined,
  ): Promise<number> {
    const other = await this.#method(this.#judge, request);
    this.#asked += request.criteria.length;
    for (const [key, second] of other) {
      const first = joint.get(key);
      if (first === undefined) continue;
      this.#pairs.add(first, second);
      this.#compared++;
      onPair(key, first === second);
    }
    return other.size;
  }

  /** Counts the verdicts of a row as missing, because the row's joint request does not fit the judge's context. */
  addMissing(verdicts: number): void {
    this.#asked += verdicts;
  }

  get report(): ComparisonReport {
    const verdicts = { asked: this.#asked, compared: this.#compared };
    return { verdicts, table: this.#pairs.table, judging: this.#judge.report };
  }
}

const ONLY_REFINERS = { field: 'recipe', message: 'expected a recipe of the refiner family' };

export class CriteriaCheck {
  readonly #joint: MeasuredJudge;
  readonly #template: CheckedJudge['template'];
  readonly #perCriterion: Comparison;
  readonly #batched: Comparison | null;
  readonly #reversed: Comparison;
  readonly #shuffled: Comparison;
  readonly #flips = new FlipCounter();
  readonly #seed: number;
  readonly #replicates: readonly Comparison[];

  /**
   * @param replicates how many times the joint request is repeated; a deterministic judge gets no repetition.
   * @param seed of the random orders and of the intervals.
   */
  constructor(judge: CheckedJudge, { replicates, seed }: { readonly replicates: number; readonly seed: number }) {
    this.#seed = seed;
    this.#template = judge.template;
    this.#joint = judge.measured(0);
    this.#perCriterion = new Comparison(judge.measured(0), scoresOneByOne);
    this.#batched = judge.batch === null ? null : new Comparison(judge.measured(0), scoresInBatches(judge.batch));
    this.#reversed = new Comparison(judge.measured(0), scoresReversed);
    this.#shuffled = new Comparison(judge.measured(0), scoresShuffled(seed));
    const again = isDeterministic(judge) ? 0 : replicates;
    this.#replicates = Array.from(
      { length: again },
      (_, position) => new Comparison(judge.measured(position + 1), scoresJointly),
    );
  }

  async check(request: ScoreRequest): Promise<CriteriaRow> {
    const recipe = await resolveRecipe(request.recipe);
    if (!recipe.ok) return { kind: 'refused', problems: recipe.error.map(lineProblem) };
    const { recipe: named } = recipe.value;
    if (named.family !== refiner.name) return { kind: 'refused', problems: [ONLY_REFINERS] };
    const words = this.#template === null ? {} : { template: this.#template };
    const asked = { ...named, ...words, judging: 'joint' as const };
    const planned = planRefiner(requestedRollout(request), asked, { measureAll: true });
    if (!planned.ok) return { kind: 'refused', problems: planned.error.map(lineProblem) };
    const { rubric } = planned.value;
    if (typeof rubric === 'string') return { kind: 'without_answer' };
    const [whole] = rubric;
    if (whole === undefined) throw new Error('CriteriaCheck: the joint plan has no request');
    const { judge_options: options } = named;
    const { asking } = whole.request;
    const put = options === undefined ? whole.request : { ...whole.request, asking: { ...options, ...asking } };
    return this.#judge(put, planned.value);
  }

  async #judge(whole: RubricRequest, plan: RefinerPlan): Promise<CriteriaRow> {
    const criteria = whole.criteria.length;
    // A single criterion gives the same request jointly, one by one and reversed, so only the repetitions are compared.
    const batched = this.#batched === null ? [] : [this.#batched];
    const split = criteria < 2 ? [] : [this.#perCriterion, ...batched, this.#reversed, this.#shuffled];
    const comparisons = [...split, ...this.#replicates];
    const fitted = this.#joint.fit(whole, citedBy(plan));
    if (!fitted.ok) {
      this.#joint.fail(fitted.failure.reason);
      for (const comparison of comparisons) comparison.addMissing(criteria);
      return { kind: 'judged', cut: false, anyVerdict: false };
    }
    const { request, cuts } = fitted;
    if (request.kind !== 'rubric') throw new Error('CriteriaCheck: fitting changed the kind of a request');
    const joint = await scoresJointly(this.#joint, request);
    let verdicts = joint.size;
    // The comparisons run one after the other, because a row has one call in progress.
    const kinds = plan.criteria.map(kindOfCriterion);
    for (const comparison of comparisons) {
      verdicts += await comparison.judge(request, joint, (position, isSame) => {
        const kind = kinds[position];
        if (comparison === this.#shuffled && kind !== undefined) this.#flips.add(plan.question, kind, !isSame);
      });
    }
    return { kind: 'judged', cut: cuts.length > 0, anyVerdict: verdicts > 0 };
  }

  get report(): CriteriaReport {
    return {
      joint: this.#joint.report,
      per_criterion: this.#perCriterion.report,
      batched: this.#batched?.report ?? null,
      reversed: this.#reversed.report,
      shuffled: { ...this.#shuffled.report, flips: this.#flips.figures(this.#seed) },
      replicates: this.#replicates.map(({ report }) => report),
    };
  }
}

function citedBy({ parsed }: RefinerPlan): ReadonlySet<number> {
  return new Set(parsed.claims.flatMap(({ ids }) => ids.flatMap(({ source }) => (source === null ? [] : [source]))));
}

function kindOfCriterion({ origin, polarity }: RefinerPlan['criteria'][number]): CriterionKind {
  return origin === 'static' ? 'static' : polarity;
}

/** The score of each criterion by the criterion's index. A criterion without a verdict has no entry. */
type Scores = ReadonlyMap<number, CriterionScore>;

/** A way of judging the criteria of one rollout, with the same question, answer and sources. */
type JudgingMethod = (judge: MeasuredJudge, request: RubricRequest) => Promise<Scores>;

/** All criteria in one call, in their order. */
async function scoresJointly(judge: MeasuredJudge, request: RubricRequest): Promise<Scores> {
  const verdicts = await judge.ask(request);
  if (verdicts === null || verdicts.kind !== 'rubric') return new Map();
  return new Map(verdicts.criteria.map(({ score }, position) => [position, score]));
}

/** One call for each criterion. */
export async function scoresOneByOne(judge: MeasuredJudge, request: RubricRequest): Promise<Scores> {
  const scores = new Map<number, CriterionScore>();
  for (const [position, call] of rubricCalls(request, { judging: 'per_criterion' }).entries()) {
    for (const score of (await scoresJointly(judge, call.request)).values()) scores.set(position, score);
  }
  return scores;
}

/** Calls of `size` criteria, in the order of the row. */
function scoresInBatches(size: number): JudgingMethod {
  return async (judge, request) => {
    const scores = new Map<number, CriterionScore>();
    for (const call of rubricCalls(request, { judging: 'batched', batch: { size } })) {
      for (const [n, score] of await scoresJointly(judge, call.request)) scores.set(call.positions[n] ?? -1, score);
    }
    return scores;
  };
}

/** All criteria in one call, in reversed order. */
export async function scoresReversed(judge: MeasuredJudge, request: RubricRequest): Promise<Scores> {
  return scoresInOrder(judge, request, [...request.criteria.keys()].reverse());
}

/** All criteria in one call, in a random order that the seed and the answer decide, whatever row comes first. */
export function scoresShuffled(seed: number): JudgingMethod {
  return (judge, request) => {
    const { question, answer, criteria } = request;
    const digest = createHash('sha256')
      .update(JSON.stringify([seed, question, answer]))
      .digest();
    return scoresInOrder(judge, request, shuffledOrder(criteria.length, digest.readInt32LE()));
  };
}

/** @param order the index of each criterion, in the order in which the call asks about them. */
async function scoresInOrder(judge: MeasuredJudge, request: RubricRequest, order: readonly number[]): Promise<Scores> {
  const criteria = order.flatMap((from) => request.criteria[from] ?? []);
  const scores = await scoresJointly(judge, { ...request, criteria });
  return new Map([...scores].map(([position, score]) => [order[position] ?? -1, score]));
}
