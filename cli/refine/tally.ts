/** What a refined row says in the end, and what all rows together do. */
import type { RefineReply } from '../../src/wire/refine-reply.ts';
import type { Labels } from '../input/rows.ts';
import type { Outcome } from '../outcome.ts';
import { MadeBy, recipeText } from '../output/made-by.ts';
import { countText, durationText } from '../output/progress.ts';
import { countOf, RewardTally } from '../output/reward-tally.ts';

/** Lines below a row's candidates: what was cut, and the rewards, best first. */
export function rowLines(line: number, { id }: Labels, { candidates, cut, group, model }: RefineReply): string[] {
  const lines: string[] = [];
  if (cut !== null) {
    const [kept, all] = [countText(cut.kept_chars), countText(cut.chars)];
    lines.push(`the policy saw ${kept} of ${all} characters of the tool output`);
  }
  const named = `${id ?? `line ${line}`} · ${model}`;
  if (group === undefined) {
    const order = candidates.map(({ index }) => index).join(', ');
    lines.push(candidates.length === 1 ? named : `${named} · best first: ${order}`);
    return lines;
  }
  const rewards = candidates.map(({ index, reward, reason, advantage }) => {
    const of = candidates.length === 1 ? '' : `candidate ${index}: `;
    if (typeof reward !== 'number') return `${of}unscored (${reason})`;
    const relative = candidates.length === 1 ? '' : ` (advantage ${signed(advantage ?? 0)})`;
    return `${of}reward ${reward.toFixed(2)}${relative}`;
  });
  lines.push(`${named} · ${rewards.join(', ')}`);
  return lines;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(2)}`;
}

export class RefineTally {
  readonly #rewards = new RewardTally(['aborted', 'judgment_skipped', 'nothing_to_score']);
  readonly #madeBy = new MadeBy('recipe', 'judge');
  #rows = 0;
  #candidates = 0;
  #aborted = 0;
  #invented = 0;
  #cut = 0;

  add(outcome: Outcome<RefineReply>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#rewards.addBadLine();
        return;
      case 'failed':
        this.#rewards.addLost(outcome.reason);
        return;
      case 'done': {
        this.#rows++;
        const { cut, recipe } = outcome.reply;
        if (cut !== null) this.#cut++;
        if (recipe !== undefined) this.#madeBy.add('recipe', recipeText(recipe));
        for (const { aborted, verification, reward, reason, score } of outcome.reply.candidates) {
          this.#candidates++;
          for (const { model } of score?.judgments ?? []) if (model !== null) this.#madeBy.add('judge', model);
          if (aborted !== null) this.#aborted++;
          if ((verification.finding_counts.citation_id_unknown ?? 0) > 0) this.#invented++;
          if (typeof reward === 'number') this.#rewards.addReward(reward);
          else if (reward === null) this.#rewards.addLost(reason ?? 'unknown');
        }
      }
    }
  }

  /** True if every row has its candidates, and each is scored or left unscored as asked. */
  get isComplete(): boolean {
    return this.#rewards.isComplete;
  }

  /** What made the scores: recipes and judges. Empty where nothing was scored. */
  madeBy(): string {
    return this.#madeBy.toString();
  }

  summary(seconds: number): string {
    const parts = [
      `${countOf(this.#rows, 'row', 'rows')} refined`,
      countOf(this.#candidates, 'candidate', 'candidates'),
      ...this.#rewards.meanText(),
    ];
    if (this.#invented > 0) parts.push(`${countText(this.#invented)} with invented ids`);
    if (this.#aborted > 0) parts.push(`${countText(this.#aborted)} stopped`);
    if (this.#cut > 0) parts.push(`tool output cut in ${countOf(this.#cut, 'row', 'rows')}`);
    for (const [reason, count] of this.#rewards.lost) parts.push(`${countText(count)} ${reason}`);
    return [...parts, ...this.#rewards.badLinesText(), durationText(seconds)].join(' · ');
  }
}
