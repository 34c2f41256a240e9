/** Hashes of the words of a criterion and of a visit, so that facts can leave criteria out without their text. */
import { sha256 } from '../../digest.ts';
import type { CriterionInput } from '../../family/rollout.ts';

/** The hash of a criterion, 0 to 65,535: equal words have equal hashes in every row and run. */
export function criterionHash({ title, description }: Pick<CriterionInput, 'title' | 'description'>): number {
  return hash16(JSON.stringify([title ?? null, description]));
}

/** The first 16 bits of the text's SHA-256. */
export function hash16(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 4), 16);
}
