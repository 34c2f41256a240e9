/** Reads a multi grader's formula as a weighted sum of its graders, which a rubric can express. */
import type { Result } from '../../../result.ts';
import { type Formula, formulaValue, variablesOf } from './formula.ts';

/** `constant + sum(weight * score)`; a grader that the formula does not name is absent. */
export type WeightedSum = { readonly constant: number; readonly weights: ReadonlyMap<string, number> };

/** The formula as a weighted sum, or what in it is none. */
export function weightedSum(formula: Formula): Result<WeightedSum, string> {
  switch (formula.kind) {
    case 'variable':
      return { ok: true, value: { constant: 0, weights: new Map([[formula.name, 1]]) } };
    case 'number':
    case 'call':
      return constantOf(formula, formula.kind === 'call' ? `${formula.name}()` : 'a number');
    case 'operation':
      return ofOperation(formula);
  }
}

function ofOperation(formula: Extract<Formula, { kind: 'operation' }>): Result<WeightedSum, string> {
  const { operator } = formula;
  if (operator === '^') return constantOf(formula, 'a power');
  const left = weightedSum(formula.left);
  const right = weightedSum(formula.right);
  if (!left.ok) return left;
  if (!right.ok) return right;
  const [one, other] = [left.value, right.value];
  switch (operator) {
    case '+':
      return { ok: true, value: added(one, other) };
    case '-':
      return { ok: true, value: added(one, scaled(other, -1)) };
    case '*':
      if (other.weights.size === 0) return { ok: true, value: scaled(one, other.constant) };
      if (one.weights.size === 0) return { ok: true, value: scaled(other, one.constant) };
      return { ok: false, error: 'a product of graders is no weighted sum of them' };
    case '/':
      if (other.weights.size > 0) return { ok: false, error: 'a division by a grader is no weighted sum' };
      if (other.constant === 0) return { ok: false, error: 'it divides by 0' };
      return { ok: true, value: scaled(one, 1 / other.constant) };
  }
}

function constantOf(formula: Formula, what: string): Result<WeightedSum, string> {
  if (variablesOf(formula).length > 0) return { ok: false, error: `${what} of graders is no weighted sum of them` };
  const constant = formulaValue(formula, new Map());
  if (constant === null) return { ok: false, error: `${what} in it is not finite` };
  return { ok: true, value: { constant, weights: new Map() } };
}

function added(one: WeightedSum, other: WeightedSum): WeightedSum {
  const weights = new Map(one.weights);
  for (const [name, weight] of other.weights) weights.set(name, (weights.get(name) ?? 0) + weight);
  return { constant: one.constant + other.constant, weights };
}

function scaled({ constant, weights }: WeightedSum, factor: number): WeightedSum {
  return { constant: constant * factor, weights: new Map([...weights].map(([name, one]) => [name, one * factor])) };
}
