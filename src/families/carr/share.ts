/** The share of criteria that count, known or within bounds. Pure; only + - * /. */
import type { VoteRange } from '../../family/family.ts';
import { connectedCriteria } from './exact/connection.ts';
import type { CarrFacts } from './facts.ts';

/** For each criterion, whether all its labels are named. A criterion without labels is filled. */
export function filledCriteria(criteria: CarrFacts['criteria'], named: readonly string[]): boolean[] {
  const names = new Set(named);
  return criteria.map((labels) => labels.every((label) => names.has(label)));
}

/** For each criterion, whether it counts. @param connected as the recipe's field. */
export function countingCriteria(
  criteria: CarrFacts['criteria'],
  supported: readonly boolean[],
  connected: boolean,
): readonly boolean[] {
  return connected ? connectedCriteria(criteria, supported) : supported;
}

function shareOf(criteria: CarrFacts['criteria'], supported: readonly boolean[], connected: boolean): number {
  if (criteria.length === 0) return 0;
  return countingCriteria(criteria, supported, connected).filter((one) => one).length / criteria.length;
}

type Parts = Pick<CarrFacts, 'criteria' | 'pages' | 'named' | 'supported'>;

/**
 * The range of the share of criteria that count, [0, 1]; both ends are equal if it is known. Lost verdicts can be
 * anything: at most every filled criterion is supported. Without a cited page nothing is.
 */
export function shareRange({ criteria, pages, named, supported }: Parts, connected: boolean): VoteRange {
  if (supported.status === 'scored') {
    const share = shareOf(criteria, supported.observed, connected);
    return { least: share, most: share };
  }
  if (pages === 0) return { least: 0, most: 0 };
  const filled = named.status === 'scored' ? filledCriteria(criteria, named.observed) : criteria.map(() => true);
  return { least: 0, most: shareOf(criteria, filled, connected) };
}
