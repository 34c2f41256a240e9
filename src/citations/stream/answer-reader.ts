/**
 * The interface, the claim comparison and the events that the two readers of an answer (`ElementReader`,
 * `MarkerReader`) share.
 */
import { createAskedWords } from '../../lexical/index.ts';
import { MAX_CLAIMS, MAX_COMPARED_CHARS } from '../../limits.ts';
import { hasContent } from '../../text/characters.ts';
import { comparedChars } from '../answer-limits.ts';
import {
  describeEvidence,
  evidenceOf,
  type IsAsked,
  type LexicalEvidence,
  reportEvidence,
} from '../lexical-evidence.ts';
import { citesMany, lacksContent } from '../parse.ts';
import type { Claim, SourceSet } from '../types.ts';
import { CitationFindings, type EventList } from './events.ts';
import type { StreamedTag, StreamedText } from './streamed-text.ts';

/** Reads the content of one answer as it arrives, and reports claims and findings as events. */
export type AnswerReader = {
  /** Reads a citation tag inside the answer, or an `<answer>` inside it. */
  tag(read: StreamedTag): void;
  /**
   * Extends the answer's text to `to`, tags inside the answer included. `beforeTag` says that the `<` at `to` may begin
   * a tag that ends the answer.
   */
  advance(to: number, beforeTag: boolean): void;
  /** Ends the answer at the offset `end`, to which `advance` has already read. */
  close(end: number): void;
};

/** The dependencies of an answer's reader. */
export type ReaderContext = {
  readonly text: StreamedText;
  readonly events: EventList;
  readonly sources: SourceSet;
  readonly comparison: ClaimComparison | null;
  /** Number of the answer in the response, from 0. */
  readonly answer: number;
};

/** A claim that has closed, with the result of its comparison. */
export type ClosedClaim = { readonly claim: Claim; readonly evidence: LexicalEvidence | null };

/**
 * Compares claims with their sources as they close. Stops at the limits of a request, because `sizeProblems` refuses a
 * response beyond them in the end.
 */
export class ClaimComparison {
  readonly #sources: SourceSet;
  readonly #isAsked: IsAsked;
  #claims = 0;
  #chars = 0;

  constructor(sources: SourceSet, question?: string) {
    this.#sources = sources;
    this.#isAsked = question === undefined ? null : createAskedWords(question);
  }

  /** Reports the findings of a comparison and returns its evidence; `null` if there is nothing to compare. */
  compare(claim: Claim, findings: CitationFindings): LexicalEvidence | null {
    this.#claims++;
    for (const { source } of claim.ids) {
      const cited = source === null ? undefined : this.#sources.list[source];
      if (cited !== undefined) this.#chars += comparedChars(claim.text, cited.text);
    }
    if (this.#claims > MAX_CLAIMS || this.#chars > MAX_COMPARED_CHARS) return null;
    const evidence = evidenceOf(this.#sources, claim);
    if (evidence === null) return null;
    reportEvidence(claim, evidence, this.#sources, this.#isAsked, findings);
    return describeEvidence(evidence);
  }
}

/**
 * Reports the findings about a claim that has closed and returns its evidence. Does nothing for a claim without a
 * letter or digit: its answer may turn out to be empty, so the verifier reports on it at the end of the response.
 */
export function inspectClaim(claim: Claim, citation: number, context: ReaderContext): LexicalEvidence | null {
  if (!hasContent(claim.text, 0, claim.text.length)) return null;
  if (citesMany(claim, context.sources))
    context.events.addFinding('ids_shotgun', claim.element, context.answer, citation);
  if (lacksContent(claim)) context.events.addFinding('claim_without_content', claim.span, context.answer, citation);
  if (context.comparison === null) return null;
  return context.comparison.compare(claim, new CitationFindings(context.events, context.answer, citation));
}

/** Sends the event of a claim. */
export function sendClaim(
  { claim, evidence }: ClosedClaim,
  index: number,
  citation: number,
  { events, answer }: ReaderContext,
): void {
  const { text, span, element, ids } = claim;
  const event = { type: 'claim', answer, citation, index, text, span, element, ids } as const;
  events.add(evidence === null ? event : { ...event, evidence });
}
