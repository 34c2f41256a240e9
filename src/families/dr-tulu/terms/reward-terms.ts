/**
 * Computes the corrected terms of the dr-tulu reward. Corrected: all ids, spaces, `<` and duplicates are kept.
 * Formulas: rlresearch/dr-tulu 6188f34c, `format_utils.py`, `search_utils.py`, `citation_utils.py`.
 */
import { parseSources } from '../../../citations/sources.ts';
import type { Claim, SourceSet } from '../../../citations/types.ts';
import { hasContent } from '../../../text/characters.ts';
import { type CallForm, readCitedClaims, readQueries, readTranscript } from './transcript.ts';

type ScoredRubric = {
  /** Finite. Negative: meeting the rubric lowers the term. */
  readonly weight: number;
  /** From 0 to 2; `null` = the judge failed. */
  readonly score: number | null;
};

/** Maps a score of the judge's scale (0, 1, 2) to 0, 0.5 and 1. */
const TOP_CRITERION_SCORE = 2;

/**
 * sum(s * w) / max(sum of positive w, 1), s = score / 2. Unclamped: below 0 if negative rubrics are met; 0 without
 * rubrics. `null` if a score is `null`. (The reference counts a failed judgment as 0, so a negative rubric whose
 * judgment failed costs nothing.) Source: rlresearch/dr-tulu 6188f34c, `longform_rubric_rewards.py`.
 * @throws RangeError on a non-finite weight, or a non-finite sum of weights.
 */
export function rubricTerm(rubrics: readonly ScoredRubric[]): number | null {
  let earned = 0;
  let positive = 0;
  for (const { weight, score } of rubrics) {
    if (score === null) return null;
    earned += (score / TOP_CRITERION_SCORE) * weight;
    positive += Math.max(weight, 0);
  }
  const term = earned / Math.max(positive, 1);
  if (!Number.isFinite(term) || !Number.isFinite(positive)) throw new RangeError('rubricTerm: a non-finite weight');
  return term;
}

const ANSWER_SHARE = 0.5;
const CITATION_SHARE = 0.3;
const QUERY_SHARE = 0.2;
const CLAIM_SHARE = 0.6;
const VALID_ID_SHARE = 0.4;

/** dr-tulu's own format term, [0, 1]: pays for an answer block, a citation with text, and a tool call. */
export function formatTerm(response: string, form: CallForm): number {
  const { answer } = readTranscript(response);
  const { claims } = readCitedClaims(response, parseSources(response));
  const cited = claims.some((claim) => hasContent(claim.text, 0, claim.text.length));
  return (
    (answer === null ? 0 : ANSWER_SHARE) +
    (cited ? CITATION_SHARE : 0) +
    (readQueries(response, form).length > 0 ? QUERY_SHARE : 0)
  );
}

/** min(queries / bound, 1). */
export function searchTurnsTerm(queries: number, bound: number): number {
  return Math.min(queries / bound, 1);
}

/** Distinct cited ids that exist / distinct cited ids; 0 without any. */
export function validIdRatio(cited: Iterable<string>, known: { has(id: string): boolean }): number {
  const distinct = new Set(cited);
  if (distinct.size === 0) return 0;
  let valid = 0;
  for (const id of distinct) if (known.has(id)) valid++;
  return valid / distinct.size;
}

/** Verdicts on one claim or uncited part; `null` = the judge failed. */
export type CitationJudge = {
  /** 1, 0.5 or 0. */
  support(claim: Claim): number | null;
  relevance(claim: Claim): number | null;
  needsCitation(text: string): boolean | null;
};

/**
 * 0.6 * mean claim F1 + 0.4 * valid id ratio. A claim without a known source is unsupported. (The reference judges such
 * a claim as uncited text, which can pay in full.) `null` if any verdict is missing.
 */
export function citationTerm(response: string, sources: SourceSet, judge: CitationJudge): number | null {
  if (sources.list.length === 0) return 0;
  const { claims, uncited } = readCitedClaims(response, sources);
  if (claims.length + uncited.length === 0) return 0;
  let sum = 0;
  for (const claim of claims) {
    if (claim.ids.every(({ source }) => source === null)) continue;
    const support = judge.support(claim);
    const relevance = judge.relevance(claim);
    if (support === null || relevance === null) return null;
    sum += support + relevance === 0 ? 0 : (2 * support * relevance) / (support + relevance);
  }
  for (const { text } of uncited) {
    const needs = judge.needsCitation(text);
    if (needs === null) return null;
    sum += needs ? 0 : 1;
  }
  const ids = claims.flatMap((claim) => claim.ids.map(({ id }) => id));
  return CLAIM_SHARE * (sum / (claims.length + uncited.length)) + VALID_ID_SHARE * validIdRatio(ids, sources.byId);
}
