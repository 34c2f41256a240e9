/**
 * How long a generation may work: until its deadline, its caller's signal, or its end. Whatever it waits for, it waits no
 * longer than that; what listens to the signal (fetch, and with it the GPU's work) is aborted at once.
 */

import type { GenerationEnd, GenerationEvent } from '../../../src/generation/generator.ts';
import { backendFault, brokenGeneration, type SharedFault } from './failures.ts';

/** A wait that is over. `ended`: the lifetime was over first. */
export type Waited<T> = { readonly ended: false; readonly value: T } | { readonly ended: true };

export class Lifetime {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #callers: readonly AbortSignal[];
  readonly #leave = (): void => this.#controller.abort();
  #expired = false;

  /** @param callers any of which ends it. */
  constructor(deadline_ms: number, callers: readonly AbortSignal[]) {
    this.#callers = callers;
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#controller.abort();
    }, deadline_ms);
    for (const signal of callers) {
      if (signal.aborted) this.#controller.abort();
      signal.addEventListener('abort', this.#leave);
    }
  }

  /** Aborts when the lifetime is over, for whatever reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the generation is not whole, once its lifetime is over. */
  get fault(): SharedFault {
    return this.#expired
      ? backendFault('timeout', 'the backend had not finished its reply at the deadline')
      : backendFault('interrupted', 'the generation was stopped');
  }

  /**
   * Waits for the work or the end of the lifetime, whichever is first. A rejection of the work that comes in time is its
   * own; what comes too late is nobody's.
   * @param discard frees a value that came too late.
   */
  during<T>(work: Promise<T>, discard?: (late: T) => void): Promise<Waited<T>> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const over = (): void => resolve({ ended: true });
      if (signal.aborted) over();
      signal.addEventListener('abort', over);
      work
        .then(
          (value) => {
            if (signal.aborted) discard?.(value);
            resolve({ ended: false, value });
          },
          (error: unknown) => reject(error),
        )
        .finally(() => signal.removeEventListener('abort', over));
    });
  }

  /** Frees everything that still works for it. */
  end(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#callers) signal.removeEventListener('abort', this.#leave);
    this.#controller.abort();
  }
}

export type Generation = AsyncGenerator<GenerationEvent, GenerationEnd>;

type Options = { readonly deadline_ms: number; readonly signal: AbortSignal };

/**
 * A generation within a lifetime that begins with its first `next`. An async generator by itself would let `return` wait
 * for a `next` under way, which may be waiting for a token; this one ends the lifetime first.
 */
export function generationWithin({ deadline_ms, signal }: Options, work: (life: Lifetime) => Generation): Generation {
  const returned = new AbortController();
  const inner = (async function* () {
    const life = new Lifetime(deadline_ms, [signal, returned.signal]);
    try {
      // Who has left before it began pays for nothing.
      if (life.signal.aborted) return brokenGeneration(life.fault);
      return yield* work(life);
    } finally {
      life.end();
    }
  })();
  return {
    next: () => inner.next(),
    return: (end) => {
      returned.abort();
      return inner.return(end);
    },
    throw: (error: unknown) => {
      returned.abort();
      return inner.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      returned.abort();
      await inner.return({ ok: true });
    },
  };
}
