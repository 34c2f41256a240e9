/** Lexical evidence of claims: compares a claim with the sources that it cites, and reports findings. */
import { type ClaimEvidence, gatherEvidence, indexSources } from '../lexical/index.ts';
import { isBlank, type Span } from '../text/span.ts';
import { abstains, statesNothing } from './empty-statements.ts';
import type { FindingSink } from './findings.ts';
import type { Claim, SourceSet } from './types.ts';

/** The part of a claim's evidence that replies contain. */
export type LexicalEvidence = Pick<
  ClaimEvidence,
  'support' | 'coverage' | 'window' | 'verbatim' | 'negation_mismatch' | 'language' | 'sources'
>;

/**
 * Compares a claim with its cited sources. Returns `null` if it has no text or cites no known source.
 * @param sources the set that the claim was parsed with.
 */
export function evidenceOf(sources: SourceSet, { ids, text }: Claim): ClaimEvidence | null {
  const cited: number[] = [];
  for (const { source } of ids) if (source !== null) cited.push(source);
  if (cited.length === 0 || text.length === 0) return null;
  sources.evidence.index ??= indexSources(sources.list);
  return gatherEvidence(sources.evidence.index, text, cited);
}

/** Compares all claims. Returns the evidence by the index of the claim; a claim without evidence is absent. */
export function evidenceOfClaims(sources: SourceSet, claims: readonly Claim[]): ReadonlyMap<number, ClaimEvidence> {
  const byClaim = new Map<number, ClaimEvidence>();
  for (const claim of claims) {
    const evidence = evidenceOf(sources, claim);
    if (evidence !== null) byClaim.set(claim.index, evidence);
  }
  return byClaim;
}

/** Whether a text says nothing that the question does not; `null` = the question is unknown. */
export type IsAsked = ((text: string) => boolean) | null;

/**
 * Reports the findings that follow from the words of a claim and its evidence. What sources without text and title lack
 * is one finding: the first number that they cannot support, or else the first name.
 * @param sources the set that the claim was parsed with.
 */
export function reportEvidence(
  claim: Claim,
  evidence: ClaimEvidence,
  sources: SourceSet,
  isAsked: IsAsked,
  findings: FindingSink,
): void {
  const isEmpty = evidence.sources.every(({ source }) => {
    const { text = '', title = '' } = sources.list[source] ?? {};
    return isBlank(text) && isBlank(title);
  });
  const { missing_numbers: numbers, missing_names: names } = evidence;
  if (evidence.verbatim.length > 0) {
    findings.add({ reason: 'claim_verbatim', in: 'response', span: claim.span, claim: claim.index });
  }
  for (const { start, end } of isEmpty ? numbers.slice(0, 1) : numbers) {
    const span = spanInClaim(claim, start, end);
    findings.add({ reason: 'number_not_in_source', in: 'response', span, claim: claim.index });
  }
  for (const { start, end } of isEmpty ? names.slice(0, numbers.length > 0 ? 0 : 1) : names) {
    const span = spanInClaim(claim, start, end);
    findings.add({ reason: 'name_not_in_source', in: 'response', span, claim: claim.index });
  }
  if (statesNothing(claim.text)) {
    findings.add({ reason: 'claim_states_nothing', in: 'response', span: claim.span, claim: claim.index });
  }
  if (abstains(claim.text)) {
    findings.add({ reason: 'claim_abstains', in: 'response', span: claim.span, claim: claim.index });
  }
  if (isAsked?.(claim.text) === true) {
    findings.add({ reason: 'claim_repeats_question', in: 'response', span: claim.span, claim: claim.index });
  }
}

/** Selects the part of the evidence that replies contain. */
export function describeEvidence(evidence: ClaimEvidence): LexicalEvidence {
  const { support, coverage, window, verbatim, negation_mismatch, language, sources } = evidence;
  return { support, coverage, window, verbatim, negation_mismatch, language, sources };
}

/**
 * Converts a range of the claim's text to the response. Returns the whole claim if its text leaves out an inner tag.
 */
function spanInClaim(claim: Claim, start: number, end: number): Span {
  if (claim.span.end - claim.span.start !== claim.text.length) return claim.span;
  return { start: claim.span.start + start, end: claim.span.start + end };
}
