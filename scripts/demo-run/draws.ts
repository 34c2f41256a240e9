/**
 * Draws by name: a number that is the same for the same seed and the same labels, in whatever order it is asked for. So one
 * sample of one step can be made without making those before it, and a draw that is added changes no other.
 */
import { createHash } from 'node:crypto';

export type Label = string | number;

export type Draws = {
  /** In [0, 1). */
  share(...labels: readonly Label[]): number;
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number, ...labels: readonly Label[]): number;
  /** One of the values. @throws RangeError if there is none. */
  pick<T>(values: readonly T[], ...labels: readonly Label[]): T;
  /** The same draws below further labels. */
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
