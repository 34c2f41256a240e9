/** What reads the content of one answer of a stream, and what both kinds of it (tags, markers) share. */
import type { EvidenceIndex } from '../../lexical/index.ts';
import { MAX_CLAIMS, MAX_COMPARED_CHARS } from '../../limits.ts';
import { hasContent } from '../../text/characters.ts';
import { indexSourceSet } from '../evidence-index.ts';
import { describeEvidence, evidenceOf, type LexicalEvidence, reportEvidence } from '../lexical-evidence.ts';
import { citesMany } from '../parse.ts';
import type { Claim, SourceSet } from '../types.ts';
import { CitationFindings, type EventList } from './events.ts';
import type { StreamedTag } from './tags.ts';
import type { StreamedText } from './text.ts';

export type AnswerReader = {
  /** A citation tag inside the answer, or an `<answer>` in it. */
  tag(read: StreamedTag): void;
  /**
   * The text up to `to` is the answer's, tags that do not end it included. `cut`: a `<` stands there that may begin a tag
   * which ends it.
   */
  reach(to: number, cut: boolean): void;
  /** The answer ends at `end`, after reaching it. */
  close(end: number): void;
};

/** What an answer's reader works with. */
export type ReaderContext = {
  readonly text: StreamedText;
  readonly events: EventList;
  readonly sources: SourceSet;
  readonly comparison: Comparison | null;
  /** The answer's ordinal. */
  readonly answer: number;
};

/** A claim that has closed, with what was found by comparing it. */
export type ClosedClaim = { readonly claim: Claim; readonly evidence: LexicalEvidence | null };

/**
 * Compares claims with their sources as they close, within the limits of a request; past them nothing is compared any
 * more, since such a response is refused in the end (size.ts).
 */
export class Comparison {
  readonly #sources: SourceSet;
  #index: EvidenceIndex | null = null;
  #claims = 0;
  #chars = 0;

  constructor(sources: SourceSet) {
    this.#sources = sources;
  }

  compare(claim: Claim, findings: CitationFindings): LexicalEvidence | null {
    this.#claims++;
    for (const { source } of claim.ids) {
      const cited = source === null ? undefined : this.#sources.list[source];
      if (cited !== undefined) this.#chars += cited.text.length + claim.text.length;
    }
    if (this.#claims > MAX_CLAIMS || this.#chars > MAX_COMPARED_CHARS) return null;
    this.#index ??= indexSourceSet(this.#sources);
    const evidence = evidenceOf(this.#index, claim);
    if (evidence === null) return null;
    reportEvidence(claim, evidence, findings);
    return describeEvidence(evidence);
  }
}

/**
 * Findings about a claim that has closed. One without a letter or digit tells nothing of whether its answer has any: what
 * is found about it waits for the end (incremental-end.ts).
 */
export function inspectClaim(claim: Claim, citation: number, context: ReaderContext): LexicalEvidence | null {
  if (!hasContent(claim.text, 0, claim.text.length)) return null;
  if (citesMany(claim)) context.events.addFinding('ids_shotgun', claim.element, context.answer, citation);
  if (context.comparison === null) return null;
  return context.comparison.compare(claim, new CitationFindings(context.events, context.answer, citation));
}

export function addClaim(
  { claim, evidence }: ClosedClaim,
  index: number,
  citation: number,
  { events, answer }: ReaderContext,
): void {
  const { text, span, element, ids } = claim;
  const event = { type: 'claim', answer, citation, index, text, span, element, ids } as const;
  events.add(evidence === null ? event : { ...event, evidence });
}
