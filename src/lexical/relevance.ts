/**
 * Decides which of a claim's cited sources add to its support: those that support it alone, and those without which the
 * others support it less (as ALCE defines citation precision, Gao et al. 2023).
 */
import type { ClaimTerms } from './claim-terms.ts';
import { FAR, isCloser } from './closest-sentence.ts';
import {
  type Closest,
  supportFeatures,
  supportProbability,
  type TermMarks,
  type TermWeights,
} from './support-model.ts';

/** A source that supports the claim with this probability needs no other. */
const SUPPORTS_ALONE_MIN = 0.5;
/** A source is needed if the others support the claim with a probability that is this much lower. */
const NEEDED_MIN = 0.1;
/** A source whose best window covers less of the claim than this share is not about the claim. */
export const RELEVANT_COVERAGE = 0.25;
/** The same share if a claim cites several sources: each supports a part of the claim, so less of it is enough. */
const RELEVANT_COVERAGE_SHARED = 0.15;

/** What some of the cited sources have of a claim. */
type Evidence = TermMarks & {
  /** Nonzero for each term that is in the text or title, or is a number that a number of the text rounds to. */
  readonly known: ArrayLike<number>;
  /** Sources that the claim copies. */
  readonly copied: number;
};

/** What one cited source has of a claim. */
export type SourceShare = Evidence & {
  /** Share of the claim's weight in the best window of the source, in [0, 1]. */
  readonly coverage: number;
};

/**
 * Returns for each of several sources whether it adds to the support of the claim. Takes time linear in the terms of the
 * claim times its sources.
 *
 * @param all the sum of the shares.
 * @param support the probability that all sources together support the claim.
 */
export function relevantSources(
  terms: ClaimTerms,
  weights: TermWeights,
  shares: readonly SourceShare[],
  all: SumOfShares,
  support: number,
): boolean[] {
  return shares.map(
    (share) =>
      share.coverage >= RELEVANT_COVERAGE_SHARED &&
      (supportBy(terms, weights, share) >= SUPPORTS_ALONE_MIN ||
        support - supportBy(terms, weights, differenceOf(all, share)) >= NEEDED_MIN),
  );
}

function supportBy(terms: ClaimTerms, weights: TermWeights, evidence: Evidence): number {
  const { missingNumber, missingName } = missingFrom(terms, evidence.known);
  return supportProbability(supportFeatures(terms, weights, evidence, missingNumber, missingName), evidence.copied > 0);
}

function missingFrom(
  terms: ClaimTerms,
  known: ArrayLike<number>,
): { readonly missingNumber: boolean; readonly missingName: boolean } {
  const { tokens, termOfToken, nameOfToken } = terms;
  const isMissing = (token: number): boolean => (known[termOfToken[token] ?? 0] ?? 0) === 0;
  let missingNumber = false;
  for (let n = 0; n < tokens.numberCount && !missingNumber; n++) missingNumber = isMissing(tokens.numberTokens[n] ?? 0);
  let missingName = false;
  for (let i = 0; i < tokens.count && !missingName; i++) missingName = nameOfToken[i] === 1 && isMissing(i);
  return { missingNumber, missingName };
}

/** In how many sources each mark occurs. */
export type SumOfShares = Record<'found' | 'anywhere' | 'opposed' | 'known', Int32Array> & {
  negations: number;
  copied: number;
  closest: Closest;
  /** The closest sentence of the other sources. */
  readonly second: Closest;
};

/** Counts in how many sources each mark occurs. */
export function sumOf({ termCount }: ClaimTerms, shares: readonly SourceShare[]): SumOfShares {
  const empty = (): Int32Array => new Int32Array(termCount);
  let [closest, second] = [FAR, FAR];
  for (const share of shares) {
    if (isCloser(share.closest, closest)) [closest, second] = [share.closest, closest];
    else if (isCloser(share.closest, second)) second = share.closest;
  }
  const counts = { found: empty(), anywhere: empty(), opposed: empty(), known: empty(), negations: 0, copied: 0 };
  const sum = { ...counts, closest, second };
  for (const share of shares) add(sum, share, 1);
  return sum;
}

/** The counts without those of one source. */
function differenceOf(all: SumOfShares, share: SourceShare): SumOfShares {
  const rest = {
    found: all.found.slice(),
    anywhere: all.anywhere.slice(),
    opposed: all.opposed.slice(),
    known: all.known.slice(),
    negations: all.negations,
    copied: all.copied,
    closest: share.closest === all.closest ? all.second : all.closest,
    second: FAR,
  };
  add(rest, share, -1);
  return rest;
}

function add(counts: SumOfShares, share: SourceShare, sign: 1 | -1): void {
  for (const mark of ['found', 'anywhere', 'opposed', 'known'] as const) {
    const of = counts[mark];
    for (let t = 0; t < of.length; t++) of[t] = (of[t] ?? 0) + sign * (share[mark][t] ?? 0);
  }
  counts.negations += sign * share.negations;
  counts.copied += sign * share.copied;
}
