/**
 * Named pseudo-random draws: a value depends only on the seed and its labels, not on the order of calls. So one sample
 * of one step can be generated alone, and a new draw changes no other.
 */
import { createHash } from 'node:crypto';

export type Label = string | number;

export type Draws = {
  /** A number in [0, 1). */
  share(...labels: readonly Label[]): number;
  /** An integer from `least` to `most`, inclusive. */
  integer(least: number, most: number, ...labels: readonly Label[]): number;
  /** One of the values. @throws RangeError if the list is empty. */
  pick<T>(values: readonly T[], ...labels: readonly Label[]): T;
  /** Draws with these labels as a prefix. */
  of(...labels: readonly Label[]): Draws;
};

export function createDraws(...seed: readonly Label[]): Draws {
  const share = (...labels: readonly Label[]): number =>
    createHash('sha256')
      .update(JSON.stringify([...seed, ...labels]))
      .digest()
      .readUInt32BE() /
    2 ** 32;
  return {
    share,
    integer: (least, most, ...labels) => least + Math.floor(share(...labels) * (most - least + 1)),
    pick(values, ...labels) {
      const picked = values[Math.floor(share(...labels) * values.length)];
      if (picked === undefined) throw new RangeError('pick: no values');
      return picked;
    },
    of: (...labels) => createDraws(...seed, ...labels),
  };
}
