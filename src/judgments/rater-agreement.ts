/**
 * How far two raters agree, from a table of counts: a row is what the first said (or the truth), a column what the second
 * said, categories in their order. Pure. What is not defined (no pair, no variance) is `null`, never a number.
 */

/** Square; counts are integers >= 0. */
export type AgreementTable = readonly (readonly number[])[];

/** Counts pairs of categories 0 … size-1 while they come. */
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
 * (1960) 37-46), at most 1; 0 = as by chance, below = worse. Every miss weighs alike:
 *
 *     kappa = (p_o - p_e) / (1 - p_e),   p_o the share of equal pairs, p_e = sum(row total * column total) / n^2
 *
 * `null` without pairs, and where chance cannot disagree: both said one and the same category throughout.
 */
export function cohenKappa(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  const columns = table.map((_, column) => sum(table.map((row) => row[column] ?? 0)));
  const same = sum(table.map((row, position) => row[position] ?? 0));
  // In counts, so that full agreement is 1 and not nearly so.
  const byChance = sum(table.map((row, position) => sum(row) * (columns[position] ?? 0)));
  const room = pairs * pairs - byChance;
  return room === 0 ? null : (pairs * same - byChance) / room;
}

/**
 * Cohen's kappa with quadratic weights (Cohen, Psychological Bulletin 70 (1968) 213-220), at most 1; 0 = as by chance,
 * below = worse:
 *
 *     kappa = 1 - sum(w * o) / sum(w * e),   w = ((i - j) / (k - 1))^2,   e = row total * column total / n
 *
 * A miss by two categories weighs four times one by one. With two categories it is Cohen's (1960) unweighted kappa.
 * `null` without pairs, and where chance cannot disagree: both said one and the same category throughout.
 */
export function weightedKappa(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  const rows = table.map(sum);
  const columns = table.map((_, column) => sum(table.map((row) => row[column] ?? 0)));
  let observed = 0;
  let expected = 0;
  for (const [i, row] of table.entries()) {
    for (const [j, count] of row.entries()) {
      // 1 / (k - 1)^2 stands in both sums and is left out.
      const weight = (i - j) ** 2;
      observed += weight * count;
      expected += weight * (rows[i] ?? 0) * (columns[j] ?? 0);
    }
  }
  return expected === 0 ? null : 1 - (observed * pairs) / expected;
}

/** Mean of second minus first, in categories, -(k-1) to k-1: how much higher the second rates; `null` without pairs. */
export function meanDifference(table: AgreementTable): number | null {
  const pairs = pairsIn(table);
  if (pairs === 0) return null;
  return sum(table.map((row, i) => sum(row.map((count, j) => (j - i) * count)))) / pairs;
}

/**
 * Mean over the first's categories of the share that the second gets right (macro-averaged recall), 0 to 1; 1/k is blind
 * guessing. Categories that do not occur are left out; `null` if fewer than two occur, as there is nothing to tell apart.
 */
export function balancedAccuracy(table: AgreementTable): number | null {
  const recalls = table.flatMap((row, position) => {
    const total = sum(row);
    return total === 0 ? [] : [(row[position] ?? 0) / total];
  });
  return recalls.length < 2 ? null : sum(recalls) / recalls.length;
}

/** The table of two categories: below `from`, and from `from` on. */
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

/** Cell by cell. @throws RangeError for tables of different sizes. */
export function addedTables(first: AgreementTable, second: AgreementTable): AgreementTable {
  if (first.length !== second.length) throw new RangeError('addedTables: tables of different sizes');
  return first.map((row, i) => row.map((count, j) => count + (second[i]?.[j] ?? 0)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
