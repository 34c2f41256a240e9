/** Shows how many judge calls run, and for how long, while a command waits for them. */
import { countOf, durationText } from './number-text.ts';

/** Shorter calls are not worth a word. */
const SHOWN_AFTER_MS = 5_000;
const SHOWN_EVERY_MS = 1_000;

export class RunningJudges {
  readonly #show: (text: string) => void;
  /** When each call began. */
  readonly #began = new Set<{ readonly at_ms: number }>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** @param show receives a text for people every second while a call takes long. */
  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  /** Notes a call that has been running for `since_ms`. Returns the function that ends it. */
  begin(since_ms = 0): () => void {
    const call = { at_ms: performance.now() - since_ms };
    this.#began.add(call);
    this.#timer ??= setInterval(() => this.#tell(), SHOWN_EVERY_MS);
    return () => {
      this.#began.delete(call);
      if (this.#began.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  #tell(): void {
    const longest_ms = performance.now() - Math.min(...[...this.#began].map(({ at_ms }) => at_ms));
    if (longest_ms < SHOWN_AFTER_MS) return;
    this.#show(
      `${countOf(this.#began.size, 'judge call')} running, the longest for ${durationText(longest_ms / 1000)}`,
    );
  }
}
