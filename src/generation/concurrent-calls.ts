/**
 * Calls of a generator that run side by side. Each event is taken from one call at a time, and a call is asked for its next
 * piece only when its last one was dealt with: a slow reader slows them all, and one that is stopped says no more.
 */
import type { GenerationEnd, GenerationEvent, GenerationRequest, Generator } from './generator.ts';

export type CallOptions = {
  /** For all calls together, from the first on. */
  readonly deadline_ms: number;
  readonly signal: AbortSignal;
  /** A clock in milliseconds. */
  readonly elapsed: () => number;
  /** Calls under way at a time, at least 1. */
  readonly at_once: number;
};

/** One step of one call: an event, or its end. */
export type CallStep =
  | { readonly call: number; readonly event: GenerationEvent }
  | { readonly call: number; readonly end: GenerationEnd };

type Running = {
  readonly iterator: AsyncGenerator<GenerationEvent, GenerationEnd>;
  readonly abort: AbortController;
  /** The piece that was asked for. */
  readonly next: Promise<IteratorResult<GenerationEvent, GenerationEnd>>;
};

const STOPPED: GenerationEnd = { ok: true };

export class Calls {
  readonly #generator: Generator;
  readonly #options: CallOptions;
  readonly #waiting: IterableIterator<[number, GenerationRequest]>;
  readonly #running = new Map<number, Running>();
  readonly #started: number;
  /** The call whose event was returned last. */
  #dealing: { readonly call: number; readonly running: Running } | null = null;

  constructor(generator: Generator, requests: readonly GenerationRequest[], options: CallOptions) {
    this.#generator = generator;
    this.#options = options;
    this.#waiting = requests.entries();
    this.#started = options.elapsed();
  }

  /** The next step of any call; `null` = all have ended. A step is dealt with before the next one is asked for. */
  async next(): Promise<CallStep | null> {
    this.#fill();
    if (this.#running.size === 0) return null;
    const steps = [...this.#running].map(([call, { next }]) => next.then((step) => ({ call, step })));
    const { call, step } = await Promise.race(steps);
    const running = this.#running.get(call);
    if (running === undefined) throw new Error('Calls: a step of a call that is not running');
    // Behind the others, so that a fast one leaves them their turn.
    this.#running.delete(call);
    if (step.done === true) return { call, end: step.value };
    this.#dealing = { call, running };
    return { call, event: step.value };
  }

  /** Stops the call whose event was returned last: nothing more is read of it, and its backend is free. */
  stop(): Promise<unknown> {
    const dealing = this.#dealing;
    if (dealing === null) throw new Error('Calls: no event is being dealt with');
    this.#dealing = null;
    dealing.running.abort.abort();
    return dealing.running.iterator.return(STOPPED);
  }

  /** Stops all calls. */
  async end(): Promise<void> {
    const all = [...this.#running.values()];
    if (this.#dealing !== null) all.push(this.#dealing.running);
    this.#running.clear();
    this.#dealing = null;
    for (const { abort } of all) abort.abort();
    // A piece that was asked for comes or fails first; what it holds is nobody's any more.
    await Promise.allSettled(all.flatMap(({ iterator, next }) => [next, iterator.return(STOPPED)]));
  }

  #fill(): void {
    if (this.#dealing !== null) {
      const { call, running } = this.#dealing;
      this.#dealing = null;
      this.#running.set(call, asked(running));
    }
    while (this.#running.size < this.#options.at_once) {
      const { done, value } = this.#waiting.next();
      if (done === true) return;
      const [call, request] = value;
      this.#running.set(call, this.#start(request));
    }
  }

  #start(request: GenerationRequest): Running {
    const { deadline_ms, signal, elapsed } = this.#options;
    const abort = new AbortController();
    const iterator = this.#generator.generate(request, {
      deadline_ms: Math.max(0, deadline_ms - (elapsed() - this.#started)),
      signal: AbortSignal.any([signal, abort.signal]),
    });
    return asked({ iterator, abort });
  }
}

function asked({ iterator, abort }: Pick<Running, 'iterator' | 'abort'>): Running {
  const next = iterator.next();
  // Its rejection is seen when its turn comes, or not at all once everything is stopped; until then it is not unhandled.
  next.catch(() => undefined);
  return { iterator, abort, next };
}
