/**
 * Runs several calls of a generator concurrently, with backpressure. The caller takes one event at a time, and a call
 * reads its next event only after the caller has processed the previous one. A slow caller therefore slows every call,
 * and a stopped call yields nothing more.
 */
import type { GenerationEnd, GenerationEvent, GenerationRequest, Generator } from './generator.ts';

export type ConcurrencyOptions = {
  /** Time limit of all calls together, in milliseconds from the start of the first. */
  readonly deadline_ms: number;
  readonly signal: AbortSignal;
  /** Returns the time of a clock, in milliseconds. */
  readonly elapsed: () => number;
  /** Maximum number of calls in flight, at least 1. */
  readonly maxConcurrent: number;
};

/** One step of one call: an event, or the end of the call. */
type CallStep =
  | { readonly call: number; readonly event: GenerationEvent }
  | { readonly call: number; readonly end: GenerationEnd };

type Running = {
  readonly iterator: AsyncGenerator<GenerationEvent, GenerationEnd>;
  readonly abort: AbortController;
  /** The result of the pending `iterator.next()`. */
  readonly next: Promise<IteratorResult<GenerationEvent, GenerationEnd>>;
};

const STOPPED: GenerationEnd = { ok: true };

export class Calls {
  readonly #generator: Generator;
  readonly #options: ConcurrencyOptions;
  readonly #waiting: IterableIterator<[number, GenerationRequest]>;
  readonly #running = new Map<number, Running>();
  readonly #started: number;
  /** The call whose event `next` returned last. */
  #dealing: { readonly call: number; readonly running: Running } | null = null;

  constructor(generator: Generator, requests: readonly GenerationRequest[], options: ConcurrencyOptions) {
    this.#generator = generator;
    this.#options = options;
    this.#waiting = requests.entries();
    this.#started = options.elapsed();
  }

  /**
   * Returns the next step of any call; `null` = all calls have ended. Calling `next` again says that the caller has
   * processed the last event.
   */
  async next(): Promise<CallStep | null> {
    this.#fill();
    if (this.#running.size === 0) return null;
    const steps = [...this.#running].map(([call, { next }]) => next.then((step) => ({ call, step })));
    const { call, step } = await Promise.race(steps);
    const running = this.#running.get(call);
    if (running === undefined) throw new Error('Calls: a step of a call that is not running');
    // Reinserting moves the call to the end of the order, so a fast call cannot starve the others.
    this.#running.delete(call);
    if (step.done === true) return { call, end: step.value };
    this.#dealing = { call, running };
    return { call, event: step.value };
  }

  /** Stops the call whose event `next` returned last, and frees its backend. */
  stop(): Promise<unknown> {
    const dealing = this.#dealing;
    if (dealing === null) throw new Error('Calls: stop() before an event was returned');
    this.#dealing = null;
    dealing.running.abort.abort();
    return dealing.running.iterator.return(STOPPED);
  }

  /** Stops all calls and waits until their backends are free. */
  async end(): Promise<void> {
    const all = [...this.#running.values()];
    if (this.#dealing !== null) all.push(this.#dealing.running);
    this.#running.clear();
    this.#dealing = null;
    for (const { abort } of all) abort.abort();
    // A pending `next` settles first; its result is dropped.
    await Promise.allSettled(all.flatMap(({ iterator, next }) => [next, iterator.return(STOPPED)]));
  }

  #fill(): void {
    if (this.#dealing !== null) {
      const { call, running } = this.#dealing;
      this.#dealing = null;
      this.#running.set(call, asked(running));
    }
    while (this.#running.size < this.#options.maxConcurrent) {
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
  // `Promise.race` observes the rejection later, or never after a stop; this handler keeps it from being reported as
  // unhandled.
  next.catch(() => undefined);
  return { iterator, abort, next };
}
