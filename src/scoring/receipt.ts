/**
 * The receipt of a score: a signature over what went in (digests of the rollout, the recipe and each judgment) and what
 * came out (the reward, or why there is none). Whoever holds a receipt can show later which deployment gave which reward
 * for what. It proves neither that the judge was right nor that nobody asked twice.
 */

import type { Score } from '../family/score.ts';
import type { Issuer, KnownIssuers, SignatureCheck } from '../judgments/issuer.ts';
import type { PinnedJudgment } from '../judgments/pin.ts';
import type { Receipt } from './receipt-schema.ts';

/** `unknown_key`: signed by somebody whose public key is not at hand, so neither right nor wrong. */
export type ReceiptCheck = Exclude<SignatureCheck, 'unsigned'>;

export type ReceiptParts = {
  /** Digest of the rollout (request-digest.ts). */
  readonly request: string;
  /** Digest of the recipe (ResolvedRecipe). */
  readonly recipe: string;
  readonly judgments: readonly PinnedJudgment[];
  readonly score: Score;
  /** ISO 8601, UTC. */
  readonly issued_at: string;
};

/** Signs a score. @throws Error if a number in it is not finite. */
export async function createReceipt(parts: ReceiptParts, issuer: Issuer): Promise<Receipt> {
  const { request, recipe, judgments, score, issued_at } = parts;
  const { family, reward, status, reason } = score;
  const content: Omit<Receipt, 'issuer'> = {
    kind: 'receipt',
    v: 1,
    request,
    recipe,
    judgments: [...judgments],
    family,
    reward,
    status,
    reason,
    group_max: score.family === 'long-trace' ? score.details.group_max : null,
    issued_at,
  };
  return { ...content, issuer: await issuer.signStatement(content) };
}

/** Whether a receipt is what its issuer signed. Whether it is of a certain reply or request is agreement.ts's to say. */
export function checkReceipt({ issuer, ...content }: Receipt, known: KnownIssuers): Promise<ReceiptCheck> {
  return known.checkStatement(content, issuer);
}
