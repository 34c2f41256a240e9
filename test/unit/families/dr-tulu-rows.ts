/** The golden rows of dr-tulu, for the tests of both modes. */
import type { Rubric, RubricSet, RubricVariant } from '../../../src/families/dr-tulu/exact/rubric-score.ts';
import { PAYMENT, PAYMENT_WITHOUT_CITATION, type Payment } from '../../../src/families/dr-tulu/terms/final-reward.ts';
import { GOLDEN_TOLERANCE, type GoldenRow } from '../golden.ts';

export type CitationReply = { kind: string; claim: string; reply: string | null };
export type CriterionReply = { criterion: string; reply: string | null };
export type GroundTruth = { query: string; rubrics: Rubric[]; rubrics_types?: string[] };

export function rubricSetOf(input: GoldenRow['input']): RubricSet {
  const { query, rubrics, rubrics_types: types } = input['ground_truth'] as GroundTruth;
  return types === undefined ? { query, rubrics } : { query, rubrics, types };
}

export function variantOf(input: GoldenRow['input']): RubricVariant {
  if (input['use_general_rubric'] === true) return 'general';
  return input['use_likert_rubric'] === true ? 'likert' : 'rubrics';
}

export function paymentOf(input: GoldenRow['input']): Payment {
  return input['no_citation_reward'] === true ? PAYMENT_WITHOUT_CITATION : PAYMENT;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`expected text, got ${typeof value}`);
  return value;
}

/** Text, or `null` for Python's `None` and for an argument that is not given. */
export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : text(value);
}

/** Equal: numbers within the tolerance, objects without regard to the order of keys. */
export function agrees(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'number' && typeof expected === 'number') {
    return Math.abs(actual - expected) <= GOLDEN_TOLERANCE;
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.length === expected.length && actual.every((item, n) => agrees(item, expected[n]));
  }
  if (typeof actual === 'object' && typeof expected === 'object' && actual !== null && expected !== null) {
    const [left, right] = [new Map(Object.entries(actual)), new Map(Object.entries(expected))];
    return (
      left.size === right.size && [...left].every(([name, value]) => right.has(name) && agrees(value, right.get(name)))
    );
  }
  return actual === expected;
}
