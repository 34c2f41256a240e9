/**
 * One rollout, its criteria judged in several ways: jointly as a deployment does, jointly in reversed order, one by one,
 * and jointly again. Each way gets the same sources: the request is fitted to the judge once, as a whole.
 */

import { planRefiner, type RefinerPlan } from '../../src/families/refiner/plan.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { pathText } from '../../src/input-problem.ts';
import { type AgreementTable, PairCounter } from '../../src/judgments/rater-agreement.ts';
import type { RubricRequest } from '../../src/judgments/types.ts';
import { requestedRollout, type ScoreRequest } from '../../src/wire/score.ts';
import type { LineProblem } from '../input/rows.ts';
import { type CheckedJudge, isDeterministic } from './checked-judge.ts';
import type { Lane, LaneReport } from './lane.ts';
import { type Scores, scoresJointly, scoresOneByOne, scoresReversed, type Way } from './ways.ts';

export type CriteriaRow =
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[] }
  /** There is no answer, so nothing is judged. */
  | { readonly kind: 'without_answer' }
  | { readonly kind: 'judged'; readonly cut: boolean; readonly anyVerdict: boolean };

/** One way of judging beside the joint one: what it said against that. */
export type ComparisonReport = {
  readonly verdicts: { readonly asked: number; readonly compared: number };
  /** Rows: scores 0, 1, 2 as judged jointly in the given order; columns: this way. */
  readonly table: AgreementTable;
  readonly lane: LaneReport;
};

export type CriteriaReport = {
  /** All criteria in one call, in the order of the row: what the others are compared with. */
  readonly joint: LaneReport;
  readonly per_criterion: ComparisonReport;
  readonly reversed: ComparisonReport;
  /** Empty for a deterministic judge. */
  readonly replicates: readonly ComparisonReport[];
};

const SCORES = 3;

/** A way of judging and its verdicts against the joint ones. */
class Comparison {
  readonly #lane: Lane;
  readonly #way: Way;
  readonly #pairs = new PairCounter(SCORES);
  #asked = 0;
  #compared = 0;

  constructor(lane: Lane, way: Way) {
    this.#lane = lane;
    this.#way = way;
  }

  /** Judges the request this way. @returns how many verdicts there are. */
  async judge(request: RubricRequest, joint: Scores): Promise<number> {
    const other = await this.#way(this.#lane, request);
    this.#asked += request.criteria.length;
    for (const [key, second] of other) {
      const first = joint.get(key);
      if (first === undefined) continue;
      this.#pairs.add(first, second);
      this.#compared++;
    }
    return other.size;
  }

  /** Verdicts that cannot be compared, as the joint request could not be put. */
  leaveOut(verdicts: number): void {
    this.#asked += verdicts;
  }

  get report(): ComparisonReport {
    const verdicts = { asked: this.#asked, compared: this.#compared };
    return { verdicts, table: this.#pairs.table, lane: this.#lane.report };
  }
}

const ONLY_REFINERS = { field: 'recipe', message: 'expected a recipe of the refiner family' };

export class CriteriaCheck {
  readonly #joint: Lane;
  readonly #perCriterion: Comparison;
  readonly #reversed: Comparison;
  readonly #replicates: readonly Comparison[];

  /** @param replicates how often the joint request is put again; a deterministic judge is not asked again. */
  constructor(judge: CheckedJudge, replicates: number) {
    this.#joint = judge.lane(0);
    this.#perCriterion = new Comparison(judge.lane(0), scoresOneByOne);
    this.#reversed = new Comparison(judge.lane(0), scoresReversed);
    const again = isDeterministic(judge) ? 0 : replicates;
    this.#replicates = Array.from(
      { length: again },
      (_, position) => new Comparison(judge.lane(position + 1), scoresJointly),
    );
  }

  async check(request: ScoreRequest): Promise<CriteriaRow> {
    const recipe = await resolveRecipe(request.recipe);
    if (!recipe.ok) return { kind: 'refused', problems: recipe.problems.map(lineProblem) };
    const { recipe: named } = recipe.resolved;
    if (named.family !== 'refiner') return { kind: 'refused', problems: [ONLY_REFINERS] };
    const planned = planRefiner(requestedRollout(request), { ...named, judging: 'joint' }, { measureAll: true });
    if (!planned.ok) return { kind: 'refused', problems: planned.problems.map(lineProblem) };
    const { rubric } = planned.plan;
    if (typeof rubric === 'string') return { kind: 'without_answer' };
    const [whole] = rubric;
    if (whole === undefined) throw new Error('CriteriaCheck: a joint plan without its request');
    return this.#judge(whole, citedBy(planned.plan));
  }

  async #judge(whole: RubricRequest, cited: ReadonlySet<number>): Promise<CriteriaRow> {
    const criteria = whole.criteria.length;
    // One criterion alone is judged jointly and in reversed order as it is.
    const ways = criteria < 2 ? this.#replicates : [this.#perCriterion, this.#reversed, ...this.#replicates];
    const fitted = this.#joint.fit(whole, cited);
    if (!fitted.ok) {
      this.#joint.fail(fitted.failure.reason);
      for (const way of ways) way.leaveOut(criteria);
      return { kind: 'judged', cut: false, anyVerdict: false };
    }
    const { request, cuts } = fitted;
    if (request.kind !== 'rubric') throw new Error('CriteriaCheck: fitting changed the kind of a request');
    const joint = await scoresJointly(this.#joint, request);
    let verdicts = joint.size;
    // One call after the other: a row has one under way.
    for (const way of ways) verdicts += await way.judge(request, joint);
    return { kind: 'judged', cut: cuts.length > 0, anyVerdict: verdicts > 0 };
  }

  get report(): CriteriaReport {
    return {
      joint: this.#joint.report,
      per_criterion: this.#perCriterion.report,
      reversed: this.#reversed.report,
      replicates: this.#replicates.map(({ report }) => report),
    };
  }
}

function citedBy({ parsed }: RefinerPlan): ReadonlySet<number> {
  return new Set(parsed.claims.flatMap(({ ids }) => ids.flatMap(({ source }) => (source === null ? [] : [source]))));
}

function lineProblem({ path, message }: { readonly path: readonly (string | number)[]; readonly message: string }) {
  return { field: path.length === 0 ? null : pathText(path), message };
}
