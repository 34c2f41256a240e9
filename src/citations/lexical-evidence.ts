/** Lexical evidence of one claim as it is reported: what goes over the wire, and the findings that it gives. */
import { type ClaimEvidence, type EvidenceIndex, gatherEvidence } from '../lexical/index.ts';
import type { Span } from '../text/span.ts';
import type { FindingSink } from './findings.ts';
import type { Claim } from './types.ts';

/** A place in the text of a source. */
export type SourceSpan = { readonly source: number } & Span;

/** Lexical evidence for one claim; probabilities and shares in [0, 1]. */
export type LexicalEvidence = {
  /** Calibrated probability that the cited texts support the whole claim. */
  readonly support: number;
  readonly coverage: number;
  readonly window: SourceSpan | null;
  readonly verbatim: readonly SourceSpan[];
  readonly negation_mismatch: boolean;
  readonly sources: readonly { readonly source: number; readonly coverage: number; readonly relevant: boolean }[];
};

/** `null` where there is nothing to compare: no known source, or no text. */
export function evidenceOf(index: EvidenceIndex, { ids, text }: Claim): ClaimEvidence | null {
  const cited = ids.flatMap(({ source }) => (source === null ? [] : [source]));
  return cited.length === 0 || text.length === 0 ? null : gatherEvidence(index, text, cited);
}

/** Reports what the evidence finds wrong with its claim. */
export function reportEvidence(claim: Claim, evidence: ClaimEvidence, findings: FindingSink): void {
  if (evidence.verbatim.length > 0) {
    findings.add({ reason: 'claim_verbatim', in: 'response', span: claim.span, claim: claim.index });
  }
  for (const { start, end } of evidence.missing_numbers) {
    const span = spanInClaim(claim, start, end);
    findings.add({ reason: 'number_not_in_source', in: 'response', span, claim: claim.index });
  }
  for (const { start, end } of evidence.missing_names) {
    const span = spanInClaim(claim, start, end);
    findings.add({ reason: 'name_not_in_source', in: 'response', span, claim: claim.index });
  }
}

/** The part of it that goes over the wire. */
export function describeEvidence(evidence: ClaimEvidence): LexicalEvidence {
  const { support, coverage, window, verbatim, negation_mismatch, sources } = evidence;
  return { support, coverage, window, verbatim, negation_mismatch, sources };
}

/** A place in the claim's text as a place in the response; the whole claim where an inner tag was left out of the text. */
function spanInClaim(claim: Claim, start: number, end: number): Span {
  if (claim.span.end - claim.span.start !== claim.text.length) return claim.span;
  return { start: claim.span.start + start, end: claim.span.start + end };
}
