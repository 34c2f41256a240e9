/**
 * Drives the agent loop: generates turns, runs code, and reports both to an observer. It stops when the caller
 * disconnects or the deadline passes. Events are handled one at a time, so a slow reader slows the model.
 */

import { Lifetime } from '../lib/model-servers/calls/lifetime.ts';
import type { AgentLoop, AgentStep } from '../src/agent/loop.ts';
import type { GenerationEnd, GenerationEvent, Generator } from '../src/generation/generator.ts';
import type { AgentEventData, AgentEventName } from '../src/wire/agent-reply.ts';
import type { CodeRunner } from './backends/code-runner.ts';

/** Deadline of one turn: all 20,480 response tokens at 70 tokens per second. */
const AGENT_TURN_DEADLINE_MS = 5 * 60 * 1000;

/** Receives the events of a trajectory. */
export type AgentObserver = {
  readonly send: <Name extends AgentEventName>(name: Name, data: AgentEventData[Name]) => void;
  /** Resolves when the observer can receive more events. */
  readonly room: () => Promise<void>;
};

export const NO_OBSERVER: AgentObserver = { send: () => undefined, room: async () => undefined };

export type LoopOptions = {
  readonly generator: Generator;
  readonly runCode: CodeRunner;
  readonly observer: AgentObserver;
  /** Aborts when the caller has disconnected. */
  readonly caller: AbortSignal;
  /** For the whole trajectory, in milliseconds. */
  readonly deadline_ms: number;
  /** A clock in milliseconds. */
  readonly elapsed: () => number;
};

/** Runs the loop until it stops. */
export async function runTrajectory(loop: AgentLoop, options: LoopOptions): Promise<void> {
  const driver = new Driver(loop, options);
  try {
    await driver.run();
  } finally {
    driver.end();
  }
}

class Driver {
  readonly #loop: AgentLoop;
  readonly #options: LoopOptions;
  readonly #life: Lifetime;
  readonly #started: number;
  /** How many messages the observer has received. */
  #sent = 0;
  #turnsEnded = 0;

  constructor(loop: AgentLoop, options: LoopOptions) {
    this.#loop = loop;
    this.#options = options;
    this.#started = options.elapsed();
    this.#life = new Lifetime(options.deadline_ms, [options.caller]);
  }

  async run(): Promise<void> {
    for (;;) {
      const { step } = this.#loop;
      if (step.kind === 'stopped') return;
      if (!this.#ended()) {
        if (step.kind === 'generate') await this.#generate(step);
        else await this.#runCode(step);
      }
      this.#sendNew();
      await this.#room();
    }
  }

  end(): void {
    this.#life.end();
  }

  /** Stops the loop if the caller has disconnected or the deadline has passed, and returns whether it did. */
  #ended(): boolean {
    if (this.#options.caller.aborted) this.#loop.stop('caller_gone');
    else if (this.#life.signal.aborted || this.#left() <= 0) this.#loop.stop('deadline');
    else return false;
    return true;
  }

  #left(): number {
    const { deadline_ms, elapsed } = this.#options;
    return deadline_ms - (elapsed() - this.#started);
  }

  async #generate({ turn, request }: Extract<AgentStep, { kind: 'generate' }>): Promise<void> {
    const { generator, observer } = this.#options;
    const { signal } = this.#life;
    observer.send('turn', { turn });
    const events = generator.generate(request, { deadline_ms: AGENT_TURN_DEADLINE_MS, signal });
    let end: GenerationEnd | null = null;
    try {
      while (end === null && !signal.aborted) {
        const next = await events.next();
        if (next.done === true) end = next.value;
        else await this.#take(turn, next.value);
      }
    } finally {
      // Releases the backend if the loop ended before the generation.
      if (end === null) await events.return({ ok: true });
    }
    // A backend call fails, too, if the caller or the deadline aborted it; that is no failure of the backend.
    if (end === null) this.#ended();
    else if (end.ok || !this.#ended()) this.#loop.generated(end);
  }

  async #take(turn: number, event: GenerationEvent): Promise<void> {
    const { observer } = this.#options;
    this.#loop.take(event);
    if (event.type === 'text' && event.text !== '') observer.send('delta', { turn, text: event.text });
    if (event.type === 'thinking' && event.text !== '') observer.send('thinking', { turn, text: event.text });
    await this.#room();
  }

  /** Waits for a caller who stopped reading without disconnecting, until the deadline at the latest. */
  async #room(): Promise<void> {
    await this.#life.during(this.#options.observer.room());
  }

  async #runCode({ run }: Extract<AgentStep, { kind: 'run' }>): Promise<void> {
    const ran = await this.#life.during(this.#options.runCode(run, this.#life.signal));
    // A run fails, too, if the caller or the deadline aborted it; that is no failure of the sandbox.
    if (ran.ended) this.#ended();
    else if (ran.value.ok || !this.#ended()) this.#loop.ran(ran.value);
  }

  /** Sends the messages since the last call. A turn has ended when no code of it is left to run. */
  #sendNew(): void {
    const { observer } = this.#options;
    const { messages, step } = this.#loop;
    for (const message of messages.slice(this.#sent)) {
      const { turn } = message;
      if (message.role === 'tool') {
        const { role: _role, ...result } = message;
        observer.send('tool_result', result);
        continue;
      }
      for (const [position, call] of message.tool_calls.entries()) {
        const code = position === 0 && step.kind === 'run' ? step.run.code : null;
        observer.send('tool_call', { ...call, turn, code });
      }
    }
    this.#sent = messages.length;
    if (step.kind === 'run') return;
    const last = messages.findLast((message) => message.role === 'assistant');
    if (last === undefined || last.role !== 'assistant' || last.turn === this.#turnsEnded) return;
    this.#turnsEnded = last.turn;
    observer.send('turn_end', { turn: last.turn, finish_reason: last.finish_reason, tokens: last.tokens });
  }
}
