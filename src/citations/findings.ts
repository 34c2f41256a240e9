/** Collects findings: lists up to MAX_FINDINGS of them and counts all. */
import { MAX_FINDINGS } from '../limits.ts';
import { FINDING_REASONS, type Finding, type FindingCounts, type FindingReason } from './types.ts';

/** Receives findings as they are made. */
export type FindingSink = { add(finding: Finding): void };

/** A list of at most MAX_FINDINGS findings, with exact counts. */
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

/** Adds up counts. The result has the order of FINDING_REASONS, so that equal counts give equal JSON. */
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
