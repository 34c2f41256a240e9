/** Counting while rows go by: what the summary of `citeward score` says. */
import type { ScoreResponse } from '../../src/wire/score.ts';
import type { Outcome } from '../outcome.ts';
import { MadeBy, recipeText } from '../output/made-by.ts';
import { durationText } from '../output/progress.ts';
import { countOf, RewardTally } from '../output/reward-tally.ts';

export class ScoreTally {
  readonly #rewards = new RewardTally(['judgment_skipped', 'nothing_to_score']);
  readonly #madeBy = new MadeBy('recipe', 'judge');
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
