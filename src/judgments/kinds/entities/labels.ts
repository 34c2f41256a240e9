/**
 * Labels of criteria: `<E0>` stands for the answer, `<E1>`, `<E2>`, … for the entities on the way to it. A criterion is
 * a statement about one or more of them. Digits are ASCII.
 */

/** The label of the answer. */
export const ANSWER_LABEL = 'E0';

const LABEL = /<(E[0-9]+)>/g;

/** The labels of a criterion in order of appearance, each once. */
export function labelsOf(criterion: string): string[] {
  return [...new Set(Array.from(criterion.matchAll(LABEL), ([, label = '']) => label))];
}

/** The labels of all criteria, each once, sorted by number. */
export function labelsOfAll(criteria: readonly string[]): string[] {
  const labels = [...new Set(criteria.flatMap(labelsOf))];
  return labels.sort((a, b) => compareDigits(a.slice(1), b.slice(1)) || (a < b ? -1 : 1));
}

/** Compares two numbers of any length by their ASCII digits. */
export function compareDigits(a: string, b: string): number {
  const [left, right] = [withoutZeros(a), withoutZeros(b)];
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : Number(left > right);
}

function withoutZeros(digits: string): string {
  let start = 0;
  while (start < digits.length - 1 && digits.charAt(start) === '0') start++;
  return digits.slice(start);
}

/** Replaces every label that has a name, in one pass; other labels stay. */
export function fill(criterion: string, names: ReadonlyMap<string, string>): string {
  return criterion.replace(LABEL, (written, label: string) => names.get(label) ?? written);
}

/** The words of a criterion that are no labels. */
export function withoutLabels(criterion: string): string {
  return criterion.replace(LABEL, ' ');
}
