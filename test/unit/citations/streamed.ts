/** Runs the incremental verifier over a text in chunks, and selects the events that are valid in the end. */

import type { ClaimEvent, FindingEvent, StreamEvent } from '../../../src/citations/stream/events.ts';
import {
  createIncrementalVerifier,
  type FinishedVerification,
  type IncrementalOptions,
} from '../../../src/citations/stream/verifier.ts';

export type Streamed = FinishedVerification & {
  /** All events, with those of `finish`. */
  readonly all: readonly StreamEvent[];
  /**
   * Length of the text that was pushed when each event came; the length of the text plus one for events of `finish`.
   */
  readonly at: readonly number[];
};

export function stream(pieces: Iterable<string>, options: IncrementalOptions): Streamed {
  const verifier = createIncrementalVerifier(options);
  const all: StreamEvent[] = [];
  const at: number[] = [];
  let pushed = 0;
  for (const piece of pieces) {
    pushed += piece.length;
    for (const event of verifier.push(piece)) {
      all.push(event);
      at.push(pushed);
    }
  }
  const finished = verifier.finish();
  for (const event of finished.events) {
    all.push(event);
    at.push(pushed + 1);
  }
  return { ...finished, all, at };
}

/** Splits `text` before each of `places`. */
export function cut(text: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places.filter((place) => place > 0 && place < text.length))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, n) => text.slice(from, sorted[n] ?? text.length));
}

export type Standing = { readonly claims: readonly ClaimEvent[]; readonly findings: readonly FindingEvent[] };

/** Selects the events that are valid by the rules of events.ts. */
export function standing(events: readonly StreamEvent[]): Standing {
  const judgements = events.flatMap((event) =>
    event.type === 'answer' && event.state === 'judged' ? [event.answer] : [],
  );
  if (judgements.length !== 1) throw new Error(`${judgements.length} answers are judged`);
  const [judged] = judgements;
  const counts = events.filter(
    (event): event is FindingEvent => event.type === 'finding' && (event.answer === null || event.answer === judged),
  );
  const unclosed = new Set(counts.flatMap((event) => (event.reason === 'citation_unclosed' ? [event.citation] : [])));
  const unread = (event: FindingEvent): boolean =>
    event.reason !== 'citation_unclosed' && event.reason !== 'citation_nested' && unclosed.has(event.citation);
  const isAnswered = !counts.some(({ reason }) => reason === 'no_answer');
  return {
    claims: events.filter(
      (event): event is ClaimEvent => event.type === 'claim' && event.answer === judged && isAnswered,
    ),
    findings: counts.filter((event) => event.citation === null || !unread(event)),
  };
}
