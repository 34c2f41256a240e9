import type { SupportFeatures } from './support-features.ts';

/** Names the built-in judge in results; goes up with any change to what it answers. */
export const LEXICAL_JUDGE_MODEL = 'citeward-lexical-1';

/**
 * A logistic model fitted by `bench/lexical-judge.ts --fit` on the tuning part of four public development sets (docs/lexical-judge.md), each family of
 * sets with equal weight, signs held to what makes sense. Change it only by fitting again.
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

/** Share of verbatim claims of at least four content tokens that people labelled supported: 420 of 424 (reference/citation-scoring.md 4.2). */
const VERBATIM_SUPPORT = 0.99;

/** At least this: `full`. The threshold with the best mean balanced accuracy on the tuning part, fixed with the weights. */
export const FULL_SUPPORT_MIN = 0.355;
/** At least this, and less than FULL_SUPPORT_MIN: `partial`. */
export const PARTIAL_SUPPORT_MIN = 0.136;

/** Probability in [0, 1], calibrated at the development sets' share of supported claims (about a third). */
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

/** e^x as (1 + x / 2^20)^(2^20): arithmetic that every runtime does alike, unlike Math.exp; relative error below 1e-4 for |x| < 12. */
function exponential(x: number): number {
  let y = 1 + x / 1048576;
  for (let i = 0; i < 20; i++) y *= y;
  return y;
}

export function supportVerdict(support: number): 'full' | 'partial' | 'none' {
  if (support >= FULL_SUPPORT_MIN) return 'full';
  return support >= PARTIAL_SUPPORT_MIN ? 'partial' : 'none';
}
