/** What a refined row says in the end, and what all rows together do. */
import type { RefineReply } from '../../src/generation/refine-reply.ts';
import type { Labels } from '../input/rows.ts';
import type { Outcome } from '../outcome.ts';
import { countText, durationText } from '../output/progress.ts';
import { badLinesText } from '../score/tally.ts';

/** Reasons that the caller asked for; every other one is a failure of the run. */
const ASKED_FOR: ReadonlySet<string> = new Set(['aborted', 'judgment_skipped', 'nothing_to_score']);

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

/** Names that are kept: each row may bring a recipe of its own. */
const MAX_NAMES = 4;

function addName(names: Set<string>, name: string): void {
  if (names.size < MAX_NAMES) names.add(name);
}

export class RefineTally {
  #rows = 0;
  #candidates = 0;
  #aborted = 0;
  #invented = 0;
  #cut = 0;
  #scored = 0;
  #sum = 0;
  #bad = 0;
  readonly #lost = new Map<string, number>();
  readonly #recipes = new Set<string>();
  readonly #judges = new Set<string>();

  add(outcome: Outcome<RefineReply>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#bad++;
        return;
      case 'failed':
        this.#count(outcome.reason);
        return;
      case 'done': {
        this.#rows++;
        const { cut, recipe } = outcome.reply;
        if (cut !== null) this.#cut++;
        if (recipe !== undefined) addName(this.#recipes, recipe.name ?? `inline ${recipe.digest.slice(0, 12)}`);
        for (const { aborted, verification, reward, reason, score } of outcome.reply.candidates) {
          this.#candidates++;
          for (const { model } of score?.judgments ?? []) if (model !== null) addName(this.#judges, model);
          if (aborted !== null) this.#aborted++;
          if ((verification.finding_counts.citation_id_unknown ?? 0) > 0) this.#invented++;
          if (typeof reward === 'number') {
            this.#scored++;
            this.#sum += reward;
          } else if (reward === null) this.#count(reason ?? 'unknown');
        }
      }
    }
  }

  #count(reason: string): void {
    this.#lost.set(reason, (this.#lost.get(reason) ?? 0) + 1);
  }

  /** True if every row has its candidates, and each is scored or left unscored as asked. */
  get isComplete(): boolean {
    return this.#bad === 0 && [...this.#lost.keys()].every((reason) => ASKED_FOR.has(reason));
  }

  /** What made the scores: recipes and judges. Empty where nothing was scored. */
  madeBy(): string {
    const named = (what: string, names: ReadonlySet<string>): string[] =>
      names.size === 0 ? [] : [`${what} ${[...names].join(', ')}${names.size === MAX_NAMES ? ', …' : ''}`];
    return [...named('recipe', this.#recipes), ...named('judge', this.#judges)].join(' · ');
  }

  summary(seconds: number): string {
    const of = (count: number, one: string, many: string): string => `${countText(count)} ${count === 1 ? one : many}`;
    const parts = [`${of(this.#rows, 'row', 'rows')} refined`, of(this.#candidates, 'candidate', 'candidates')];
    if (this.#scored > 0) parts.push(`mean reward ${(this.#sum / this.#scored).toFixed(3)}`);
    if (this.#invented > 0) parts.push(`${countText(this.#invented)} with invented ids`);
    if (this.#aborted > 0) parts.push(`${countText(this.#aborted)} stopped`);
    if (this.#cut > 0) parts.push(`tool output cut in ${of(this.#cut, 'row', 'rows')}`);
    for (const [reason, count] of this.#lost) parts.push(`${countText(count)} ${reason}`);
    if (this.#bad > 0) parts.push(badLinesText(this.#bad));
    return [...parts, durationText(seconds)].join(' · ');
  }
}
