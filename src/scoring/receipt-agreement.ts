/**
 * Whether a receipt is the receipt of a certain reply, and of a certain request. A signature says that the receipt is
 * whole; only this says that it belongs to the reward in hand.
 */
import type { Rollout } from '../family/rollout.ts';
import type { Receipt, ReceiptedReply } from './receipt-schema.ts';
import { createRequestDigests } from './request-digest.ts';

/** What a receipt and a reply both state. */
const REPLY_PARTS = ['family', 'reward', 'status', 'reason', 'recipe', 'judgments', 'group_max'] as const;
export type ReplyPart = (typeof REPLY_PARTS)[number];

/** What can be computed anew from a request. */
export type RequestPart = 'request' | 'recipe';

/** The parts in which a reply is not what its receipt says; none = it is this reply's receipt. */
export function differsFromReply(receipt: Receipt, reply: ReceiptedReply): ReplyPart[] {
  const had = reply.judgments.filter(({ failure }) => failure === null);
  const agrees: Readonly<Record<ReplyPart, boolean>> = {
    family: receipt.family === reply.family,
    // Equal in JSON, where -0 is 0.
    reward: receipt.reward === reply.reward,
    status: receipt.status === reply.status,
    reason: receipt.reason === reply.reason,
    recipe: receipt.recipe === reply.recipe.digest,
    judgments:
      receipt.judgments.length === had.length &&
      receipt.judgments.every(({ kind, key }, n) => had[n]?.kind === kind && had[n]?.key === key),
    group_max: receipt.group_max === (reply.details.group_max ?? null),
  };
  return REPLY_PARTS.filter((part) => !agrees[part]);
}

/**
 * The same for what was asked, computed anew.
 * @param recipe digest of the recipe that the request names (`resolveRecipe`); `null` = it is not known here.
 */
export async function differsFromRequest(
  receipt: Receipt,
  asked: { readonly rollout: Rollout; readonly recipe: string | null },
): Promise<RequestPart[]> {
  const differing: RequestPart[] = [];
  if ((await createRequestDigests()(asked.rollout)) !== receipt.request) differing.push('request');
  if (asked.recipe !== null && asked.recipe !== receipt.recipe) differing.push('recipe');
  return differing;
}
