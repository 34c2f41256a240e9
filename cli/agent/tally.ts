/** What a trajectory says in the end, and what all of a run do. */
import type { AgentResponse } from '../../src/schema/agent-reply.ts';
import type { Outcome } from '../outcome.ts';
import { countText, durationText } from '../output/progress.ts';
import type { Colour } from '../output/style.ts';
import { badLinesText } from '../score/tally.ts';

/** Reasons that the caller asked for; every other one is a failure of the run. */
const ASKED_FOR: ReadonlySet<string> = new Set(['not_asked', 'judgment_skipped']);

/** `no_tool_call · 2 turns, num_turns 4 · 59 tokens · reward 1.00 (outcome 1.00, tool_calls 0.00, overlong 0.00)` */
export function trajectoryLine(reply: AgentResponse): { readonly text: string; readonly colour: Colour | null } {
  const { stop, failure, num_turns, response_tokens, token_counts, reward, reason, score, trajectory } = reply;
  const turns = trajectory.messages.filter(({ role }) => role === 'assistant').length;
  const parts = [
    failure === null ? stop : `${stop}: ${failure.reason} (${failure.detail})`,
    `${turns} ${turns === 1 ? 'turn' : 'turns'}, num_turns ${num_turns}`,
    `${token_counts === 'server' ? '' : 'at most about '}${countText(response_tokens)} tokens`,
  ];
  if (reward !== null) parts.push(`reward ${reward.toFixed(2)}${partsText(score)}`);
  else if (reason !== 'not_asked') parts.push(`unscored: ${reason}`);
  const isFine = failure === null && (reward !== null || reason === 'not_asked');
  return { text: parts.join(' · '), colour: isFine ? 'bold' : 'yellow' };
}

function partsText(score: AgentResponse['score']): string {
  if (score === null) return '';
  const parts = Object.entries(score.components).map(([name, { value }]) => `${name} ${value?.toFixed(2) ?? '-'}`);
  return ` (${parts.join(', ')})`;
}

export class AgentTally {
  #trajectories = 0;
  #turns = 0;
  #runs = 0;
  #scored = 0;
  #sum = 0;
  #bad = 0;
  readonly #lost = new Map<string, number>();
  readonly #policies = new Set<string>();
  readonly #recipes = new Set<string>();

  add(outcome: Outcome<AgentResponse>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#bad++;
        return;
      case 'failed':
        this.#count(outcome.reason);
        return;
      case 'done': {
        const { trajectory, reward, reason, score, model, failure } = outcome.reply;
        this.#trajectories++;
        addName(this.#policies, model);
        for (const message of trajectory.messages) {
          if (message.role === 'assistant') this.#turns++;
          else if (message.outcome !== 'bad_call' && message.outcome !== 'not_run') this.#runs++;
        }
        if (score !== null) {
          addName(this.#recipes, score.recipe.name ?? `inline ${score.recipe.digest.slice(0, 12)}`);
        }
        if (reward !== null) {
          this.#scored++;
          this.#sum += reward;
        } else this.#count(failure?.reason ?? reason ?? 'unknown');
      }
    }
  }

  #count(reason: string): void {
    this.#lost.set(reason, (this.#lost.get(reason) ?? 0) + 1);
  }

  /** True if every row has a whole trajectory, scored or left unscored as asked. */
  get isComplete(): boolean {
    return this.#bad === 0 && [...this.#lost.keys()].every((reason) => ASKED_FOR.has(reason));
  }

  /** Policies and recipes. Empty if there are none. */
  madeBy(): string {
    const named = (what: string, names: ReadonlySet<string>): string[] =>
      names.size === 0 ? [] : [`${what} ${[...names].join(', ')}${names.size === MAX_NAMES ? ', …' : ''}`];
    return [...named('policy', this.#policies), ...named('recipe', this.#recipes)].join(' · ');
  }

  summary(seconds: number): string {
    const of = (count: number, one: string, many: string): string => `${countText(count)} ${count === 1 ? one : many}`;
    const parts = [
      of(this.#trajectories, 'trajectory', 'trajectories'),
      of(this.#turns, 'turn', 'turns'),
      of(this.#runs, 'program', 'programs'),
    ];
    if (this.#scored > 0) parts.push(`mean reward ${(this.#sum / this.#scored).toFixed(3)}`);
    for (const [reason, count] of this.#lost) {
      if (reason !== 'not_asked') parts.push(`${countText(count)} ${reason}`);
    }
    if (this.#bad > 0) parts.push(badLinesText(this.#bad));
    return [...parts, durationText(seconds)].join(' · ');
  }
}

/** Names that are kept: each row may bring others. */
const MAX_NAMES = 4;

function addName(names: Set<string>, name: string): void {
  if (names.size < MAX_NAMES) names.add(name);
}
