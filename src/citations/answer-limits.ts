/**
 * The limits of one answer. Samples that are scored together share the memory of an isolate and the size of a reply, so
 * the limits of each depend on their number, but never on what another sample contains.
 */
import { MAX_CITATIONS, MAX_CLAIMS, MAX_COMPARED_CHARS, MAX_FULL_ANSWERS, MAX_STATEMENTS } from '../limits.ts';

export type AnswerLimits = {
  readonly claims: number;
  readonly citations: number;
  readonly statements: number;
  /** UTF-16 code units of cited texts, summed over all citations. */
  readonly comparedChars: number;
};

/**
 * The limits of each answer of a group: those of a single answer up to MAX_FULL_ANSWERS samples, then equal shares.
 *
 * @param samples the number of samples that are scored together, from 1.
 * @example
 * answerLimits(8).claims; // 2000
 * answerLimits(64).claims; // 250
 */
export function answerLimits(samples: number): AnswerLimits {
  const share = (limit: number): number => Math.min(limit, Math.floor((limit * MAX_FULL_ANSWERS) / samples));
  return {
    claims: share(MAX_CLAIMS),
    citations: share(MAX_CITATIONS),
    statements: share(MAX_STATEMENTS),
    comparedChars: share(MAX_COMPARED_CHARS),
  };
}

/** Whether the limits of a group of this size differ from those of a single answer. */
export function sharesLimits(samples: number): boolean {
  return samples > MAX_FULL_ANSWERS;
}

/** The start of a tag that is not a closing one, or of a marker. */
const OPENING = /<(?!\/)|[[【]/g;

/**
 * The most claims that an answer can have within its limits, from its characters that can open a citation. Linear.
 *
 * @param samples the number of samples that are scored together, from 1.
 */
export function mostClaims(response: string, samples: number): number {
  const { claims } = answerLimits(samples);
  let count = 0;
  for (const _ of response.matchAll(OPENING)) if (++count === claims) break;
  return count;
}
