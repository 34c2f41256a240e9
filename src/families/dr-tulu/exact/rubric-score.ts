/**
 * The rubric score of rlresearch/dr-tulu 6188f34c (`longform_rubric_rewards.py`): lists the criteria to judge, then
 * computes the totals from their scores.
 */
import { md5 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type Rubric = { readonly description: string; readonly weight: number; readonly title?: string };

const KEY_HEX_DIGITS = 12;

/**
 * The first 12 hex digits of the MD5 of `question||description||title` in UTF-8, without the weight. An identifier, not
 * a security measure; the reference uses MD5. Source: rlresearch/dr-tulu 6188f34c, `rubric_utils.py`.
 */
export function rubricKey(question: string, rubric: Pick<Rubric, 'description' | 'title'>): string {
  const named = `${question}||${rubric.description}||${rubric.title ?? ''}`;
  return bytesToHex(md5(new TextEncoder().encode(named))).slice(0, KEY_HEX_DIGITS);
}

/**
 * `rubrics`: one question for each rubric, 0 to 2. `general`: one criterion for the whole answer instead, 0 to 2.
 * `likert`: one overall rating instead, 1 to 10.
 */
export type RubricVariant = 'rubrics' | 'general' | 'likert';

export type RubricSet = {
  /** The question of the row. */
  readonly query: string;
  readonly rubrics: readonly Rubric[];
  /** One type for each rubric: `persistent` (default) or `adaptive`. Rubrics of another type are in neither total. */
  readonly types?: readonly string[];
};

export type ExactCriterion = {
  /** A rubric's description, or `general_rubric` or `likert_rubric`. */
  readonly criterion: string;
  readonly key: string;
  readonly weight: number;
  readonly type: string;
  /** Best score on the judge's scale. */
  readonly top: number;
};

const PERSISTENT = 'persistent';
const ADAPTIVE = 'adaptive';
const TOP_SCORE = 2;
const TOP_RATING = 10;

/**
 * The criteria to judge, in order. A rubric that is listed twice is judged twice.
 * @throws RangeError if `types` is given and has another length than the rubrics.
 */
export function rubricCriteria(set: RubricSet, variant: RubricVariant): readonly ExactCriterion[] {
  switch (variant) {
    case 'general':
      return [wholeAnswer('general_rubric', TOP_SCORE)];
    case 'likert':
      return [wholeAnswer('likert_rubric', TOP_RATING)];
    case 'rubrics': {
      const { types } = set;
      if (types !== undefined && types.length !== set.rubrics.length) {
        throw new RangeError('rubricCriteria: one type a rubric');
      }
      return set.rubrics.map((rubric, n) => ({
        criterion: rubric.description,
        key: rubricKey(set.query, rubric),
        weight: rubric.weight,
        type: types?.[n] ?? PERSISTENT,
        top: TOP_SCORE,
      }));
    }
  }
}

function wholeAnswer(name: string, top: number): ExactCriterion {
  return { criterion: name, key: name, weight: 1, type: PERSISTENT, top };
}

/** The totals of a rubric set; the field names are those of rlresearch/dr-tulu. */
type ExactRubricScore = {
  /**
   * Score by rubric key: sum(s * w) / max(sum of w, 1), negative weights subtracted. A rubric that is met has 0.5 at
   * weight 0.5, and 1 at weight 2.
   */
  readonly scores_by_key: Readonly<Record<string, number>>;
  /** The same values as `scores_by_key`, each in a list. */
  readonly per_rubric_rewards: Readonly<Record<string, readonly number[]>>;
  /** Total over all rubrics, unclamped: below 0 if negative rubrics are met. */
  readonly overall: number;
  readonly persistent: number;
  readonly adaptive: number;
};

/**
 * `overall` = sum(s * w) / max(sum of positive w, 1), s = score / top; `persistent` and `adaptive` the same over their
 * rubrics, as well as each key, but divided by max(plain sum of w, 1).
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - scores outside the judge's scale are not clamped;
 * - the partial totals subtract negative weights from the divisor, unlike the overall one, and can exceed 1.
 * @param scores on the judge's scale, one for each criterion, in order; `null` = the judge failed.
 * @returns the totals; `null` if a score is.
 * @throws RangeError if scores are missing or a result is not finite.
 */
export function rubricScore(
  criteria: readonly ExactCriterion[],
  scores: readonly (number | null)[],
): ExactRubricScore | null {
  if (scores.length !== criteria.length) throw new RangeError('rubricScore: one score a criterion');
  const byKey = new Map<string, Total>();
  const overall = new Total();
  const persistent = new Total();
  const adaptive = new Total();
  for (let n = 0; n < criteria.length; n++) {
    const criterion = criteria[n];
    const score = scores[n];
    if (criterion === undefined || score === undefined || score === null) return null;
    const earned = (score / criterion.top) * criterion.weight;
    let sameKey = byKey.get(criterion.key);
    if (sameKey === undefined) {
      sameKey = new Total();
      byKey.set(criterion.key, sameKey);
    }
    sameKey.add(earned, criterion.weight);
    overall.add(earned, Math.max(criterion.weight, 0));
    if (criterion.type === PERSISTENT) persistent.add(earned, criterion.weight);
    if (criterion.type === ADAPTIVE) adaptive.add(earned, criterion.weight);
  }
  const shares = [...byKey].map(([key, total]) => [key, total.share()] as const);
  return {
    scores_by_key: Object.fromEntries(shares),
    per_rubric_rewards: Object.fromEntries(shares.map(([key, share]) => [key, [share]])),
    overall: overall.share(),
    persistent: persistent.share(),
    adaptive: adaptive.share(),
  };
}

/** sum of earned / max(sum of divisors, 1). */
class Total {
  #earned = 0;
  #divisor = 0;

  add(earned: number, divisor: number): void {
    this.#earned += earned;
    this.#divisor += divisor;
  }

  share(): number {
    const share = this.#earned / Math.max(this.#divisor, 1);
    if (!Number.isFinite(share) || !Number.isFinite(this.#divisor))
      throw new RangeError('rubricScore: a non-finite score or weight');
    return share;
  }
}
