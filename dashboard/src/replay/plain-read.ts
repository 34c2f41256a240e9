/**
 * Baseline for the recompute time: a loop that only reads the facts of each rollout, on the same machine and the same
 * rows.
 */

import type { Facts } from '../../../src/family/facts.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';

/** Untimed passes: cold code is slow and would make the recomputation look better. */
const WARM_PASSES = 20;
const PASSES = 9;

/** Milliseconds for one loop over all groups: the median of several passes after warm-up. */
export function plainReadMilliseconds(groups: readonly (readonly LedgerRow[])[]): number {
  const times: number[] = [];
  let sum = 0;
  for (let pass = 0; pass < WARM_PASSES + PASSES; pass++) {
    const began = performance.now();
    for (const rows of groups) for (const { facts } of rows) sum += read(facts);
    if (pass >= WARM_PASSES) times.push(performance.now() - began);
  }
  // Uses the sum, so that the optimiser cannot drop the loop.
  if (Number.isNaN(sum)) throw new RangeError('plainReadMilliseconds: a fact is not a number');
  times.sort((a, b) => a - b);
  return times[Math.floor(PASSES / 2)] ?? 0;
}

function read(facts: Facts): number {
  switch (facts.family) {
    case 'refiner': {
      let sum = facts.format.full + facts.format.answer_only + Number(facts.has_answer);
      if (facts.rubric.status === 'scored') {
        for (const { weight, score, polarity, origin } of facts.rubric.observed) {
          sum += weight * score + polarity.length + origin.length;
        }
      }
      if (facts.citation.status === 'scored') {
        for (const statement of facts.citation.observed) {
          if (!statement.cited) sum += Number(statement.needs_citation);
          else {
            sum += statement.support;
            for (const relevant of statement.relevant) sum += Number(relevant);
          }
        }
      }
      return sum;
    }
    case 'dr-tulu': {
      let sum = facts.format + facts.queries + Number(facts.has_answer);
      if (facts.rubric.status === 'scored')
        for (const { weight, score } of facts.rubric.observed) sum += weight * score;
      if (facts.citation.status === 'scored') {
        sum += facts.citation.observed.valid_id_ratio;
        for (const statement of facts.citation.observed.statements) {
          sum += statement.cited ? statement.support + statement.relevance : Number(statement.needs_citation);
        }
      }
      return sum;
    }
    case 'long-trace': {
      const { entities, chunks, outcome, well_formed } = facts;
      const found = entities === null ? 0 : entities.total + entities.content + entities.reasoning + entities.both;
      return found + (chunks ?? 0) + Number(well_formed) + (outcome.status === 'scored' ? outcome.observed : 0);
    }
    case 'tool-call': {
      const { outcome, num_turns, response_tokens } = facts;
      let sum = num_turns + response_tokens;
      if (outcome.kind === 'math') sum += Number(outcome.exact);
      else if (outcome.tests.status === 'scored') for (const test of outcome.tests.observed) sum += test.length;
      return sum;
    }
  }
}
