/** The place of a rollout in a run, and the addresses of its pages. Ids may hold any character. */
import '../styles/runs.css';
import { hrefOf, type Query, withQuery } from '../navigation/route.ts';

/** The step segment of addresses, and the step of queries, for rollouts recorded without a step. */
export const NO_STEP = 'none';

/** `step`: a number in digits, or `NO_STEP`. */
export type RolloutPlace = {
  readonly run: string;
  readonly step: string;
  readonly group: string;
  readonly sample: string;
};

/** Orders `sample 2` before `sample 10`, as people do. */
export const NATURAL = new Intl.Collator('en', { numeric: true });

export function stepText(step: number | null): string {
  return step === null ? NO_STEP : String(step);
}

/** `Step 3`, for headings and links. */
export function stepTitle(step: string): string {
  return step === NO_STEP ? 'Rollouts without a step' : `Step ${step}`;
}

const NOTHING: Query = new Map();

/** @param query settings of a replay, under which the page also shows the rollouts. */
export function stepHref(run: string, step: string, query: Query = NOTHING): string {
  return withQuery(hrefOf('runs', run, step), query);
}

/** @param query as for `stepHref`. */
export function rolloutHref({ run, step, group, sample }: RolloutPlace, query: Query = NOTHING): string {
  return withQuery(hrefOf('runs', run, step, group, sample), query);
}
