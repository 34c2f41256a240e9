/** `citeward score`: rows in, rewards out. */
/** The table of `citeward score`. */
/** Counting while rows go by: what the summary of `citeward score` says. */
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { countOf, durationText } from '../../shared/number-text.ts';
import { remarksOfScore, remarksText } from '../../shared/remarks.ts';
import type { Labels } from '../../shared/rows.ts';
import type { Finished, Outcome } from '../../shared/run-rows.ts';
import type { Screen } from '../../shared/screen.ts';
import { type Colour, colourOfShare } from '../../shared/style.ts';
import { NameLists, RewardCounts, recipeText } from '../../shared/summary.ts';
import type { Cell, Column, Table, TableRow } from '../../shared/table.ts';

export async function addToTable({ line, labels, outcome }: Finished<ScoreResponse>, table: Table): Promise<void> {
  switch (outcome.kind) {
    case 'done':
      return table.add(scoreRow(line, labels, outcome.reply));
    case 'failed':
      return table.add(unscoredRow(idCell(line, labels), outcome.reason, outcome.detail));
    case 'refused':
  }
}

/** Bad lines have no result: they are named on standard error only. */
export async function printJson({ line, labels, outcome }: Finished<ScoreResponse>, screen: Screen): Promise<void> {
  const { id } = labels;
  switch (outcome.kind) {
    case 'done':
      return screen.result(JSON.stringify({ line, id, ...outcome.reply }));
    case 'failed': {
      const { reason, detail } = outcome;
      return screen.result(JSON.stringify({ line, id, reward: null, status: 'unscored', reason, detail }));
    }
    case 'refused':
  }
}

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

/** A row's first cell: its id, or the line it stands on. */
export function idCell(line: number, labels: Labels): Cell {
  return { text: String(labels.id ?? `line ${line}`) };
}

/** A row with a result. An unscored reward is a reason in words, never a number. */
function scoreRow(line: number, labels: Labels, reply: ScoreResponse): TableRow {
  const id = idCell(line, labels);
  if (reply.reward === null) return unscoredRow(id, reply.reason ?? 'unknown', '');
  const reward = {
    text: reply.reward.toFixed(2),
    colour: rewardColour(reply.reward, reply.recipe.reward_range),
  };
  // The columns are those of cited answers; other families say their parts in words.
  if (reply.family !== 'refiner') return { cells: [id, reward], spread: { text: partsText(reply), colour: 'dim' } };
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

/** A row without a result. */
function unscoredRow(id: Cell, reason: string, detail: string): TableRow {
  const text = detail === '' ? `unscored: ${reason}` : `unscored: ${reason} (${detail})`;
  return { cells: [id], spread: { text, colour: 'yellow' } };
}

/** `outcome 1.00 · rubric 0.40`: each part's value. */
function partsText(reply: ScoreResponse): string {
  const parts = Object.entries(reply.components).map(([name, { value }]) => `${name} ${numberText(value)}`);
  if (reply.family === 'long-trace' && !reply.details.final) parts.push("before the group's maximum divides it");
  return parts.join(' · ');
}

/** By the share of the recipe's range; none where the range has no bound. */
export function rewardColour(reward: number, [least, most]: readonly [number | null, number | null]): Colour | null {
  return least !== null && most !== null && most > least ? colourOfShare((reward - least) / (most - least)) : null;
}

export function numberText(value: number | null): string {
  return value === null ? '-' : value.toFixed(2);
}

export class ScoreSummary {
  readonly #rewards = new RewardCounts(['judgment_skipped', 'nothing_to_score']);
  readonly #madeBy = new NameLists('recipe', 'judge');
  #judgeCalls = 0;
  #cached = 0;
  #storeProblems = 0;

  add(outcome: Outcome<ScoreResponse>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#rewards.addBadLine();
        return;
      case 'failed':
        this.#rewards.addLost(outcome.reason);
        return;
      case 'done': {
        const { reward, reason, judgments, recipe } = outcome.reply;
        this.#madeBy.add('recipe', recipeText(recipe));
        if (reward === null) this.#rewards.addLost(reason ?? 'unknown');
        else this.#rewards.addReward(reward);
        for (const { cached, judged_at, model, store_problem } of judgments) {
          if (model !== null) this.#madeBy.add('judge', model);
          if (cached) this.#cached++;
          else if (judged_at !== null) this.#judgeCalls++;
          if (store_problem !== null) this.#storeProblems++;
        }
      }
    }
  }

  get judgeCalls(): number {
    return this.#judgeCalls;
  }

  get cached(): number {
    return this.#cached;
  }

  /** True if every row was scored, or left unscored as asked. */
  get isComplete(): boolean {
    return this.#rewards.isComplete;
  }

  /** What made the scores: recipes and judges. Empty if there are none. */
  madeBy(): string {
    return this.#madeBy.toString();
  }

  /** `19 rows scored · mean reward 6.410 · …` */
  summary(seconds: number): string {
    const rewards = this.#rewards;
    const unscored = [...rewards.lost].map(([reason, count]) => `${count} ${reason}`).join(', ');
    const parts = [
      `${countOf(rewards.scored, 'row', 'rows')} scored`,
      ...rewards.meanText(),
      ...(unscored === '' ? [] : [`unscored: ${unscored}`]),
      ...rewards.badLinesText(),
      countOf(this.#judgeCalls, 'judge call', 'judge calls'),
    ];
    if (this.#cached > 0) parts.push(countOf(this.#cached, 'stored judgment', 'stored judgments'));
    if (this.#storeProblems > 0) parts.push(countOf(this.#storeProblems, 'store problem', 'store problems'));
    return [...parts, durationText(seconds)].join(' · ');
  }
}
