/**
 * The citation score of rlresearch/dr-tulu 6188f34c (`citation_utils.py`): lists the questions about a text, then
 * computes the score from the answers.
 */
import { validIdRatio } from '../terms/reward-terms.ts';
import { type ExactClaims, extractClaims } from './claims.ts';
import type { ExactSources } from './transcript.ts';

const CLAIM_SHARE = 0.6;
const VALID_ID_SHARE = 0.4;

/** One question about a claim. Claim texts are unique. */
export type ClaimQuestion =
  /**
   * Asks two questions about a cited claim: do the texts of its known ids support the claim, and are they relevant to
   * it?
   */
  | {
      readonly kind: 'cited';
      readonly claim: string;
      readonly ids: readonly string[];
      readonly texts: readonly string[];
    }
  /** Asks about an uncited claim: does the claim need a citation? */
  | { readonly kind: 'uncited'; readonly claim: string };

export type ClaimAnswer =
  /** `support`: 1 full, 0.5 partial, 0 none. `relevance`: 1 or 0. */
  | { readonly kind: 'cited'; readonly support: number; readonly relevance: number }
  /** 1 if the claim needs a citation, else 0. */
  | { readonly kind: 'uncited'; readonly needsCitation: number };

export type CitationPlan = {
  /** The questions, in the reference's order. */
  readonly questions: readonly ClaimQuestion[];
  /** Distinct cited ids that exist / distinct cited ids, [0, 1]; 0 if no id is cited. */
  readonly validIds: number;
};

/**
 * Lists the questions about `text` (the reference's reward passes the whole response); none if no source is known.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept, beside those of `extractClaims`:
 * - a claim whose ids are all unknown is treated as uncited, so an invented source can pay in full;
 * - equal claims are asked about once.
 */
export function planCitations(text: string, sources: ExactSources): CitationPlan {
  if (sources.size === 0) return { questions: [], validIds: 0 };
  const claims = extractClaims(text);
  return {
    questions: [...claims].map(([claim, ids]) => questionFor(claim, ids, sources)),
    validIds: idScore(claims, sources),
  };
}

function questionFor(claim: string, ids: readonly string[], sources: ExactSources): ClaimQuestion {
  const known: string[] = [];
  const texts: string[] = [];
  for (const id of ids) {
    const text = sources.get(id);
    if (text === undefined) continue;
    known.push(id);
    texts.push(text);
  }
  return known.length === 0 ? { kind: 'uncited', claim } : { kind: 'cited', claim, ids: known, texts };
}

/**
 * Distinct known ids / distinct ids, [0, 1]; 0 if no id is cited.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - the empty id that a trailing comma leaves is an unknown id.
 */
export function idScore(claims: ExactClaims, sources: { has(id: string): boolean }): number {
  return validIdRatio([...claims.values()].flat(), sources);
}

/**
 * 0.6 * mean F1 over the questions + 0.4 * valid ids; 0 without questions. An uncited claim has recall 1 -
 * needsCitation and precision 1.
 * @param answers one for each question, in order; `null` = the judge failed.
 * @returns the score; `null` if an answer is.
 * @throws RangeError if answers are missing, of the other kind, or not finite.
 */
export function citationScore(plan: CitationPlan, answers: readonly (ClaimAnswer | null)[]): number | null {
  const { questions } = plan;
  if (answers.length !== questions.length) throw new RangeError('citationScore: one answer a question');
  let sum = 0;
  for (let n = 0; n < questions.length; n++) {
    const answer = answers[n];
    if (answer === undefined || answer === null) return null;
    if (answer.kind !== questions[n]?.kind) throw new RangeError('citationScore: an answer to another question');
    sum += claimF1(answer);
  }
  if (!Number.isFinite(sum)) throw new RangeError('citationScore: a non-finite answer');
  return questions.length === 0 ? 0 : CLAIM_SHARE * (sum / questions.length) + VALID_ID_SHARE * plan.validIds;
}

function claimF1(answer: ClaimAnswer): number {
  const recall = answer.kind === 'cited' ? answer.support : 1 - answer.needsCitation;
  const precision = answer.kind === 'cited' ? answer.relevance : 1;
  return recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision);
}
