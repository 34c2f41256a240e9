/**
 * Reads one candidate while the policy writes it. After each `push` the caller knows the citations that are certain so
 * far and whether the candidate has cited an invented id, so it can stop the policy at once.
 *
 * An invented id is certain at the end of its citation's tag: before, the id can go on (`S1` of `S12`). If the policy
 * never closes the answer or the citation, the parser of the whole text ignores that id. Such a candidate has no answer
 * or a malformed one, so stopping it early loses nothing.
 */
import type { CitationPolicy } from '../citations/citation-policy.ts';
import { sizeProblems } from '../citations/parse.ts';
import type { ClaimEvent, FindingEvent, StreamEvent } from '../citations/stream/events.ts';
import { createIncrementalVerifier, type IncrementalVerifier } from '../citations/stream/verifier.ts';
import type { SourceSet } from '../citations/types.ts';
import { describeResponse, type Verification } from '../citations/verify.ts';
import type { Span } from '../text/span.ts';
import { PROMPTED_GRAMMAR } from './refiner-prompt.ts';

/** Why a candidate was stopped before its end. */
export type Aborted = { readonly reason: 'invented_citation'; readonly id: string; readonly span: Span };

export type FinishedCandidate = {
  readonly index: number;
  readonly response: string;
  /** Thinking that the server split off; `null` = none, or it is inside the response. */
  readonly thinking: string | null;
  /** The finish reason as the model server reported it; `null` = Citeward stopped the candidate. */
  readonly finish_reason: string | null;
  readonly aborted: Aborted | null;
  readonly verification: Verification;
  /** Whether response and sources are within the limits of comparison and judging (`sizeProblems`). */
  readonly fits: boolean;
};

type CandidateOptions = {
  readonly sources: SourceSet;
  readonly mode: 'answer_only' | 'full';
  readonly evidence: 'none' | 'lexical';
  /** Default `allowed`. */
  readonly citations?: CitationPolicy;
  readonly question: string;
};

/** A finding or claim that no later text of a well-formed answer takes back. */
export type CertainEvent = ClaimEvent | FindingEvent;

export type Pushed = {
  readonly events: readonly CertainEvent[];
  /** The first citation of an id that no source has; `null` = none in this piece. */
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
    this.#verifier = createIncrementalVerifier({ ...options, grammar: PROMPTED_GRAMMAR });
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

  /** Ends the candidate. @throws Error if it has already ended. */
  finish(ending: Ending): { readonly events: readonly CertainEvent[]; readonly candidate: FinishedCandidate } {
    this.#isOver = true;
    const { sources, mode, citations, question } = this.#options;
    const { events, response, parsed } = this.#verifier.finish();
    const fits = sizeProblems(parsed, sources, 'tool_output').length === 0;
    const evidence = fits ? this.#options.evidence : 'none';
    const isAborted = 'aborted' in ending;
    return {
      events: events.flatMap(certain),
      candidate: {
        index: this.#index,
        response,
        thinking: this.#thinking,
        finish_reason: isAborted ? null : ending.finish_reason,
        aborted: isAborted ? ending.aborted : null,
        verification: describeResponse(response, parsed, sources, { mode, evidence, citations, question }),
        fits,
      },
    };
  }

  #abortedBy({ span }: FindingEvent): Aborted {
    return { reason: 'invented_citation', id: this.#response.slice(span.start, span.end), span };
  }
}

/** Drops answer events: the verification reports where answers begin and end. */
function certain(event: StreamEvent): CertainEvent[] {
  return event.type === 'answer' ? [] : [event];
}
