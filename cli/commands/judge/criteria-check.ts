/**
 * One rollout, its criteria judged in several ways: jointly as a deployment does, jointly in reversed order, one by one,
 * and jointly again. Each way gets the same sources: the request is fitted to the judge once, as a whole.
 */
/** Ways of having the criteria of one rollout judged. All put the same question, answer and sources. */

import { planRefiner, type RefinerPlan } from '../../../src/families/refiner/plan.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { pathText } from '../../../src/input-problem.ts';
import { type AgreementTable, PairCounter } from '../../../src/judgments/rater-agreement.ts';
import type { CriterionScore, RubricRequest } from '../../../src/judgments/types.ts';
import { requestedRollout, type ScoreRequest } from '../../../src/wire/score.ts';
import type { LineProblem } from '../../shared/rows.ts';
import { type CheckedJudge, isDeterministic } from './judges.ts';
import type { JudgingReport, MeasuredJudge } from './measured-judge.ts';

type CriteriaRow =
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[] }
  /** There is no answer, so nothing is judged. */
  | { readonly kind: 'without_answer' }
  | { readonly kind: 'judged'; readonly cut: boolean; readonly anyVerdict: boolean };

/** One way of judging beside the joint one: what it said against that. */
export type ComparisonReport = {
  readonly verdicts: { readonly asked: number; readonly compared: number };
  /** Rows: scores 0, 1, 2 as judged jointly in the given order; columns: this way. */
  readonly table: AgreementTable;
  readonly lane: JudgingReport;
};

export type CriteriaReport = {
  /** All criteria in one call, in the order of the row: what the others are compared with. */
  readonly joint: JudgingReport;
  readonly per_criterion: ComparisonReport;
  readonly reversed: ComparisonReport;
  /** Empty for a deterministic judge. */
  readonly replicates: readonly ComparisonReport[];
};

const SCORES = 3;

/** A way of judging and its verdicts against the joint ones. */
class Comparison {
  readonly #lane: MeasuredJudge;
  readonly #way: JudgingMethod;
  readonly #pairs = new PairCounter(SCORES);
  #asked = 0;
  #compared = 0;

  constructor(lane: MeasuredJudge, way: JudgingMethod) {
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
  readonly #joint: MeasuredJudge;
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

/** Scores by the criterion's own key; a criterion without a verdict is not in it. */
type Scores = ReadonlyMap<string, CriterionScore>;

type JudgingMethod = (lane: MeasuredJudge, request: RubricRequest) => Promise<Scores>;

/** All criteria in one call, as they stand. */
async function scoresJointly(lane: MeasuredJudge, request: RubricRequest): Promise<Scores> {
  const verdicts = await lane.ask(request);
  if (verdicts === null || verdicts.kind !== 'rubric') return new Map();
  return new Map(verdicts.criteria.map(({ key, score }) => [key, score]));
}

/** One call a criterion. */
export async function scoresOneByOne(lane: MeasuredJudge, request: RubricRequest): Promise<Scores> {
  const scores = new Map<string, CriterionScore>();
  for (const one of separateRequests(request)) {
    for (const [key, score] of await scoresJointly(lane, one)) scores.set(key, score);
  }
  return scores;
}

/** All criteria in one call, last first. */
export async function scoresReversed(lane: MeasuredJudge, request: RubricRequest): Promise<Scores> {
  const { reversed, keyOf } = reversedRequest(request);
  const scores = new Map<string, CriterionScore>();
  for (const [shown, score] of await scoresJointly(lane, reversed)) {
    const key = keyOf.get(shown);
    if (key === undefined) throw new Error(`scoresReversed: a verdict on ${shown}, which was not asked for`);
    scores.set(key, score);
  }
  return scores;
}

/** As `judging: "per_criterion"` asks (src/rewards/plan.ts). */
export function separateRequests(request: RubricRequest): RubricRequest[] {
  return request.criteria.map((criterion) => ({ ...request, criteria: [criterion] }));
}

/** The criteria in reversed order under the keys that their new places have; `keyOf` leads from those to their own. */
export function reversedRequest(request: RubricRequest): {
  readonly reversed: RubricRequest;
  readonly keyOf: ReadonlyMap<string, string>;
} {
  const keyOf = new Map<string, string>();
  const criteria = request.criteria.toReversed().map((criterion, position) => {
    const shown = request.criteria[position]?.key;
    if (shown === undefined) throw new Error('reversedRequest: fewer keys than criteria');
    keyOf.set(shown, criterion.key);
    return { ...criterion, key: shown };
  });
  return { reversed: { ...request, criteria }, keyOf };
}
