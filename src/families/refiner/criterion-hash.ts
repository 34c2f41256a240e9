/** Hashes the words of a criterion, so that facts can hold it out without its text. */
import { sha256 } from '../../digest.ts';
import type { CriterionInput } from '../../family/rollout.ts';

/** 16 bits. */
const HASH_DIGITS = 4;

/** The hash of a criterion, 0 to 65,535: equal words have equal hashes in every row and run. */
export function criterionHash({ title, description }: Pick<CriterionInput, 'title' | 'description'>): number {
  return Number.parseInt(sha256(JSON.stringify([title ?? null, description])).slice(0, HASH_DIGITS), 16);
}
