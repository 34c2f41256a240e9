/**
 * Compares a receipt with a reply and with a request. A valid signature shows that the receipt is unchanged; only this
 * comparison shows that it belongs to a given reward.
 */
import type { Rollout } from '../family/rollout.ts';
import type { Receipt, ReceiptedReply } from './receipt-schema.ts';
import { createRequestDigests } from './request-digest.ts';

/** The parts that a receipt and a reply have in common. */
const REPLY_PARTS = ['family', 'reward', 'status', 'reason', 'recipe', 'judgments', 'group_max'] as const;
type ReplyPart = (typeof REPLY_PARTS)[number];

/** The parts that can be recomputed from a request. */
type RequestPart = 'request' | 'recipe';

/** The parts in which a reply differs from a receipt; empty = the receipt is this reply's. */
export function differsFromReply(receipt: Receipt, reply: ReceiptedReply): ReplyPart[] {
  const obtained = reply.judgments.filter(({ failure }) => failure === null);
  const agrees: Readonly<Record<ReplyPart, boolean>> = {
    family: receipt.family === reply.family,
    // In JSON -0 equals 0.
    reward: receipt.reward === reply.reward,
    status: receipt.status === reply.status,
    reason: receipt.reason === reply.reason,
    recipe: receipt.recipe === reply.recipe.digest,
    judgments:
      receipt.judgments.length === obtained.length &&
      receipt.judgments.every(({ kind, key }, n) => obtained[n]?.kind === kind && obtained[n]?.key === key),
    group_max: receipt.group_max === (reply.details.group_max ?? null),
  };
  return REPLY_PARTS.filter((part) => !agrees[part]);
}

/**
 * The parts in which a request differs from a receipt, recomputed from the request.
 * @param recipe digest of the recipe that the request names (`resolveRecipe`); `null` = unknown, not compared.
 */
export function differsFromRequest(
  receipt: Receipt,
  asked: { readonly rollout: Rollout; readonly recipe: string | null },
): RequestPart[] {
  const differing: RequestPart[] = [];
  if (createRequestDigests()(asked.rollout) !== receipt.request) differing.push('request');
  if (asked.recipe !== null && asked.recipe !== receipt.recipe) differing.push('recipe');
  return differing;
}
