/**
 * Does what is due, a bounded number at once, until nothing is. What is to be done stands in SQLite; this only knows what
 * runs now. There is one loop an object, whoever starts it, so that nothing runs twice at once.
 */

/** Something that is due, with its size in bytes. */
export type DueWork = { id: string; bytes: number };

/** One kind of work. */
export type Lane = {
  readonly name: string;
  /** How many at once, and how many bytes; a larger one alone. */
  readonly atOnce: number;
  readonly bytesAtOnce: number;
  /** The most overdue first. What runs is still due. */
  readonly due: (now: number, limit: number) => readonly DueWork[];
  readonly run: (id: string) => Promise<void>;
  /** The run threw: it has to be put off, or it would be due again at once. */
  readonly broke: (id: string) => void;
};

type Running = { readonly lane: Lane; readonly bytes: number; readonly done: Promise<void> };

export class WorkLoop {
  readonly #lanes: readonly Lane[];
  readonly #now: () => number;
  readonly #running = new Map<string, Running>();
  #loop: Promise<void> | null = null;
  #poked = Promise.withResolvers<void>();

  constructor(lanes: readonly Lane[], now: () => number) {
    this.#lanes = lanes;
    this.#now = now;
  }

  get isRunning(): boolean {
    return this.#loop !== null;
  }

  /** There may be more to do: a loop that runs looks again. */
  poke(): void {
    this.#poked.resolve();
  }

  /** Resolves when nothing runs and nothing is due, or, after `until`, when nothing runs. Joins a loop that runs. */
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
      if (this.#now() < until) for (const lane of this.#lanes) this.#start(lane);
      if (this.#running.size === 0) return;
      await Promise.race([this.#poked.promise, ...[...this.#running.values()].map(({ done }) => done)]);
    }
  }

  #start(lane: Lane): void {
    const own = [...this.#running.values()].filter((running) => running.lane === lane);
    let count = own.length;
    let bytes = own.reduce((sum, running) => sum + running.bytes, 0);
    for (const work of lane.due(this.#now(), lane.atOnce + own.length)) {
      if (this.#running.has(work.id)) continue;
      if (count > 0 && (count >= lane.atOnce || bytes + work.bytes > lane.bytesAtOnce)) return;
      count++;
      bytes += work.bytes;
      this.#running.set(work.id, { lane, bytes: work.bytes, done: this.#runOne(lane, work.id) });
    }
  }

  async #runOne(lane: Lane, id: string): Promise<void> {
    // After this turn, so that it is in the map before it can be over.
    await Promise.resolve();
    try {
      await lane.run(id);
    } catch (error) {
      // A bug, or a storage that is down: the message may quote content and stays out of the log.
      const name = error instanceof Error ? error.name : typeof error;
      console.error(JSON.stringify({ event: 'webhook_work_failed', work: lane.name, id, error: name }));
      lane.broke(id);
    } finally {
      this.#running.delete(id);
    }
  }
}
