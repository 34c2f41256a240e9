/**
 * The status of each claim: from the parser (duplicate, invented source), else from the judge, else from word overlap.
 */

import type { VerifiedClaim } from '../../../src/citations/verify.ts';
import { supportVerdict } from '../../../src/lexical/support-model.ts';
import type { Span } from '../../../src/text/span.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';

export const SUPPORTS = ['full', 'partial', 'none', 'invented', 'duplicate', 'unknown'] as const;
export type Support = (typeof SUPPORTS)[number];

export type ClaimStatus = {
  readonly support: Support;
  /** `words`: estimated from word overlap, not a verdict. */
  readonly by: 'judge' | 'words' | 'parser';
  /** For screen readers and the source panel. */
  readonly text: string;
  /** The words of the response that the judge finds in no cited source. */
  readonly lacking?: Span;
};

export const SUPPORT_NAMES: Readonly<Record<Support, string>> = {
  full: 'Supported',
  partial: 'Partly supported',
  none: 'Not supported',
  invented: 'Invented source',
  duplicate: 'Repeated claim',
  unknown: 'Not judged',
};

type JudgedClaims = Extract<ScoreResponse, { claims: unknown }>['claims'];

/** One status per claim. @param judged the claims of a score of this exact text; `null` if there is none. */
export function claimStatuses(claims: readonly VerifiedClaim[], judged: JudgedClaims | null): ClaimStatus[] {
  const byIndex = new Map((judged ?? []).map((claim) => [claim.index, claim]));
  return claims.map((claim) => stateOf(claim, byIndex.get(claim.index)));
}

function stateOf(claim: VerifiedClaim, judged: JudgedClaims[number] | undefined): ClaimStatus {
  if (claim.duplicate_of !== null) {
    const text = `repeats claim ${claim.duplicate_of + 1}; both count once`;
    return { support: 'duplicate', by: 'parser', text };
  }
  // A claim that also cites a real source is still judged.
  if (claim.ids.length > 0 && claim.ids.every(({ source }) => source === null)) {
    return { support: 'invented', by: 'parser', text: 'cites only sources that do not exist' };
  }
  if (judged !== undefined && judged.support !== null) {
    const support = judged.support === 1 ? 'full' : judged.support > 0 ? 'partial' : 'none';
    const quote = judged.quote === 'unverified' ? '; the judge’s quote is not in a cited source' : '';
    const verdict = judged.contradicted === true ? 'contradicted by the source' : SUPPORT_NAMES[support].toLowerCase();
    const text = `judged ${verdict}${quote}${lackingText(claim, judged)}`;
    const { unsupported: lacking } = judged;
    return { support, by: 'judge', text, ...(lacking === undefined ? {} : { lacking }) };
  }
  if (claim.evidence === undefined) return { support: 'unknown', by: 'parser', text: 'no cited text to compare' };
  const support = supportVerdict(claim.evidence.support);
  return { support, by: 'words', text: `${SUPPORT_NAMES[support].toLowerCase()}, estimated from word overlap` };
}

/** The words of the claim that its sources lack, if the judge names them. */
function lackingText({ text, span }: VerifiedClaim, { unsupported }: JudgedClaims[number]): string {
  if (unsupported === undefined) return '';
  return `; not in the source: “${text.slice(unsupported.start - span.start, unsupported.end - span.start)}”`;
}

/** The words of the response that the judge finds in no cited source, of all claims. */
export function lackingIn(states: readonly ClaimStatus[]): readonly Span[] {
  return states.flatMap(({ lacking }) => lacking ?? []);
}
