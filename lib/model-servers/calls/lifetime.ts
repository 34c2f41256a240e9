/**
 * The lifetime of a generation: it ends at the deadline, at the caller's signal, or when the generation ends. Every
 * wait of the generation ends with it, and calls that listen to its signal (`fetch`, and with it the work of the GPU)
 * are aborted.
 */

import type { GenerationEnd, GenerationEvent } from '../../../src/generation/generator.ts';
import { backendFault, brokenGeneration, type SharedFault } from './failures.ts';

/** The result of a wait. `ended` = the lifetime ended first. */
type Waited<T> = { readonly ended: false; readonly value: T } | { readonly ended: true };

export class Lifetime {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #callers: readonly AbortSignal[];
  readonly #leave = (): void => this.#controller.abort();
  #expired = false;

  /** @param callers signals, any of which ends the lifetime. */
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

  /** Aborts when the lifetime ends, for any reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the generation is incomplete. Valid once the lifetime has ended. */
  get fault(): SharedFault {
    return this.#expired
      ? backendFault('timeout', 'the backend had not finished its reply at the deadline')
      : backendFault('interrupted', 'the generation was stopped');
  }

  /**
   * Waits for the work or for the end of the lifetime. Rejects if the work rejects in time; a later rejection is
   * ignored.
   * @param discard frees a value that arrives too late.
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

  /** Ends the lifetime and aborts everything that still listens to its signal. */
  end(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#callers) signal.removeEventListener('abort', this.#leave);
    this.#controller.abort();
  }
}

export type Generation = AsyncGenerator<GenerationEvent, GenerationEnd>;

type Options = { readonly deadline_ms: number; readonly signal: AbortSignal };

/**
 * Creates a generation whose lifetime starts with its first `next`. In a plain async generator `return` waits for a
 * pending `next`, which may be waiting for a token; here `return` ends the lifetime first.
 */
export function generationWithin({ deadline_ms, signal }: Options, work: (life: Lifetime) => Generation): Generation {
  const returned = new AbortController();
  const inner = (async function* () {
    const life = new Lifetime(deadline_ms, [signal, returned.signal]);
    try {
      // A caller that left before the first call pays nothing.
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
