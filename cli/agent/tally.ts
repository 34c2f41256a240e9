/** What a trajectory says in the end, and what all of a run do. */
import type { AgentResponse } from '../../src/wire/agent-reply.ts';
import type { Outcome } from '../outcome.ts';
import { MadeBy, recipeText } from '../output/made-by.ts';
import { countText, durationText } from '../output/progress.ts';
import { countOf, RewardTally } from '../output/reward-tally.ts';
import type { Colour } from '../output/style.ts';

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
  readonly #rewards = new RewardTally(['not_asked', 'judgment_skipped']);
  readonly #madeBy = new MadeBy('policy', 'recipe');
  #trajectories = 0;
  #turns = 0;
  #programs = 0;

  add(outcome: Outcome<AgentResponse>): void {
    switch (outcome.kind) {
      case 'refused':
        this.#rewards.addBadLine();
        return;
      case 'failed':
        this.#rewards.addLost(outcome.reason);
        return;
      case 'done': {
        const { trajectory, reward, reason, score, model, failure } = outcome.reply;
        this.#trajectories++;
        this.#madeBy.add('policy', model);
        for (const message of trajectory.messages) {
          if (message.role === 'assistant') this.#turns++;
          else if (message.outcome !== 'bad_call' && message.outcome !== 'not_run') this.#programs++;
        }
        if (score !== null) this.#madeBy.add('recipe', recipeText(score.recipe));
        if (reward !== null) this.#rewards.addReward(reward);
        else this.#rewards.addLost(failure?.reason ?? reason ?? 'unknown');
      }
    }
  }

  /** True if every row has a whole trajectory, scored or left unscored as asked. */
  get isComplete(): boolean {
    return this.#rewards.isComplete;
  }

  /** Policies and recipes. Empty if there are none. */
  madeBy(): string {
    return this.#madeBy.toString();
  }

  summary(seconds: number): string {
    const parts = [
      countOf(this.#trajectories, 'trajectory', 'trajectories'),
      countOf(this.#turns, 'turn', 'turns'),
      countOf(this.#programs, 'program', 'programs'),
      ...this.#rewards.meanText(),
    ];
    for (const [reason, count] of this.#rewards.lost) {
      if (reason !== 'not_asked') parts.push(`${countText(count)} ${reason}`);
    }
    return [...parts, ...this.#rewards.badLinesText(), durationText(seconds)].join(' · ');
  }
}
