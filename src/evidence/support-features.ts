import type { ClaimTerms } from './claim-terms.ts';
import { isTurning } from './opposites.ts';
import type { EvidenceScan } from './evidence-scan.ts';

/** What the support model sees of a claim and its cited texts. Every field lies in [0, 1]. */
export type SupportFeatures = {
  /** Weighted share of the claim's terms in the best windows of the cited sources together. */
  readonly coverage: number;
  /** Weighted share of the claim's terms anywhere in the cited sources. */
  readonly anywhere: number;
  /** Share of the claim's adjacent token pairs that stand side by side in the best windows. */
  readonly pairs: number;
  /** Share of the claim's numbers that are in no cited source, 0 without numbers. */
  readonly missing_numbers: number;
  /** Share of the claim's names that are in no cited source, 0 without names. */
  readonly missing_names: number;
  /** 1 if a negation or an opposite speaks against the claim. */
  readonly opposition: number;
  readonly any_missing_number: number;
  readonly any_missing_name: number;
  readonly neg_claim_only: number;
  readonly neg_window_only: number;
  readonly opposite: number;
  readonly turning: number;
  readonly against: number;
  readonly numbers_out: number;
  readonly numbers_loose: number;
  readonly any_numbers_out: number;
  readonly any_numbers_loose: number;
  readonly names_out: number;
  readonly names_loose: number;
  readonly any_names_out: number;
  readonly any_names_loose: number;
  readonly hole: number;
  readonly length: number;
  readonly holes: number;
};

export function supportFeatures(terms: ClaimTerms, scan: EvidenceScan, names: number, missingNames: number, numbers: number, missingNumbers: number): SupportFeatures {
  let found = 0;
  let anywhere = 0;
  let opposite = 0;
  let missing = 0;
  let turning = 0;
  let rarest = 0;
  for (let t = 0; t < terms.termCount; t++) {
    const weight = scan.weights[t] ?? 0;
    if (scan.found[t] === 1) found += weight;
    else {
      missing++;
      rarest = Math.max(rarest, weight);
    }
    if (scan.found[t] === 1 || (scan.sentencesOfTerm[t] ?? 0) > 0) anywhere += weight;
    if (scan.opposed[t] === 1 && scan.found[t] === 0) opposite++;
    if ((scan.sentencesOfTerm[t] ?? 0) === 0 && isTurning(terms.tokens.hashes[terms.firstToken[t] ?? 0] ?? 0)) turning++;
  }
  let pairs = 0;
  let pairTotal = 0;
  for (let i = 1; i < terms.tokens.count; i++) {
    if ((terms.termOfToken[i] ?? -1) < 0 && (terms.termOfToken[i - 1] ?? -1) < 0) continue;
    pairTotal++;
    pairs += scan.pairFound[i] ?? 0;
  }
  const total = scan.totalWeight === 0 ? 1 : scan.totalWeight;
  const coverage = Math.min(1, found / total);
  let numbersOut = 0;
  let numbersAll = 0;
  let numbersLoose = 0;
  for (let t = 0; t < terms.termCount; t++) {
    const i = terms.firstToken[t] ?? 0;
    if ((terms.numeric[t] ?? 0) === 0) continue;
    numbersAll++;
    if (scan.found[t] === 0) numbersOut++;
    if (scan.pairFound[i] === 0 && (scan.pairFound[i + 1] ?? 0) === 0) numbersLoose++;
  }
  let namesOut = 0;
  let namesLoose = 0;
  for (let i = 0; i < terms.tokens.count; i++) {
    if (terms.nameOfToken[i] !== 1) continue;
    if (scan.found[terms.termOfToken[i] ?? 0] === 0) namesOut++;
    if (scan.pairFound[i] === 0 && (scan.pairFound[i + 1] ?? 0) === 0) namesLoose++;
  }
  const claimOnly = terms.negated && !scan.negationInWindow ? 1 : 0;
  const windowOnly = !terms.negated && scan.negationNear ? 1 : 0;
  return {
    coverage,
    anywhere: Math.min(1, anywhere / total),
    pairs: pairTotal === 0 ? coverage : pairs / pairTotal,
    missing_numbers: numbers === 0 ? 0 : missingNumbers / numbers,
    missing_names: names === 0 ? 0 : missingNames / names,
    any_missing_number: missingNumbers > 0 ? 1 : 0,
    any_missing_name: missingNames > 0 ? 1 : 0,
    opposition: opposite > 0 || claimOnly === 1 ? 1 : 0,
    neg_claim_only: claimOnly,
    neg_window_only: windowOnly,
    opposite: opposite > 0 ? 1 : 0,
    turning: turning > 0 ? 1 : 0,
    against: turning > 0 || opposite > 0 || claimOnly === 1 ? 1 : 0,
    numbers_out: numbersAll === 0 ? 0 : numbersOut / numbersAll,
    numbers_loose: numbersAll === 0 ? 0 : numbersLoose / numbersAll,
    any_numbers_out: numbersOut > 0 ? 1 : 0,
    any_numbers_loose: numbersLoose > 0 ? 1 : 0,
    names_out: names === 0 ? 0 : namesOut / names,
    names_loose: names === 0 ? 0 : namesLoose / names,
    any_names_out: namesOut > 0 ? 1 : 0,
    any_names_loose: namesLoose > 0 ? 1 : 0,
    hole: missing > 0 && missing <= 2 && coverage > 0.7 ? 1 : 0,
    holes: missing / (missing + 3),
    length: terms.contentTokens / (terms.contentTokens + 12),
  };
}
