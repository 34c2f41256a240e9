/**
 * Agreement of two raters, computed from a table of counts: rows are the categories of the first rater (or the ground
 * truth), columns those of the second. An undefined figure (no pairs, no variance) is `null`, never a number.
 */

/** A square table of counts (integers >= 0). */
export type AgreementTable = readonly (readonly number[])[];

/** Counts pairs of categories 0 … size-1 one by one. */
export class PairCounter {
  readonly #counts: number[][];

  constructor(size: number) {
    this.#counts = Array.from({ length: size }, () => Array.from({ length: size }, () => 0));
  }

  /** @throws RangeError for a category that the table does not have. */
  add(first: number, second: number): void {
    const row = this.#counts[first];
    const count = row?.[second];
    if (row === undefined || count === undefined) throw new RangeError(`PairCounter: no cell ${first}, ${second}`);
    row[second] = count + 1;
  }

  get table(): AgreementTable {
    return this.#counts.map((row) => [...row]);
  }
}

/** The number of pairs. */
export function pairsIn(table: AgreementTable): number {
  return sum(table.map(sum));
}

/** Share of pairs in the same category, 0 to 1; `null` without pairs. */
export function exactAgreement(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  return pairs === 0 ? null : sum(table.map((row, position) => row[position] ?? 0)) / pairs;
}

/**
 * Cohen's kappa (Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
 * (1960) 37-46), at most 1; 0 = chance level, negative = worse than chance. All disagreements weigh the same:
 *
 *     kappa = (p_o - p_e) / (1 - p_e),   p_o the share of equal pairs, p_e = sum(row total * column total) / n^2
 *
 * `null` without pairs, and if both raters gave one and the same category throughout.
 */
export function cohenKappa(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  const columns = table.map((_, column) => sum(table.map((row) => row[column] ?? 0)));
  const same = sum(table.map((row, position) => row[position] ?? 0));
  // Computes with counts, so full agreement is exactly 1.
  const byChance = sum(table.map((row, position) => sum(row) * (columns[position] ?? 0)));
  const room = pairs * pairs - byChance;
  return room === 0 ? null : (pairs * same - byChance) / room;
}

/**
 * Cohen's kappa with quadratic weights (Cohen, Psychological Bulletin 70 (1968) 213-220), at most 1; 0 = chance level,
 * negative = worse than chance:
 *
 *     kappa = 1 - sum(w * o) / sum(w * e),   w = ((i - j) / (k - 1))^2,   e = row total * column total / n
 *
 * A disagreement by two categories weighs four times one by one category. With two categories it equals the unweighted
 * kappa.
 * `null` without pairs, and if both raters gave one and the same category throughout.
 */
export function weightedKappa(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  const rows = table.map(sum);
  const columns = table.map((_, column) => sum(table.map((row) => row[column] ?? 0)));
  let observed = 0;
  let expected = 0;
  for (const [i, row] of table.entries()) {
    for (const [j, count] of row.entries()) {
      // The factor 1 / (k - 1)^2 cancels and is left out.
      const weight = (i - j) ** 2;
      observed += weight * count;
      expected += weight * (rows[i] ?? 0) * (columns[j] ?? 0);
    }
  }
  return expected === 0 ? null : 1 - (observed * pairs) / expected;
}

/**
 * Gwet's AC1 (Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008) 29-48), at most 1; 0 = chance
 * level. Unlike kappa it stays high where both raters agree and nearly always give one category:
 *
 *     AC1 = (p_o - p_e) / (1 - p_e),   p_e = sum(q * (1 - q)) / (k - 1),   q = (row total + column total) / 2n
 *
 * All disagreements weigh the same. `null` without pairs, and with one category.
 */
export function gwetAc1(table: AgreementTable): number | null {
  const observed = exactAgreement(table);
  if (observed === null || table.length < 2) return null;
  const pairs = pairsIn(table);
  const shares = table.map((row, k) => (sum(row) + sum(table.map((other) => other[k] ?? 0))) / (2 * pairs));
  const byChance = sum(shares.map((share) => share * (1 - share))) / (table.length - 1);
  return (observed - byChance) / (1 - byChance);
}

/**
 * Mean of second minus first in categories, -(k-1) to k-1: how much higher the second rater is; `null` without pairs.
 */
export function meanDifference(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  if (pairs === 0) return null;
  return sum(table.map((row, i) => sum(row.map((count, j) => (j - i) * count)))) / pairs;
}

/**
 * Balanced accuracy: recall averaged over the first rater's categories, 0 to 1; guessing gives 1/k. Categories that do
 * not occur are left out; `null` if fewer than two occur.
 */
export function balancedAccuracy(table: AgreementTable): number | null {
  const recalls = table.flatMap((row, position) => {
    const total = sum(row);
    return total === 0 ? [] : [(row[position] ?? 0) / total];
  });
  return recalls.length < 2 ? null : sum(recalls) / recalls.length;
}

/** Merges the categories into two: below `from`, and `from` or above. */
export function dichotomised(table: AgreementTable, from: number): AgreementTable {
  const counts = [
    [0, 0],
    [0, 0],
  ];
  for (const [i, row] of table.entries()) {
    for (const [j, count] of row.entries()) {
      const target = counts[i >= from ? 1 : 0];
      const column = j >= from ? 1 : 0;
      if (target !== undefined) target[column] = (target[column] ?? 0) + count;
    }
  }
  return counts;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
