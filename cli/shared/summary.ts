/** How a command over rows ends: the summary, what made the results, and whether all of it is there. */
/** Counting rows and rewards while they go by: what the summaries of all commands that score have in common. */
/** What made the results of a run: recipes, judges, policies, by name. */
import { EXIT_INCOMPLETE, EXIT_OK } from './exit.ts';
import { countOf } from './number-text.ts';
import type { Screen } from './screen.ts';

type RowsSummary = {
  readonly isComplete: boolean;
  readonly summary: (seconds: number) => string;
  /** Empty if nothing made anything. */
  readonly madeBy: () => string;
};

/** @param started_ms of `performance.now()`. @returns the exit code. */
export function printSummary(screen: Screen, tally: RowsSummary, started_ms: number): number {
  screen.message(tally.summary((performance.now() - started_ms) / 1000), 'bold');
  const madeBy = tally.madeBy();
  if (madeBy !== '') screen.message(madeBy, 'dim');
  return tally.isComplete ? EXIT_OK : EXIT_INCOMPLETE;
}

export class RewardCounts {
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

/** Names that are kept of a kind: each row may bring others. */
const MAX_NAMES = 4;

export class NameLists<Kind extends string> {
  readonly #names: ReadonlyMap<Kind, Set<string>>;

  /** @param kinds in the order in which they are said. */
  constructor(...kinds: readonly Kind[]) {
    this.#names = new Map(kinds.map((kind) => [kind, new Set()]));
  }

  add(kind: Kind, name: string): void {
    const names = this.#names.get(kind);
    if (names !== undefined && names.size < MAX_NAMES) names.add(name);
  }

  /** `recipe refiner-rl-balanced · judge qwen`; empty where there is none. */
  toString(): string {
    return [...this.#names]
      .filter(([, names]) => names.size > 0)
      .map(([kind, names]) => `${kind} ${[...names].join(', ')}${names.size === MAX_NAMES ? ', …' : ''}`)
      .join(' · ');
  }
}

/** A recipe by its name, or an inline one by the beginning of its digest. */
export function recipeText({ name, digest }: { readonly name: string | null; readonly digest: string }): string {
  return name ?? `inline ${digest.slice(0, 12)}`;
}
