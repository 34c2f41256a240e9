/** Counting rows and rewards while they go by: what the summaries of all commands that score have in common. */
import { countText } from './progress.ts';

export class RewardTally {
  readonly #askedFor: ReadonlySet<string>;
  readonly #lost = new Map<string, number>();
  #scored = 0;
  #sum = 0;
  #bad = 0;

  /** @param askedFor reasons for no reward that the caller asked for; every other one is a failure of the run. */
  constructor(askedFor: readonly string[]) {
    this.#askedFor = new Set(askedFor);
  }

  /** A line that is no row. */
  addBadLine(): void {
    this.#bad++;
  }

  /** A row without a result, or a rollout without a reward. */
  addLost(reason: string): void {
    this.#lost.set(reason, (this.#lost.get(reason) ?? 0) + 1);
  }

  addReward(reward: number): void {
    this.#scored++;
    this.#sum += reward;
  }

  get scored(): number {
    return this.#scored;
  }

  /** True if every row was scored, or left unscored as asked. */
  get isComplete(): boolean {
    return this.#bad === 0 && [...this.#lost.keys()].every((reason) => this.#askedFor.has(reason));
  }

  /** How many were lost, by reason. */
  get lost(): ReadonlyMap<string, number> {
    return this.#lost;
  }

  /** `mean reward 6.410`; nothing where nothing was scored. */
  meanText(): string[] {
    return this.#scored === 0 ? [] : [`mean reward ${(this.#sum / this.#scored).toFixed(3)}`];
  }

  badLinesText(): string[] {
    return this.#bad === 0 ? [] : [badLinesText(this.#bad)];
  }
}

export function badLinesText(count: number): string {
  return countOf(count, 'bad line', 'bad lines');
}

/** `1 row`, `1,200 rows`. */
export function countOf(count: number, one: string, many: string): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
