/** The support model: a logistic model over six features of a claim and its cited texts. */
import type { ClaimTerms } from './claim-terms.ts';

/** Features of a claim and its cited texts, each in [0, 1]. SUPPORT_WEIGHTS has their signs. */
export type SupportFeatures = {
  /**
   * Fourth power of the weighted share of the claim's terms in the sources' best windows: only near-complete coverage
   * counts.
   */
  readonly closeness: number;
  /** Weighted share of the claim's terms anywhere in the cited sources. */
  readonly anywhere: number;
  /** 1 if a number of the claim is in no cited source. */
  readonly missing_number: number;
  /** 1 if a name of the claim is in no cited source. */
  readonly missing_name: number;
  /** Coverage of the windows if only the claim has a negation, an opposite or a reversing word, else 0. */
  readonly contradiction: number;
  /** 1 if the claim asks a question or is about its writer. */
  readonly personal: number;
};

/** The features in the order of the model's weights. */
export const SUPPORT_FEATURES = [
  'closeness',
  'anywhere',
  'missing_number',
  'missing_name',
  'contradiction',
  'personal',
] as const;

/** What the closest sentence of a source says in another way than a claim. */
export type Closest = {
  /** Weight of the claim's terms in the sentence. */
  readonly weight: number;
  /** Nonzero for each number of the claim for which the sentence has another one; `null` = there is none. */
  readonly otherNumbers: ArrayLike<number> | null;
  /** Only one of claim and sentence negates what both say. */
  readonly negation: boolean;
};

/** What some cited sources have of a claim: nonzero for each term that has the mark. */
export type TermMarks = {
  /** The term is in the best window of a source, or in a title. */
  readonly found: ArrayLike<number>;
  /** The term is anywhere in the text of a source; terms in titles are `found`. */
  readonly anywhere: ArrayLike<number>;
  /** An opposite of the term is in a best window. */
  readonly opposed: ArrayLike<number>;
  /** Best windows with a negation. */
  readonly negations: number;
  /** What the sentence that is closest to the claim says in another way. */
  readonly closest: Closest;
};

/** The weight of each term, and their sum. */
export type TermWeights = { readonly weights: ArrayLike<number>; readonly totalWeight: number };

/** Computes the features of a claim and some of its sources. */
export function supportFeatures(
  terms: ClaimTerms,
  { weights, totalWeight }: TermWeights,
  marks: TermMarks,
  missingNumber: boolean,
  missingName: boolean,
): SupportFeatures {
  let found = 0;
  let anywhere = 0;
  const { otherNumbers, negation } = marks.closest;
  let against = negation || (terms.negated && marks.negations === 0);
  for (let t = 0; t < terms.termCount; t++) {
    if (otherNumbers !== null && (otherNumbers[t] ?? 0) !== 0) continue;
    const weight = weights[t] ?? 0;
    const inWindow = (marks.found[t] ?? 0) !== 0;
    if (inWindow) found += weight;
    else if ((marks.opposed[t] ?? 0) !== 0) against = true;
    if (inWindow || (marks.anywhere[t] ?? 0) !== 0) anywhere += weight;
    else if (terms.reversing[t] === 1) against = true;
  }
  const total = totalWeight === 0 ? 1 : totalWeight;
  const cover = Math.min(1, found / total);
  return {
    closeness: cover * cover * cover * cover,
    anywhere: Math.min(1, anywhere / total),
    missing_number: missingNumber || otherNumbers !== null ? 1 : 0,
    missing_name: missingName ? 1 : 0,
    contradiction: against ? cover : 0,
    personal: terms.personal ? 1 : 0,
  };
}

/** Name and version of the built-in lexical judge in results and judgment keys. Raise it if any answer changes. */
export const LEXICAL_JUDGE_MODEL = 'citeward-lexical-7';

/** Whether a judgment is of the lexical judge, of this version or an earlier one. */
export function isLexicalJudge(model: string | null): boolean {
  return model?.startsWith('citeward-lexical-') === true;
}

/**
 * Logistic model fitted by `bench/lexical-judge.ts --fit` on the tuning part of four public development sets
 * (docs/concepts/lexical-judge.md). Each family of sets has equal weight, and the signs are constrained. Change the numbers
 * only by fitting again.
 */
export const SUPPORT_INTERCEPT = -1.41;
export const SUPPORT_WEIGHTS: Readonly<Record<keyof SupportFeatures, number>> = {
  closeness: 1.91,
  anywhere: 1.59,
  missing_number: -2.31,
  missing_name: -1.5,
  contradiction: -2.88,
  personal: -2.7,
};

/** Share of verbatim claims with at least four content tokens that people labelled as supported: 420 of 424. */
const VERBATIM_SUPPORT = 0.99;

/**
 * Least support for `full`: the threshold with the best mean balanced accuracy on the tuning part. Fitted with the
 * weights.
 */
export const FULL_SUPPORT_MIN = 0.355;
/** Least support for `partial`. */
const PARTIAL_SUPPORT_MIN = 0.136;

/**
 * Returns a probability in [0, 1], calibrated for the development sets, where about a third of the claims are
 * supported.
 */
export function supportProbability(features: SupportFeatures, verbatim: boolean): number {
  if (verbatim) return VERBATIM_SUPPORT;
  const w = SUPPORT_WEIGHTS;
  const z =
    SUPPORT_INTERCEPT +
    w.closeness * features.closeness +
    w.anywhere * features.anywhere +
    w.missing_number * features.missing_number +
    w.missing_name * features.missing_name +
    w.contradiction * features.contradiction +
    w.personal * features.personal;
  return 1 / (1 + exponential(-z));
}

/**
 * Computes e^x as (1 + x / 2^20)^(2^20), which unlike `Math.exp` gives the same bits on every runtime. The relative
 * error is below 1e-4 for |x| < 12.
 */
function exponential(x: number): number {
  let y = 1 + x / 1048576;
  for (let i = 0; i < 20; i++) y *= y;
  return y;
}

/** Turns a support probability into a verdict: `full` from 0.355 on, `partial` from 0.136 on. */
export function supportVerdict(support: number): 'full' | 'partial' | 'none' {
  if (support >= FULL_SUPPORT_MIN) return 'full';
  return support >= PARTIAL_SUPPORT_MIN ? 'partial' : 'none';
}
