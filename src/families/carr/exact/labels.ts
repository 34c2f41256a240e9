/**
 * Labels of criteria, `<E0>` (the answer), `<E1>`, …, as the public server reads them. Source: THUDM/CaRR c97e7e89,
 * `deepsearch_rm_with_rubrics/launch_server.py`.
 */
import { compareDigits } from '../../../judgments/kinds/entities/labels.ts';

/** Python's `\d` is every decimal digit, of any script. */
const LABEL = /<(E\p{Nd}+)>/gu;

/**
 * The labels of a text, each once, sorted by number: `extract_entity_ids`. Defect kept: digits of every script are
 * digits. The reference's order of labels with equal numbers (`E1`, `E01`) depends on its hash seed; here it is that of
 * their texts.
 */
export function exactLabels(text: string): string[] {
  return [...new Set(labelsInOrder(text))].sort(
    (a, b) => compareDigits(asciiDigits(a.slice(1)), asciiDigits(b.slice(1))) || order(a, b),
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The labels of a criterion in order of appearance, each once. */
export function labelsInOrder(criterion: string): string[] {
  return [...new Set(Array.from(criterion.matchAll(LABEL), ([, label = '']) => label))];
}

const DECIMAL_DIGIT = /\p{Nd}/u;
const ZERO = 0x30;

/** Decimal digits of any script in ASCII. */
export function asciiDigits(digits: string): string {
  return Array.from(digits, digitValue).join('');
}

/** Unicode has the digits of each script in order, and each script's ten are a run of code points. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? ZERO;
  if (code >= ZERO && code < ZERO + 10) return code - ZERO;
  let first = code;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return (code - first) % 10;
}

/** One criterion with the names of its labels in place: `fill_rubric_with_entity_value`. */
export type FilledCriterion = {
  readonly filled_rubric: string;
  readonly all_filled: boolean;
  /** The values of the criterion's labels, in order of appearance. */
  readonly entity_values: Readonly<Record<string, string | null>>;
};

/** Names that contain labels can double a criterion at each label; a criterion of this length is filled no further. */
const MAX_FILLED_CHARS = 100_000;

/**
 * Replaces the labels one after another, in order of appearance. Defect kept: a value that contains a later label is
 * filled again.
 */
export function fillExactly(criterion: string, names: ReadonlyMap<string, string | null>): FilledCriterion {
  const labels = labelsInOrder(criterion);
  let filled = criterion;
  for (const label of labels) {
    const name = names.get(label) ?? null;
    if (name !== null && filled.length <= MAX_FILLED_CHARS) filled = filled.split(`<${label}>`).join(name);
  }
  return {
    filled_rubric: filled,
    all_filled: labels.every((label) => (names.get(label) ?? null) !== null),
    entity_values: Object.fromEntries(labels.map((label) => [label, names.get(label) ?? null])),
  };
}
