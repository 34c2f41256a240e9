/** How an answer is written for a family, for answers that are made here instead of by a policy (src/probe/). */
import type { ClaimWriter } from '../citations/claim-writers.ts';
import type { Source } from '../citations/types.ts';
import type { Rollout } from './rollout.ts';

export type AnswerForm<Recipe> = {
  /** How a claim is written, and by which name it cites a source; `null` = the family reads no citations. */
  citing(recipe: Recipe): { readonly write: ClaimWriter; readonly idOf: (source: Source) => string } | null;
  /**
   * The rollout of a policy that gives this answer.
   *
   * @param row the fields that all samples of the row share.
   * @param answer the text of the answer; its claims are written already.
   */
  answered(row: Omit<Rollout, 'response'>, answer: string, recipe: Recipe): Rollout;
};
