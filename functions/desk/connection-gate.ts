/**
 * The connections of one desk that wait for response headers. A Durable Object has six; a call over them would wait in
 * the platform, unseen, while its time limit runs. Calls enter first come first served; writes to KV go ahead of them,
 * because the desk may not make judgments faster than it can store them.
 */
import type { Connections } from '../../src/judgments/connections.ts';

/** Calls that wait for their headers. The sixth connection is left to reads of KV and to calls of other objects. */
export const MAX_CALLS_WITHOUT_HEADERS = 5;

export class ConnectionGate implements Connections {
  readonly #limit: number;
  #open = 0;
  readonly #ahead = new Set<() => void>();
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  enter(): Promise<() => void> {
    return this.#enter(this.#waiting);
  }

  /** Calls that wait for a connection. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Enters before all calls that wait. */
  enterAhead(): Promise<() => void> {
    return this.#enter(this.#ahead);
  }

  #enter(queue: Set<() => void>): Promise<() => void> {
    return new Promise((resolve) => {
      queue.add(() => resolve(this.#leaving()));
      this.#grant();
    });
  }

  /** Returns the function with which a call leaves; it works once. */
  #leaving(): () => void {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.#open--;
      this.#grant();
    };
  }

  #grant(): void {
    for (const queue of [this.#ahead, this.#waiting]) {
      for (const grant of queue) {
        if (this.#open >= this.#limit) return;
        queue.delete(grant);
        this.#open++;
        grant();
      }
    }
  }
}

/** Called once for each connection, when the headers have arrived. Both times are in milliseconds. */
type OnHeaders = (times: { readonly waited_ms: number; readonly headers_ms: number }) => void;

/** The connections of one judge call. They know whether the call works or waits, for the desk's own time limit. */
export class CallConnections implements Connections {
  readonly #gate: ConnectionGate;
  readonly #now: () => number;
  readonly #onHeaders: OnHeaders;
  #waiting = 0;
  #since: number;

  /** @param now a clock in milliseconds. */
  constructor(gate: ConnectionGate, now: () => number, onHeaders: OnHeaders) {
    this.#gate = gate;
    this.#now = now;
    this.#onHeaders = onHeaders;
    this.#since = now();
  }

  /** Milliseconds since the call began or last got a connection; 0 while it waits for one. */
  get quiet_ms(): number {
    return this.#waiting > 0 ? 0 : this.#now() - this.#since;
  }

  async enter(): Promise<() => void> {
    this.#waiting++;
    const asked = this.#now();
    const leave = await this.#gate.enter();
    this.#waiting--;
    const entered = this.#now();
    this.#since = entered;
    let inside = true;
    return () => {
      if (inside) this.#onHeaders({ waited_ms: entered - asked, headers_ms: this.#now() - entered });
      inside = false;
      leave();
    };
  }
}
