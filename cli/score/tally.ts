/** Counting while rows go by: what the summary of `citeward score` says. */
import type { ScoreResponse } from '../../src/schema/score-reply.ts';
import type { Outcome } from '../outcome.ts';
import { durationText } from '../output/progress.ts';

/** Reasons that the caller asked for; every other one is a failure of the run. */
const ASKED_FOR: ReadonlySet<string> = new Set(['judgment_skipped', 'nothing_to_score']);

export class ScoreTally {
  #scored = 0;
  #sum = 0;
  #bad = 0;
  #judgeCalls = 0;
  #cached = 0;
  #storeProblems = 0;
  readonly #unscored = new Map<string, number>();
  readonly #recipes = new Set<string>();
  readonly #judges = new Set<string>();

  add(outcome: Outcome<ScoreResponse>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#bad++;
        return;
      case 'failed':
        this.#countUnscored(outcome.reason);
        return;
      case 'done': {
        const { reward, reason, judgments, recipe } = outcome.reply;
        addName(this.#recipes, recipe.name ?? `inline ${recipe.digest.slice(0, 12)}`);
        if (reward === null) this.#countUnscored(reason ?? 'unknown');
        else {
          this.#scored++;
          this.#sum += reward;
        }
        for (const { cached, judged_at, model, store_problem } of judgments) {
          if (model !== null) addName(this.#judges, model);
          if (cached) this.#cached++;
          else if (judged_at !== null) this.#judgeCalls++;
          if (store_problem !== null) this.#storeProblems++;
        }
      }
    }
  }

  #countUnscored(reason: string): void {
    this.#unscored.set(reason, (this.#unscored.get(reason) ?? 0) + 1);
  }

  get judgeCalls(): number {
    return this.#judgeCalls;
  }

  get cached(): number {
    return this.#cached;
  }

  /** True if every row was scored, or left unscored as asked. */
  get isComplete(): boolean {
    return this.#bad === 0 && [...this.#unscored.keys()].every((reason) => ASKED_FOR.has(reason));
  }

  /** What made the scores: recipes and judges. Empty if there are none. */
  madeBy(): string {
    const named = (what: string, names: ReadonlySet<string>): string[] =>
      names.size === 0 ? [] : [`${what} ${[...names].join(', ')}${names.size === MAX_NAMES ? ', …' : ''}`];
    return [...named('recipe', this.#recipes), ...named('judge', this.#judges)].join(' · ');
  }

  /** `19 rows scored, mean reward 6.41; …` */
  summary(seconds: number): string {
    const parts = [`${this.#scored} ${this.#scored === 1 ? 'row' : 'rows'} scored`];
    if (this.#scored > 0) parts.push(`mean reward ${(this.#sum / this.#scored).toFixed(3)}`);
    if (this.#unscored.size > 0) {
      const reasons = [...this.#unscored].map(([reason, count]) => `${count} ${reason}`);
      parts.push(`unscored: ${reasons.join(', ')}`);
    }
    if (this.#bad > 0) parts.push(badLinesText(this.#bad));
    parts.push(countText(this.#judgeCalls, 'judge call', 'judge calls'));
    if (this.#cached > 0) parts.push(countText(this.#cached, 'stored judgment', 'stored judgments'));
    if (this.#storeProblems > 0) parts.push(countText(this.#storeProblems, 'store problem', 'store problems'));
    parts.push(durationText(seconds));
    return parts.join(' · ');
  }
}

/** Names that are kept: each row may bring a recipe of its own. */
const MAX_NAMES = 4;

function addName(names: Set<string>, name: string): void {
  if (names.size < MAX_NAMES) names.add(name);
}

export function badLinesText(count: number): string {
  return countText(count, 'bad line', 'bad lines');
}

function countText(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
