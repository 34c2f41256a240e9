/** Collects findings: each one listed up to a limit, all of them counted. */
import { MAX_FINDINGS } from '../limits.ts';
import { FINDING_REASONS, type Finding, type FindingCounts, type FindingReason } from './types.ts';

/** Where findings go as they are found. */
export type FindingSink = { add(finding: Finding): void };

export class FindingList implements FindingSink {
  readonly list: Finding[] = [];
  readonly #counts: Partial<Record<FindingReason, number>> = {};

  add(finding: Finding): void {
    this.#counts[finding.reason] = this.count(finding.reason) + 1;
    if (this.list.length < MAX_FINDINGS) this.list.push(finding);
  }

  count(reason: FindingReason): number {
    const counted = this.#counts[reason];
    return counted === undefined ? 0 : counted;
  }

  get counts(): FindingCounts {
    return this.#counts;
  }
}

/** Sums counts of several lists, in the order of the reasons, so that equal findings give equal JSON. */
export function sumCounts(all: readonly FindingCounts[]): FindingCounts {
  const sum: Partial<Record<FindingReason, number>> = {};
  if (all.every((counts) => Object.keys(counts).length === 0)) return sum;
  for (const reason of FINDING_REASONS) {
    let total = 0;
    for (const counts of all) {
      const counted = counts[reason];
      if (counted !== undefined) total += counted;
    }
    if (total > 0) sum[reason] = total;
  }
  return sum;
}
