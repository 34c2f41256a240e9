/** Prints the rows and the summary of `citeward score`. */
import type { ScoreDetails } from '../../../src/family/score.ts';
import { isLexicalJudge } from '../../../src/lexical/support-model.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { countOf, durationText } from '../../shared/number-text.ts';
import { remarksOfScore, remarksText } from '../../shared/remarks.ts';
import { idCell, unscoredRow } from '../../shared/row-printer.ts';
import type { Labels } from '../../shared/rows.ts';
import { type Colour, colourOfShare } from '../../shared/style.ts';
import { RowsSummary, recipeText } from '../../shared/summary.ts';
import type { Column, TableRow } from '../../shared/table.ts';

const FINDINGS_WIDTH = 28;

export const SCORE_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 24 },
  { title: 'reward', align: 'right', most: 12 },
  { title: 'rubric', align: 'right', most: 6 },
  { title: 'cite', align: 'right', most: 5 },
  { title: 'recall', align: 'right', most: 6 },
  { title: 'prec', align: 'right', most: 5 },
  { title: 'fmt', align: 'left', most: 3 },
  { title: 'findings', align: 'left', most: FINDINGS_WIDTH },
  { title: 'note', align: 'left', most: 200 },
];

/** A row with a result. Without a reward the row shows the reason, never a number. */
export function scoreRow(line: number, labels: Labels, reply: ScoreResponse): TableRow {
  const id = idCell(line, labels);
  if (reply.reward === null) return unscoredRow(id, reply.reason ?? 'unknown', '');
  const reward = {
    text: reply.reward.toFixed(2),
    colour: rewardColour(reply.reward, reply.recipe.reward_range),
  };
  // The columns fit the refiner family; the components of other families are listed as text.
  if (!('claims' in reply)) return { cells: [id, reward], spread: { text: partsText(reply), colour: 'dim' } };
  const { rubric, citation, format } = reply.components;
  const { citation_recall: recall, citation_precision: precision } = reply.details;
  return {
    cells: [
      id,
      reward,
      { text: numberText(rubric.value) },
      { text: citation.status === 'not_applicable' ? 'n/a' : numberText(citation.value) },
      { text: numberText(recall), colour: 'dim' },
      { text: numberText(precision), colour: 'dim' },
      format.value === 1 ? { text: 'ok' } : { text: 'bad', colour: 'yellow' },
      { text: remarksText(remarksOfScore(reply), FINDINGS_WIDTH) },
      { text: labels.note ?? '', colour: 'dim' },
    ],
  };
}

/** The values of the components: `outcome 1.00 · rubric 0.40` */
function partsText(reply: ScoreResponse): string {
  const parts = Object.entries(reply.components).map(([name, { value }]) => `${name} ${numberText(value)}`);
  const details: ScoreDetails = reply.details;
  if (details.final === false) parts.push('not yet divided by the maximum of its group');
  return parts.join(' · ');
}

/** The colour of a reward, by how high it is within the range of the recipe; `null` if the range is unbounded. */
export function rewardColour(reward: number, [least, most]: readonly [number | null, number | null]): Colour | null {
  return least !== null && most !== null && most > least ? colourOfShare((reward - least) / (most - least)) : null;
}

export function numberText(value: number | null): string {
  return value === null ? '-' : value.toFixed(2);
}

export class ScoreSummary extends RowsSummary<ScoreResponse, 'recipe' | 'judge'> {
  #judgeCalls = 0;
  #cached = 0;
  #storeProblems = 0;
  /** Rows with vacuous credit, and the most of it. */
  #vacuousRows = 0;
  #mostVacuous = 0;
  /** Rows under `own_positives_required` that have no positive criterion of their own. */
  #unscaledRows = 0;
  /** Rows that the lexical judge judged, with a claim in a language that it does not know. */
  #unreadRows = 0;

  constructor() {
    super(['judgment_skipped', 'nothing_to_score'], ['recipe', 'judge']);
  }

  protected addReply(reply: ScoreResponse): void {
    const { reward, reason, judgments, recipe } = reply;
    const vacuous = 'claims' in reply ? (reply.details.vacuous_credit ?? 0) : 0;
    if (vacuous > 0) this.#vacuousRows++;
    this.#mostVacuous = Math.max(this.#mostVacuous, vacuous);
    const isComposed = 'claims' in reply && reply.decided_by === 'components';
    if (isComposed && reply.details.own_positives === null) this.#unscaledRows++;
    const isLexical = judgments.some(({ model }) => isLexicalJudge(model));
    if (isLexical && 'claims' in reply && reply.claims.some((claim) => claim.unknown_language)) this.#unreadRows++;
    this.addName('recipe', recipeText(recipe));
    this.addReward(reward, reason);
    for (const { cached, judged_at, model, store_problem } of judgments) {
      if (model !== null) this.addName('judge', model);
      if (cached) this.#cached++;
      else if (judged_at !== null) this.#judgeCalls++;
      if (store_problem !== null) this.#storeProblems++;
    }
  }

  /** Names the credit that an empty answer would get, which a policy finds in training. */
  override warnings(): readonly string[] {
    const vacuous =
      `vacuous credit: in ${countOf(this.#vacuousRows, 'row')} an answer that meets no criterion has a rubric score of up ` +
      `to ${this.#mostVacuous.toFixed(2)}; negatives_require_positive makes it 0`;
    const unscaled =
      `no own criteria: ${countOf(this.#unscaledRows, 'row')} without positive criteria, so own_positives_required ` +
      'scales nothing there; give each row at least one';
    const unread =
      `unknown language: in ${countOf(this.#unreadRows, 'row')} the lexical judge does not know the language of a claim, ` +
      'so it sees no negation there; use a model as judge';
    return [
      ...(this.#vacuousRows === 0 ? [] : [vacuous]),
      ...(this.#unscaledRows === 0 ? [] : [unscaled]),
      ...(this.#unreadRows === 0 ? [] : [unread]),
    ];
  }

  /** Judgments that a judge gave in this run. */
  get judgeCalls(): number {
    return this.#judgeCalls;
  }

  /** Judgments that were in the store. */
  get cached(): number {
    return this.#cached;
  }

  text(seconds: number): string {
    const unscored = [...this.unscored].map(([reason, count]) => `${count} ${reason}`).join(', ');
    const parts = [
      `${countOf(this.scored, 'row')} scored`,
      ...this.meanText(),
      ...(unscored === '' ? [] : [`unscored: ${unscored}`]),
      ...this.badLinesText(),
      countOf(this.#judgeCalls, 'judge call'),
    ];
    if (this.#cached > 0) parts.push(countOf(this.#cached, 'stored judgment'));
    if (this.#storeProblems > 0) parts.push(countOf(this.#storeProblems, 'store problem'));
    return [...parts, durationText(seconds)].join(' · ');
  }
}
