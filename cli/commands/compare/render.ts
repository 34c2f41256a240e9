/** Prints the rows and the summary of `citeward compare`. */
import type { CompareResponse } from '../../../src/wire/compare.ts';
import { countOf, durationText } from '../../shared/number-text.ts';
import { idCell } from '../../shared/row-printer.ts';
import type { Labels } from '../../shared/rows.ts';
import { RowsSummary } from '../../shared/summary.ts';
import type { Column, TableRow } from '../../shared/table.ts';
import { numberText } from '../score/render.ts';

export const COMPARE_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 24 },
  { title: 'best', align: 'left', most: 12 },
  { title: 'win rates', align: 'left', most: 64 },
  { title: 'pairs', align: 'right', most: 5 },
  { title: 'disagreed', align: 'right', most: 9 },
  { title: 'note', align: 'left', most: 200 },
];

export function comparedRow(
  line: number,
  labels: Labels,
  { rewards, pairs, position_bias }: CompareResponse,
): TableRow {
  return {
    cells: [
      idCell(line, labels),
      { text: bestOf(rewards) },
      { text: rewards.map(numberText).join(' ') },
      { text: String(pairs.length) },
      { text: String(position_bias.disagreed), colour: position_bias.disagreed > 0 ? 'yellow' : null },
      { text: labels.note ?? '', colour: 'dim' },
    ],
  };
}

/** The numbers of the best answers, from 1; `-` while an answer has no win rate, because it may be the best. */
function bestOf(rewards: CompareResponse['rewards']): string {
  const known = rewards.filter((reward) => reward !== null);
  if (known.length < rewards.length) return '-';
  const most = Math.max(...known);
  const best = rewards.flatMap((reward, place) => (reward === most ? [String(place + 1)] : []));
  return best.length === rewards.length ? 'tie' : best.join(', ');
}

/** Sums of the win rates at one place of the rows. */
type Place = { sum: number; scored: number };

export class CompareSummary extends RowsSummary<CompareResponse, 'judge'> {
  #rows = 0;
  #compared = 0;
  #disagreed = 0;
  #shownFirst = 0;
  /** `null` = the rows have different numbers of answers. */
  #places: Place[] | null = [];

  constructor() {
    super(['judgment_skipped'], ['judge']);
  }

  protected addReply({ rewards, members, position_bias, judges }: CompareResponse): void {
    this.#rows++;
    this.#compared += position_bias.compared;
    this.#disagreed += position_bias.disagreed;
    this.#shownFirst += position_bias.first;
    for (const { reward, reason } of members) this.addReward(reward, reason);
    for (const { model } of judges) this.addName('judge', model);
    if (this.#places?.length === 0) this.#places = rewards.map(() => ({ sum: 0, scored: 0 }));
    if (this.#places?.length !== rewards.length) this.#places = null;
    for (const [place, one] of (this.#places ?? []).entries()) {
      const reward = rewards[place] ?? null;
      if (reward === null) continue;
      one.sum += reward;
      one.scored++;
    }
  }

  /** How often the order of showing decided. */
  override warnings(): readonly string[] {
    const bias =
      `position: the two orders disagreed on ${this.#disagreed} of ${countOf(this.#compared, 'pair')}, and preferred ` +
      `the answer shown first on ${this.#shownFirst} of them`;
    return this.#disagreed === 0 ? [] : [bias];
  }

  text(seconds: number): string {
    const unscored = [...this.unscored].map(([reason, count]) => `${count} ${reason}`).join(', ');
    const parts = [
      `${countOf(this.#rows, 'row')} compared`,
      ...this.#meansText(),
      ...(unscored === '' ? [] : [`answers without a win rate: ${unscored}`]),
      ...this.badLinesText(),
    ];
    return [...parts, durationText(seconds)].join(' · ');
  }

  /** `mean win rates 0.33 0.67`: of each place, which is one model's if all rows list the models in one order. */
  #meansText(): string[] {
    if (this.#places === null || this.#places.length === 0) return [];
    const means = this.#places.map(({ sum, scored }) => numberText(scored === 0 ? null : sum / scored));
    return [`mean win rates ${means.join(' ')}`];
  }
}
