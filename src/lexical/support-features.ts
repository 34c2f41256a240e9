import type { ClaimTerms } from './claim-terms.ts';
import type { EvidenceScan } from './evidence-scan.ts';
import { isTurning } from './opposites.ts';

/** What the support model sees of a claim and its cited texts. Every field lies in [0, 1]; see SUPPORT_WEIGHTS for the signs. */
export type SupportFeatures = {
  /** Fourth power of the weighted share of the claim's terms in the best windows of the cited sources together: only near-complete cover counts. */
  readonly closeness: number;
  /** Weighted share of the claim's terms anywhere in the cited sources. */
  readonly anywhere: number;
  /** 1 if a number of the claim is in no cited source. */
  readonly missing_number: number;
  /** 1 if a name of the claim is in no cited source. */
  readonly missing_name: number;
  /** The window's cover if a negation, an opposite or a turning word stands in the claim only, else 0: it matters where all else is there. */
  readonly contradiction: number;
  /** 1 if the claim asks a question or speaks of its writer. */
  readonly personal: number;
};

export const SUPPORT_FEATURES = [
  'closeness',
  'anywhere',
  'missing_number',
  'missing_name',
  'contradiction',
  'personal',
] as const;

export function supportFeatures(
  terms: ClaimTerms,
  scan: EvidenceScan,
  missingNumbers: number,
  missingNames: number,
): SupportFeatures {
  let found = 0;
  let anywhere = 0;
  let against = terms.negated && !scan.negationInWindow;
  for (let t = 0; t < terms.termCount; t++) {
    const weight = scan.weights[t] ?? 0;
    const inWindow = scan.found[t] === 1;
    if (inWindow) found += weight;
    else if (scan.opposed[t] === 1) against = true;
    if (inWindow || (scan.sentencesOfTerm[t] ?? 0) > 0) anywhere += weight;
    else if (isTurning(terms.tokens.hashes[terms.firstToken[t] ?? 0] ?? 0)) against = true;
  }
  const total = scan.totalWeight === 0 ? 1 : scan.totalWeight;
  const cover = Math.min(1, found / total);
  return {
    closeness: cover * cover * cover * cover,
    anywhere: Math.min(1, anywhere / total),
    missing_number: missingNumbers > 0 ? 1 : 0,
    missing_name: missingNames > 0 ? 1 : 0,
    contradiction: against ? cover : 0,
    personal: terms.personal ? 1 : 0,
  };
}
