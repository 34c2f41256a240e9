/** How each claim stands: by the judge where it was judged, else by its words, and always by what the parser knows. */

import type { VerifiedClaim } from '../../../src/citations/verify.ts';
import { supportVerdict } from '../../../src/lexical/support-model.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';

export const STANDINGS = ['full', 'partial', 'none', 'invented', 'duplicate', 'unknown'] as const;
export type Standing = (typeof STANDINGS)[number];

export type ClaimState = {
  readonly standing: Standing;
  /** `words`: the lexical flag, which is no verdict. */
  readonly by: 'judge' | 'words' | 'parser';
  /** For screen readers and the source panel. */
  readonly text: string;
};

export const STANDING_NAMES: Readonly<Record<Standing, string>> = {
  full: 'Supported',
  partial: 'Partly supported',
  none: 'Not supported',
  invented: 'Invented source',
  duplicate: 'Repeated claim',
  unknown: 'Not judged',
};

type JudgedClaims = Extract<ScoreResponse, { family: 'refiner' }>['claims'];

/** One state a claim. @param judged the claims of a reply about this very text; `null` without one. */
export function claimStates(claims: readonly VerifiedClaim[], judged: JudgedClaims | null): ClaimState[] {
  const byIndex = new Map((judged ?? []).map((claim) => [claim.index, claim]));
  return claims.map((claim) => stateOf(claim, byIndex.get(claim.index)));
}

function stateOf(claim: VerifiedClaim, judged: JudgedClaims[number] | undefined): ClaimState {
  if (claim.duplicate_of !== null) {
    const text = `repeats claim ${claim.duplicate_of + 1} and counts once with it`;
    return { standing: 'duplicate', by: 'parser', text };
  }
  // An invented id supports nothing; beside a real one the claim is still the judge's.
  if (claim.ids.length > 0 && claim.ids.every(({ source }) => source === null)) {
    return { standing: 'invented', by: 'parser', text: 'cites only sources that do not exist' };
  }
  if (judged !== undefined && judged.support !== null) {
    const standing = judged.support === 1 ? 'full' : judged.support === 0.5 ? 'partial' : 'none';
    const quote = judged.quote === 'unverified' ? '; the judge’s quote stands in no cited source' : '';
    return { standing, by: 'judge', text: `judged ${STANDING_NAMES[standing].toLowerCase()}${quote}` };
  }
  if (claim.evidence === undefined) return { standing: 'unknown', by: 'parser', text: 'nothing to compare it with' };
  const standing = supportVerdict(claim.evidence.support);
  return { standing, by: 'words', text: `${STANDING_NAMES[standing].toLowerCase()}, going by its words` };
}
