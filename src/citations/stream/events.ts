/**
 * The events of an incremental verification. The verifier sends an event as soon as no later text of the same answer
 * can contradict it. The rest of the response can still invalidate it, in three cases:
 *
 * - An event with an `answer` is valid only if that answer is the judged one. The `judged` event names it.
 * - A finding with a `citation` is invalid if `citation_unclosed` is reported for the same citation, because the parser
 *   ignores the ids of a citation that is never closed. `citation_nested` and `citation_unclosed` themselves stay
 *   valid.
 * - A claim is invalid if `no_answer` is reported: an answer that is empty without its markup has no claims.
 *
 * Offsets are UTF-16 code units from the start of the response.
 */
import { MAX_FINDINGS } from '../../limits.ts';
import type { Span } from '../../text/span.ts';
import type { FindingSink } from '../findings.ts';
import type { LexicalEvidence } from '../lexical-evidence.ts';
import type { CitedId, Finding, FindingReason } from '../types.ts';

/** An answer block opened, closed, or was chosen as the judged one. `answer` counts the answers from 0. */
type AnswerEvent =
  /** `start` is the start of its content. */
  | { readonly type: 'answer'; readonly state: 'opened'; readonly answer: number; readonly start: number }
  | { readonly type: 'answer'; readonly state: 'closed'; readonly answer: number; readonly content: Span }
  /** Sent exactly once. `null` if no answer was closed. */
  | { readonly type: 'answer'; readonly state: 'judged'; readonly answer: number | null };

/** A claim that has closed. Claims arrive in the order of `index`. Duplicates are marked only in the final parse. */
export type ClaimEvent = {
  readonly type: 'claim';
  /** Ordinal of the answer, from 0. */
  readonly answer: number;
  /** Offset where the citation starts: its opening tag, or the first marker of its run. */
  readonly citation: number;
  readonly index: number;
  readonly text: string;
  readonly span: Span;
  readonly element: Span;
  readonly ids: readonly CitedId[];
  /** Only with `evidence: 'lexical'`, if the claim cites a known source and has a letter or digit outside markup. */
  readonly evidence?: LexicalEvidence;
};

/** A finding in the response. */
export type FindingEvent = {
  readonly type: 'finding';
  readonly reason: FindingReason;
  readonly in: 'response';
  readonly span: Span;
  /** Ordinal of the answer; `null` if the finding is valid whichever answer is judged. */
  readonly answer: number | null;
  /** Start of the citation, as in `ClaimEvent.citation`; `null` if the finding is about no citation. */
  readonly citation: number | null;
};

/** Any event of an incremental verification. */
export type StreamEvent = AnswerEvent | ClaimEvent | FindingEvent;

/** Collects events. Lists at most MAX_FINDINGS findings of each reason, which bounds memory. */
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

  /** Returns the events since the last call. */
  take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Turns the findings that the parser reports about one citation into events. */
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
