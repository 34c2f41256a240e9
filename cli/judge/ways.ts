/** Ways of having the criteria of one rollout judged. All put the same question, answer and sources. */
import type { CriterionScore, RubricRequest } from '../../src/judgments/types.ts';
import type { Lane } from './lane.ts';

/** Scores by the criterion's own key; a criterion without a verdict is not in it. */
export type Scores = ReadonlyMap<string, CriterionScore>;

export type Way = (lane: Lane, request: RubricRequest) => Promise<Scores>;

/** All criteria in one call, as they stand. */
export async function scoresJointly(lane: Lane, request: RubricRequest): Promise<Scores> {
  const verdicts = await lane.ask(request);
  if (verdicts === null || verdicts.kind !== 'rubric') return new Map();
  return new Map(verdicts.criteria.map(({ key, score }) => [key, score]));
}

/** One call a criterion. */
export async function scoresOneByOne(lane: Lane, request: RubricRequest): Promise<Scores> {
  const scores = new Map<string, CriterionScore>();
  for (const one of separateRequests(request)) {
    for (const [key, score] of await scoresJointly(lane, one)) scores.set(key, score);
  }
  return scores;
}

/** All criteria in one call, last first. */
export async function scoresReversed(lane: Lane, request: RubricRequest): Promise<Scores> {
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
