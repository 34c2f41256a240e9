/**
 * Reads the claims of the link grammar when the answer ends: only then is it known whether it ends with a references
 * section, which decides what a note cites.
 */
import { readLinkClaims } from '../link-claims.ts';
import type { Finding } from '../types.ts';
import { type AnswerReader, inspectClaim, type ReaderContext, sendClaim } from './answer-reader.ts';

/** Reads one answer of the link grammar. */
export class LinkReader implements AnswerReader {
  readonly #context: ReaderContext;
  readonly #start: number;

  constructor(context: ReaderContext, start: number) {
    this.#context = context;
    this.#start = start;
  }

  tag(): void {
    // Tags inside the answer are text.
  }

  advance(): void {
    // The end decides.
  }

  close(end: number): void {
    const { text, events, answer, sources } = this.#context;
    const findings: Finding[] = [];
    const sink = { add: (finding: Finding): void => void findings.push(finding) };
    const { claims } = readLinkClaims(text.slice(0, end), { start: this.#start, end }, sources, sink);
    for (const { reason, span, claim } of findings) {
      const citation = claim === undefined ? null : (claims[claim]?.element.start ?? null);
      events.addFinding(reason, span, answer, citation);
    }
    for (const claim of claims) {
      const citation = claim.element.start;
      sendClaim(
        { claim, evidence: inspectClaim(claim, citation, this.#context) },
        claim.index,
        citation,
        this.#context,
      );
    }
  }
}
