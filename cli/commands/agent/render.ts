/** Agents by a Worker, with events as they come. */
/**
 * A trajectory on the screen while it goes on: what the policy writes line by line, the code it runs, what came of it.
 * The line that is being written is drawn over itself, on a terminal only. A call in the text is shown as the call that was
 * read of it, not as its JSON.
 */
/** What a trajectory says in the end, and what all of a run do. */
import type { AgentStreamEvent } from '../../../clients/typescript/agent.ts';
import type { AgentResponse } from '../../../src/wire/agent-reply.ts';
import { countOf, countText, durationText } from '../../shared/number-text.ts';
import { LiveLine } from '../../shared/progress.ts';
import type { Outcome } from '../../shared/run-rows.ts';
import type { Screen } from '../../shared/screen.ts';
import type { Colour } from '../../shared/style.ts';
import { NameLists, RewardCounts, recipeText } from '../../shared/summary.ts';
import { fitText, plainLine } from '../../shared/text-width.ts';

/** What a page shows of a trajectory while it goes on. */
export type TrajectoryEvent = Exclude<AgentStreamEvent, { readonly event: 'done' | 'error' | 'lost' }>;

const OPENING = '<tool_call>';

const CLOSING = '</tool_call>';

const INDENT = '  ';

type Channel = 'text' | 'thinking';

export class TrajectoryView {
  readonly #screen: Screen;
  readonly #live: LiveLine;
  /** The line that is being written, and what writes it. */
  #open = '';
  #channel: Channel = 'text';
  /** Lines of a call that is being written; `null` = none is. */
  #held: string[] | null = null;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.#live = new LiveLine(process.stderr, 0);
    screen.show(this.#live);
  }

  /** What the row is about. */
  begin(text: string): Promise<void> {
    return this.#print(fitText(plainLine(text), this.#screen.width), 'bold', '');
  }

  async tell(event: TrajectoryEvent): Promise<void> {
    switch (event.event) {
      case 'start':
        return;
      case 'turn':
        return this.#print(`turn ${event.data.turn}`, 'dim', INDENT);
      case 'delta':
        return this.#write('text', event.data.text);
      case 'thinking':
        return this.#write('thinking', event.data.text);
      case 'tool_call':
        await this.#flush();
        await this.#call(event.data);
        if (event.data.code !== null) this.#live.remark('running', () => '');
        return;
      case 'tool_result':
        return this.#result(event.data);
      case 'turn_end':
        return this.#flush();
    }
  }

  /** Makes room for other output. */
  end(): void {
    this.#live.clear();
  }

  async #write(channel: Channel, text: string): Promise<void> {
    if (channel !== this.#channel) await this.#flush();
    this.#channel = channel;
    this.#open += text;
    for (let end = this.#open.indexOf('\n'); end !== -1; end = this.#open.indexOf('\n')) {
      const line = this.#open.slice(0, end);
      this.#open = this.#open.slice(end + 1);
      await this.#line(line);
    }
    const isCall = this.#held !== null || this.#open.includes(OPENING);
    this.#live.update((columns) => `${INDENT}${isCall ? 'writes a call …' : lastOf(this.#open, columns)}`);
  }

  /** One whole line of the policy, without the calls in it. */
  async #line(line: string): Promise<void> {
    let rest = line;
    for (;;) {
      if (this.#held !== null) {
        const end = rest.indexOf(CLOSING);
        if (end === -1) {
          this.#held.push(rest);
          return;
        }
        this.#held = null;
        rest = rest.slice(end + CLOSING.length);
        if (rest.trim() === '') return;
      }
      const start = this.#channel === 'text' ? rest.indexOf(OPENING) : -1;
      if (start === -1) return this.#said(rest);
      if (rest.slice(0, start).trim() !== '') await this.#said(rest.slice(0, start));
      this.#held = [];
      rest = rest.slice(start + OPENING.length);
    }
  }

  /** What is written so far, although its line has no end. A call without its end was none, and is shown as it is. */
  async #flush(): Promise<void> {
    const open = this.#open;
    this.#open = '';
    if (open !== '') await this.#line(open);
    const held = this.#held;
    this.#held = null;
    if (held !== null) for (const line of [OPENING, ...held]) await this.#said(line);
  }

  #said(line: string): Promise<void> {
    return this.#print(shown(line), this.#channel === 'thinking' ? 'dim' : null, INDENT.repeat(2));
  }

  async #call({ name, problem, code }: Extract<TrajectoryEvent, { event: 'tool_call' }>['data']): Promise<void> {
    if (problem !== null) return this.#print(`✗ a call that cannot be run: ${problem}`, 'yellow', INDENT);
    if (code === null) return this.#print('- a further call, not run', 'dim', INDENT);
    await this.#print(`> ${plainLine(name ?? '')}`, 'bold', INDENT);
    for (const line of code.split('\n')) await this.#print(shown(line), null, `${INDENT}| `);
  }

  async #result(result: Extract<TrajectoryEvent, { event: 'tool_result' }>['data']): Promise<void> {
    const { outcome, content, raw_chars, truncated, shown: wasShown } = result;
    const parts = [
      outcome,
      `${countText(raw_chars)} ${raw_chars === 1 ? 'character' : 'characters'}${truncated ? ', cut' : ''}`,
      ...(wasShown ? [] : ['not shown to the policy: it would have spent the response budget']),
    ];
    await this.#print(`< ${parts.join(' · ')}`, outcome === 'finished' ? 'green' : 'yellow', INDENT);
    for (const line of content.replace(/\n$/, '').split('\n')) await this.#print(shown(line), null, `${INDENT}| `);
  }

  #print(text: string, colour: Colour | null, indent: string): Promise<void> {
    const line = `${indent}${text}`.trimEnd();
    return this.#screen.result(this.#screen.resultStyle(colour, line));
  }
}

/** A line as it can be shown, its indentation kept. */
function shown(line: string): string {
  const indent = line.length - line.replace(/^[ \t]+/, '').length;
  return `${line.slice(0, indent).replaceAll('\t', '    ')}${plainLine(line)}`;
}

/** The end of the line that is being written. */
function lastOf(text: string, columns: number): string {
  const room = Math.max(0, columns - 2 * INDENT.length - 1);
  const plain = plainLine(text.slice(-4 * room));
  return `${INDENT}${fitText(plain.slice(-room).toWellFormed(), room)}`;
}

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

export class AgentSummary {
  readonly #rewards = new RewardCounts(['not_asked', 'judgment_skipped']);
  readonly #madeBy = new NameLists('policy', 'recipe');
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
