/**
 * Runs due work with bounded concurrency until nothing is due. SQLite holds the work; the loop only knows what runs
 * now. Each object has one loop, so that no work runs twice at the same time.
 */
import { describeError } from '../../service/error-log.ts';
import { logEvent } from '../log-event.ts';

/** One due item, with the size of its body in bytes. */
export type DueWork = { id: string; bytes: number };

/** One kind of work with its own concurrency limits. */
export type WorkKind = {
  readonly name: string;
  /** Concurrent runs, and the bytes that they may hold together. An item above the byte limit runs alone. */
  readonly maxRunning: number;
  readonly maxRunningBytes: number;
  /** Returns due items, the most overdue first. Running items are included. */
  readonly due: (now: number, limit: number) => readonly DueWork[];
  readonly run: (id: string) => Promise<void>;
  /** Ends or postpones an item whose run threw; otherwise it would be due again immediately. */
  readonly onThrow: (id: string, error: unknown) => void;
};

type Running = { readonly kind: WorkKind; readonly bytes: number; readonly done: Promise<void> };

export class WorkLoop {
  readonly #kinds: readonly WorkKind[];
  readonly #now: () => number;
  readonly #running = new Map<string, Running>();
  #loop: Promise<void> | null = null;
  #poked = Promise.withResolvers<void>();

  constructor(kinds: readonly WorkKind[], now: () => number) {
    this.#kinds = kinds;
    this.#now = now;
  }

  get isRunning(): boolean {
    return this.#loop !== null;
  }

  /** Makes a running loop look for due work again. */
  poke(): void {
    this.#poked.resolve();
  }

  /**
   * Runs until nothing runs and nothing is due. After `until` (milliseconds since 1970) it starts no new work. A second
   * call joins the running loop.
   */
  async run(until: number): Promise<void> {
    this.poke();
    this.#loop ??= this.#work(until).finally(() => {
      this.#loop = null;
    });
    return this.#loop;
  }

  async #work(until: number): Promise<void> {
    for (;;) {
      this.#poked = Promise.withResolvers<void>();
      if (this.#now() < until) for (const kind of this.#kinds) this.#start(kind);
      if (this.#running.size === 0) return;
      await Promise.race([this.#poked.promise, ...[...this.#running.values()].map(({ done }) => done)]);
    }
  }

  #start(kind: WorkKind): void {
    const own = [...this.#running.values()].filter((running) => running.kind === kind);
    let count = own.length;
    let bytes = own.reduce((sum, running) => sum + running.bytes, 0);
    for (const work of kind.due(this.#now(), kind.maxRunning + own.length)) {
      if (this.#running.has(work.id)) continue;
      if (count > 0 && (count >= kind.maxRunning || bytes + work.bytes > kind.maxRunningBytes)) return;
      count++;
      bytes += work.bytes;
      this.#running.set(work.id, { kind, bytes: work.bytes, done: this.#runOne(kind, work.id) });
    }
  }

  async #runOne(kind: WorkKind, id: string): Promise<void> {
    // Yields once, so that the item is in the map before its run can end.
    await Promise.resolve();
    try {
      await kind.run(id);
    } catch (error) {
      // A bug or a storage failure.
      logEvent('error', { event: 'webhook_work_failed', work: kind.name, id, ...describeError(error) });
      kind.onThrow(id, error);
    } finally {
      this.#running.delete(id);
    }
  }
}
