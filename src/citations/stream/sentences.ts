/**
 * Where the sentence began that a marker stands in, for a text that is read marker by marker. The splitter looks at each
 * stretch once, when the marker behind it is complete; markers count as spaces (markers.ts), so that what it needs to see
 * ahead is there, or is white space and does not matter yet.
 */
import { isSpace } from '../../text/characters.ts';
import { SENTENCE_LOOKBACK, type SentenceState, settleSentence, splitFurther } from '../../text/sentences.ts';
import type { Span } from '../../text/span.ts';

export class SentenceStarts {
  /** The masked text that may still be looked at, and where it stands in the response. */
  #text = '';
  #base: number;
  #state: SentenceState | null = null;
  /** Where the last sentence began that has ended. */
  #lastStart: number;

  constructor(start: number) {
    this.#base = start;
    this.#lastStart = start;
  }

  /** Adds the next stretch of text, and `mask` spaces for the markers behind it. */
  add(stretch: string, mask: number): void {
    this.#text += stretch + ' '.repeat(mask);
  }

  /**
   * Where the last sentence begins that begins before `place`. The text up to there was added with at least one space
   * behind it, and its last stretch holds something else than white space.
   */
  before(place: number): number {
    const text = this.#text;
    const end = place - this.#base + 1;
    const state = this.#state ?? firstLine(text, end);
    const ended: Span[] = [];
    splitFurther(text, end, false, state, ended);
    const last = ended.at(-1);
    if (last !== undefined) this.#lastStart = this.#base + last.start;
    settleSentence(text, state);
    // What is open began at `from`, unless only white space stands between that and the markers.
    const open = firstNonSpace(text, state.from, end);
    const start = open < end ? this.#base + open : this.#lastStart;
    this.#drop(state);
    return start;
  }

  #drop(state: SentenceState): void {
    const dropped = Math.max(0, state.at - SENTENCE_LOOKBACK);
    this.#text = this.#text.slice(dropped);
    this.#base += dropped;
    state.from -= dropped;
    state.at -= dropped;
    state.lineStart -= dropped;
    this.#state = state;
  }
}

function firstLine(text: string, end: number): SentenceState {
  const at = firstNonSpace(text, 0, end);
  return { from: 0, at, lineStart: at, blockLine: null };
}

function firstNonSpace(text: string, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i;
}
