/**
 * One candidate while it is being written: its text, what is certain of its citations so far, and whether it has invented
 * one. All of it is known when `push` returns, so that whoever reads the policy can stop it before it says more.
 *
 * An id is certain to be invented where its citation's tag ends: until then it might go on (`S1` of `S12`). The answer or
 * the citation may still never be closed, and then the parser of the whole text does not read that id (incremental-events.ts);
 * such a candidate has no answer or a malformed one, so that stopping it loses nothing either.
 */

import { sizeProblems } from '../citations/size.ts';
import type { ClaimEvent, FindingEvent, StreamEvent } from '../citations/stream/events.ts';
import { createIncrementalVerifier, type IncrementalVerifier } from '../citations/stream/verifier.ts';
import type { SourceSet } from '../citations/types.ts';
import { describeResponse, type Verification } from '../citations/verify.ts';
import type { Span } from '../text/span.ts';

/** Why a candidate was not written to its end. */
export type Aborted = { readonly reason: 'invented_citation'; readonly id: string; readonly span: Span };

export type FinishedCandidate = {
  readonly index: number;
  readonly response: string;
  /** `null` where the server splits none off. */
  readonly thinking: string | null;
  /** As the server said it; `null` where the candidate was stopped. */
  readonly finish_reason: string | null;
  readonly aborted: Aborted | null;
  readonly verification: Verification;
  /** Whether it is within the limits of what is compared and judged (citations/size.ts). */
  readonly fits: boolean;
};

export type CandidateOptions = {
  readonly sources: SourceSet;
  readonly mode: 'answer_only' | 'full';
  readonly evidence: 'none' | 'lexical';
};

/** What a piece of text has made certain. */
export type CertainEvent = ClaimEvent | FindingEvent;

export type Pushed = {
  readonly events: readonly CertainEvent[];
  /** The first id that no source has; `null` = none in this piece. */
  readonly invented: Aborted | null;
};

export type Ending = { readonly finish_reason: string } | { readonly aborted: Aborted };

export class CandidateReader {
  readonly #index: number;
  readonly #options: CandidateOptions;
  readonly #verifier: IncrementalVerifier;
  #response = '';
  #thinking: string | null = null;
  #isOver = false;

  constructor(index: number, options: CandidateOptions) {
    this.#index = index;
    this.#options = options;
    this.#verifier = createIncrementalVerifier({ ...options, grammar: 'snippet' });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  push(text: string): Pushed {
    this.#response += text;
    const events = this.#verifier.push(text);
    const invented = events.find((event) => event.type === 'finding' && event.reason === 'citation_id_unknown');
    return {
      events: events.flatMap(certain),
      invented: invented?.type === 'finding' ? this.#abortedBy(invented) : null,
    };
  }

  think(text: string): void {
    this.#thinking = (this.#thinking ?? '') + text;
  }

  /** Ends the candidate. @throws Error if it has ended. */
  finish(ending: Ending): { readonly events: readonly CertainEvent[]; readonly candidate: FinishedCandidate } {
    this.#isOver = true;
    const { sources, mode, evidence } = this.#options;
    const { events, response, parsed } = this.#verifier.finish();
    const fits = sizeProblems(parsed, sources, 'tool_output').length === 0;
    const isAborted = 'aborted' in ending;
    return {
      events: events.flatMap(certain),
      candidate: {
        index: this.#index,
        response,
        thinking: this.#thinking,
        finish_reason: isAborted ? null : ending.finish_reason,
        aborted: isAborted ? ending.aborted : null,
        verification: describeResponse(response, parsed, sources, mode, fits ? evidence : 'none'),
        fits,
      },
    };
  }

  #abortedBy({ span }: FindingEvent): Aborted {
    return { reason: 'invented_citation', id: this.#response.slice(span.start, span.end), span };
  }
}

/** Where answers begin and end is in the verification. */
function certain(event: StreamEvent): CertainEvent[] {
  return event.type === 'answer' ? [] : [event];
}
