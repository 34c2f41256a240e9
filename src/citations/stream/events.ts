/**
 * What an incremental verification reports. An event is sent as soon as no later text of its answer can take it back, and
 * stands unless the response breaks off or goes on in a way that the batch parser reads otherwise:
 *
 * - An event with an `answer` (its ordinal) stands if that answer is the judged one; the `judged` event says which is.
 * - A finding about a `citation` stands unless `citation_unclosed` is reported for the same citation: the batch parser
 *   does not read the ids of a citation that is never closed. (`citation_nested` and `citation_unclosed` themselves stand.)
 * - A claim stands unless `no_answer` is reported: an answer of which nothing is left without markup has no claims.
 */
import { MAX_FINDINGS } from '../../limits.ts';
import type { Span } from '../../text/span.ts';
import type { FindingSink } from '../findings.ts';
import type { LexicalEvidence } from '../lexical-evidence.ts';
import type { CitedId, Finding, FindingReason } from '../types.ts';

export type AnswerEvent =
  /** `start`: where its content begins. */
  | { readonly type: 'answer'; readonly state: 'opened'; readonly answer: number; readonly start: number }
  | { readonly type: 'answer'; readonly state: 'closed'; readonly answer: number; readonly content: Span }
  /** Which answer is judged; `null` = none was closed. Exactly one. */
  | { readonly type: 'answer'; readonly state: 'judged'; readonly answer: number | null };

/** A claim that has closed. Claims come in the order of their indices; duplicates are only told in the end. */
export type ClaimEvent = {
  readonly type: 'claim';
  readonly answer: number;
  /** Where its citation begins: the opening tag, or the first marker of the run. */
  readonly citation: number;
  readonly index: number;
  readonly text: string;
  readonly span: Span;
  readonly element: Span;
  readonly ids: readonly CitedId[];
  /** With lexical evidence, where the claim cites a known source and has a letter or digit outside markup. */
  readonly evidence?: LexicalEvidence;
};

export type FindingEvent = {
  readonly type: 'finding';
  readonly reason: FindingReason;
  readonly in: 'response';
  readonly span: Span;
  /** `null`: it stands whichever answer is judged. */
  readonly answer: number | null;
  /** The citation concerned, as in its claim; `null` = it is about none. */
  readonly citation: number | null;
};

export type StreamEvent = AnswerEvent | ClaimEvent | FindingEvent;

/** Collects events. Of one reason MAX_FINDINGS findings are listed, as a list of the batch parser is bounded, too. */
export class EventList {
  #events: StreamEvent[] = [];
  readonly #counts = new Map<FindingReason, number>();

  add(event: StreamEvent): void {
    this.#events.push(event);
  }

  addFinding(reason: FindingReason, span: Span, answer: number | null, citation: number | null): void {
    const count = (this.#counts.get(reason) ?? 0) + 1;
    this.#counts.set(reason, count);
    if (count <= MAX_FINDINGS) this.#events.push({ type: 'finding', reason, in: 'response', span, answer, citation });
  }

  /** The events since the last call. */
  take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Turns what the parser's readers report about one citation into events. */
export class CitationFindings implements FindingSink {
  readonly #events: EventList;
  readonly #answer: number;
  readonly #citation: number;

  constructor(events: EventList, answer: number, citation: number) {
    this.#events = events;
    this.#answer = answer;
    this.#citation = citation;
  }

  add({ reason, span }: Finding): void {
    this.#events.addFinding(reason, span, this.#answer, this.#citation);
  }
}
