/** How many verdicts on criteria change with the order in which one call asks about them, by kind of criterion. */
import type { MeasuredKind } from '../family/verdict-levels.ts';
import type { Interval } from './cluster-bootstrap.ts';
import { randomOf } from './cluster-bootstrap.ts';
import { intervalOfShare, share } from './label-figures.ts';

/** The row's own criteria by polarity, and those of the recipe. */
export type CriterionKind = Extract<MeasuredKind, 'positive' | 'negative' | 'static'>;

const KINDS: readonly CriterionKind[] = ['positive', 'negative', 'static'];

/** The verdicts on criteria of one kind that were given in both orders. */
export type OrderFlips = {
  readonly criteria: CriterionKind | 'all';
  readonly verdicts: number;
  readonly flipped: number;
  readonly share: number | null;
  /** 95 %, over questions; `null` = undefined: only one question. */
  readonly interval: Interval | null;
};

/** Counts verdicts by question. Memory: a few numbers for each question. */
export class FlipCounter {
  /** For each kind, the kept and flipped verdicts of each question. */
  readonly #counts = new Map<CriterionKind | 'all', Map<string, number[]>>();

  add(question: string, kind: CriterionKind, flipped: boolean): void {
    for (const criteria of ['all', kind] as const) {
      const byQuestion = this.#counts.get(criteria) ?? new Map<string, number[]>();
      const counts = byQuestion.get(question) ?? [0, 0];
      const at = flipped ? 1 : 0;
      counts[at] = (counts[at] ?? 0) + 1;
      this.#counts.set(criteria, byQuestion.set(question, counts));
    }
  }

  /** All criteria first, then each kind that occurs. @param seed of the intervals. */
  figures(seed: number): OrderFlips[] {
    return (['all', ...KINDS] as const).flatMap((criteria) => {
      const clusters = [...(this.#counts.get(criteria)?.values() ?? [])];
      if (clusters.length === 0) return [];
      const [kept, flipped] = [0, 1].map((at) => clusters.reduce((sum, counts) => sum + (counts[at] ?? 0), 0));
      if (kept === undefined || flipped === undefined) return [];
      const interval = intervalOfShare(clusters, seed);
      return [{ criteria, verdicts: kept + flipped, flipped, share: share(flipped, kept + flipped), interval }];
    });
  }
}

/**
 * The positions of a list in a random order that is not the given one; every other order is as probable.
 * @param length 2 or more. @param seed an integer; equal seeds give equal orders.
 */
export function shuffledOrder(length: number, seed: number): number[] {
  const random = randomOf(seed);
  const order = Array.from({ length }, (_, position) => position);
  do {
    for (let last = length - 1; last > 0; last--) {
      const other = Math.floor(random() * (last + 1));
      const [one = 0, two = 0] = [order[last], order[other]];
      order[last] = two;
      order[other] = one;
    }
  } while (order.every((from, position) => from === position));
  return order;
}
