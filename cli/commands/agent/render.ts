/** Shows a trajectory of `citeward agent` while it streams, and prints the results and the summary. */
import type { AgentStreamEvent } from '../../../clients/typescript/agent.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { AgentResponse } from '../../../src/wire/agent-reply.ts';
import { countOf, countText, durationText } from '../../shared/number-text.ts';
import { LiveLine } from '../../shared/progress.ts';
import type { Screen } from '../../shared/screen.ts';
import type { Colour } from '../../shared/style.ts';
import { RowsSummary, recipeText } from '../../shared/summary.ts';
import { fitText } from '../../shared/text-width.ts';

/** The events of a trajectory that TrajectoryView shows. */
export type TrajectoryEvent = Exclude<AgentStreamEvent, { readonly event: 'done' | 'error' | 'lost' }>;

const OPENING = '<tool_call>';

const CLOSING = '</tool_call>';

const INDENT = '  ';

type Channel = 'text' | 'thinking';

/**
 * Prints a trajectory line by line: the text of the policy, the code it runs and the output of the code. A tool call is
 * shown as its parsed code instead of its JSON. On a terminal the unfinished line is redrawn below.
 */
export class TrajectoryView {
  readonly #screen: Screen;
  readonly #live: LiveLine;
  /** The unfinished line, and its channel. */
  #open = '';
  #channel: Channel = 'text';
  /** Lines of an unfinished tool call; `null` outside of a call. */
  #held: string[] | null = null;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.#live = new LiveLine(screen.errors, 0);
    screen.show(this.#live);
  }

  /** Prints the question of the row. */
  begin(text: string): Promise<void> {
    return this.#print(fitText(plainLine(text), this.#screen.width), 'bold', '');
  }

  async show(event: TrajectoryEvent): Promise<void> {
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

  /** Erases the redrawn line, so that other output can be printed. */
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
    this.#live.update((columns) => `${INDENT}${isCall ? 'writing a call …' : lastOf(this.#open, columns)}`);
  }

  /** Prints a complete line of the policy without the calls in it. */
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
      if (start === -1) return this.#printText(rest);
      if (rest.slice(0, start).trim() !== '') await this.#printText(rest.slice(0, start));
      this.#held = [];
      rest = rest.slice(start + OPENING.length);
    }
  }

  /** Prints the unfinished line. A call without its closing tag is no call, and its text is printed. */
  async #flush(): Promise<void> {
    const open = this.#open;
    this.#open = '';
    if (open !== '') await this.#line(open);
    const held = this.#held;
    this.#held = null;
    if (held !== null) for (const line of [OPENING, ...held]) await this.#printText(line);
  }

  #printText(line: string): Promise<void> {
    return this.#print(shown(line), this.#channel === 'thinking' ? 'dim' : null, INDENT.repeat(2));
  }

  async #call({ name, problem, code }: Extract<TrajectoryEvent, { event: 'tool_call' }>['data']): Promise<void> {
    if (problem !== null) return this.#print(`✗ malformed call: ${problem}`, 'yellow', INDENT);
    if (code === null) return this.#print('- another call of the same turn, not run', 'dim', INDENT);
    await this.#print(`> ${plainLine(name ?? '')}`, 'bold', INDENT);
    for (const line of code.split('\n')) await this.#print(shown(line), null, `${INDENT}| `);
  }

  async #result(result: Extract<TrajectoryEvent, { event: 'tool_result' }>['data']): Promise<void> {
    const { outcome, content, raw_chars, truncated, shown: wasShown } = result;
    const parts = [
      outcome,
      `${countOf(raw_chars, 'character')}${truncated ? ', cut' : ''}`,
      ...(wasShown ? [] : ['hidden from the policy: it exceeds the response budget']),
    ];
    await this.#print(`< ${parts.join(' · ')}`, outcome === 'finished' ? 'green' : 'yellow', INDENT);
    for (const line of content.replace(/\n$/, '').split('\n')) await this.#print(shown(line), null, `${INDENT}| `);
  }

  #print(text: string, colour: Colour | null, indent: string): Promise<void> {
    const line = `${indent}${text}`.trimEnd();
    return this.#screen.result(this.#screen.resultStyle(colour, line));
  }
}

/** A line without control characters, with its indentation. */
function shown(line: string): string {
  const indent = line.length - line.replace(/^[ \t]+/, '').length;
  return `${line.slice(0, indent).replaceAll('\t', '    ')}${plainLine(line)}`;
}

/** The end of the unfinished line, within `columns`. */
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
    `${countOf(turns, 'turn')}, num_turns ${num_turns}`,
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

export class AgentSummary extends RowsSummary<AgentResponse, 'policy' | 'recipe'> {
  #trajectories = 0;
  #turns = 0;
  #programs = 0;

  constructor() {
    super(['not_asked', 'judgment_skipped'], ['policy', 'recipe']);
  }

  protected addReply({ trajectory, reward, reason, score, model, failure }: AgentResponse): void {
    this.#trajectories++;
    this.addName('policy', model);
    for (const message of trajectory.messages) {
      if (message.role === 'assistant') this.#turns++;
      else if (message.outcome !== 'bad_call' && message.outcome !== 'not_run') this.#programs++;
    }
    if (score !== null) this.addName('recipe', recipeText(score.recipe));
    this.addReward(reward, failure?.reason ?? reason);
  }

  text(seconds: number): string {
    const parts = [
      countOf(this.#trajectories, 'trajectory', 'trajectories'),
      countOf(this.#turns, 'turn'),
      countOf(this.#programs, 'program'),
      ...this.meanText(),
    ];
    for (const [reason, count] of this.unscored) {
      if (reason !== 'not_asked') parts.push(`${countText(count)} ${reason}`);
    }
    return [...parts, ...this.badLinesText(), durationText(seconds)].join(' · ');
  }
}
