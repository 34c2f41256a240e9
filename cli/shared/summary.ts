/** Counts rows and rewards for the summary at the end of the commands that score. */
import { EXIT_INCOMPLETE, EXIT_OK } from './exit.ts';
import { countOf } from './number-text.ts';
import type { Outcome } from './run-rows.ts';
import type { Screen } from './screen.ts';

/** Maximum number of names that are kept per kind (such as recipe), because each row may add another one. */
const MAX_NAMES = 4;

/** The base of the summaries of `score`, `refine` and `agent`. `Kind` names what made the results: recipe, judge. */
export abstract class RowsSummary<T, Kind extends string> {
  readonly #expectedReasons: ReadonlySet<string>;
  readonly #names: ReadonlyMap<Kind, Set<string>>;
  readonly #unscored = new Map<string, number>();
  #scored = 0;
  #sum = 0;
  #badLines = 0;

  /**
   * @param expectedReasons reasons for a missing reward that the caller asked for; any other one makes the run
   * incomplete.
   * @param kinds in the order in which they are printed.
   */
  constructor(expectedReasons: readonly string[], kinds: readonly Kind[]) {
    this.#expectedReasons = new Set(expectedReasons);
    this.#names = new Map(kinds.map((kind) => [kind, new Set()]));
  }

  add(outcome: Outcome<T>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#badLines++;
        return;
      case 'failed':
        this.addReward(null, outcome.reason);
        return;
      case 'done':
        this.addReply(outcome.reply);
    }
  }

  protected abstract addReply(reply: T): void;

  /** `19 rows scored · mean reward 6.410 · …` */
  abstract text(seconds: number): string;

  /** @param reason why there is no reward. */
  protected addReward(reward: number | null, reason: string | null): void {
    if (reward === null) {
      const name = reason ?? 'unknown';
      this.#unscored.set(name, (this.#unscored.get(name) ?? 0) + 1);
    } else {
      this.#scored++;
      this.#sum += reward;
    }
  }

  protected addName(kind: Kind, name: string): void {
    const names = this.#names.get(kind);
    if (names !== undefined && names.size < MAX_NAMES) names.add(name);
  }

  protected get scored(): number {
    return this.#scored;
  }

  /** How many have no reward, by reason. */
  protected get unscored(): ReadonlyMap<string, number> {
    return this.#unscored;
  }

  /** `mean reward 6.410`; empty if nothing was scored. */
  protected meanText(): string[] {
    return this.#scored === 0 ? [] : [`mean reward ${(this.#sum / this.#scored).toFixed(3)}`];
  }

  protected badLinesText(): string[] {
    return this.#badLines === 0 ? [] : [badLinesText(this.#badLines)];
  }

  /** True if every row was scored, or left unscored for an expected reason. */
  get isComplete(): boolean {
    return this.#badLines === 0 && [...this.#unscored.keys()].every((reason) => this.#expectedReasons.has(reason));
  }

  /** `recipe refiner-rl-balanced · judge qwen`; empty if nothing was scored. */
  madeBy(): string {
    return [...this.#names]
      .filter(([, names]) => names.size > 0)
      .map(([kind, names]) => `${kind} ${[...names].join(', ')}${names.size === MAX_NAMES ? ', …' : ''}`)
      .join(' · ');
  }

  /** What the reader should know about the recipe of the rows; empty for most. */
  warnings(): readonly string[] {
    return [];
  }

  /**
   * Prints the summary. @param startedMs a time of `performance.now()`. @param judged what the judges of this process were
   * asked. @returns the exit code.
   */
  print(screen: Screen, startedMs: number, judged: string | null = null): number {
    screen.message(this.text((performance.now() - startedMs) / 1000), 'bold');
    const madeBy = this.madeBy();
    if (madeBy !== '') screen.message(madeBy, 'dim');
    if (judged !== null) screen.message(judged, 'dim');
    for (const warning of this.warnings()) screen.message(warning, 'yellow');
    return this.isComplete ? EXIT_OK : EXIT_INCOMPLETE;
  }
}

/** `1 bad line` */
export function badLinesText(count: number, unit: 'line' | 'row' = 'line'): string {
  return countOf(count, `bad ${unit}`);
}

/** A recipe by its name; an inline recipe by the first digits of its digest. */
export function recipeText({ name, digest }: { readonly name: string | null; readonly digest: string }): string {
  return name ?? `inline ${digest.slice(0, 12)}`;
}
