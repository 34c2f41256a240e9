/**
 * The receipt of a score: a signature over the inputs (digests of the rollout, the recipe and each judgment) and the
 * result (the reward, or why there is none). The holder of a receipt can prove which deployment gave which reward for
 * which input. A receipt proves neither that the judge was right nor that the rollout was scored only once.
 */

import type { Score } from '../families/composers.ts';
import type { ScoreDetails } from '../family/score.ts';
import type { Issuer, KnownIssuers, SignatureCheck } from '../judgments/issuer.ts';
import type { PinnedJudgment } from '../judgments/pin.ts';
import type { Receipt } from './receipt-schema.ts';

/** `unknown_key`: the signer's public key is not known here, so the signature cannot be checked. */
type ReceiptCheck = Exclude<SignatureCheck, 'unsigned'>;

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
  const details: ScoreDetails = score.details;
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
    group_max: details.group_max ?? null,
    issued_at,
  };
  return { ...content, issuer: await issuer.signStatement(content) };
}

/** Checks a receipt's signature. receipt-agreement.ts compares a receipt with a reply and with a request. */
export function checkReceipt({ issuer, ...content }: Receipt, known: KnownIssuers): Promise<ReceiptCheck> {
  return known.checkStatement(content, issuer);
}
