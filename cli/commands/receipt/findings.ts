/** What can be said of one receipt, line by line: its signature, its reply, its request. */
import type { KnownIssuers } from '../../../src/judgments/issuer.ts';
import { checkReceipt } from '../../../src/scoring/receipt.ts';
import { differsFromReply, differsFromRequest } from '../../../src/scoring/receipt-agreement.ts';
import type { Receipt } from '../../../src/scoring/receipt-schema.ts';
import type { Receipted } from './documents.ts';
import type { KnownKeys } from './known-keys.ts';
import type { RequestFinder } from './requests.ts';

/** `open`: nothing was there to check it with, so it is neither right nor wrong. */
export type Finding = {
  readonly what: string;
  readonly verdict: 'holds' | 'fails' | 'open';
  readonly said: string;
};

export type CheckMaterial = {
  readonly known: KnownIssuers;
  readonly keys: KnownKeys;
  /** Where the keys are from. */
  readonly keysFrom: string;
  /** Key ids that are the right ones; empty = any of the known keys. */
  readonly pinned: readonly string[];
  /** `null` = no request was given. */
  readonly requests: RequestFinder | null;
};

/** All that there is to say; whether the receipt holds is whether none fails. */
export async function findingsOf({ receipt, reply, origin }: Receipted, means: CheckMaterial): Promise<Finding[]> {
  if (receipt === null) {
    return [{ what: 'receipt', verdict: 'fails', said: 'there is none: the request did not ask for it' }];
  }
  const findings: Finding[] = [
    { what: 'states', verdict: 'open', said: statement(receipt) },
    await signatureFinding(receipt, means),
  ];
  if (reply === null) findings.push({ what: 'reply', verdict: 'open', said: 'not given: the receipt stands alone' });
  else {
    const differs = differsFromReply(receipt, reply);
    findings.push(
      differs.length === 0
        ? { what: 'reply', verdict: 'holds', said: 'reward, status, recipe and judgments are those of the receipt' }
        : { what: 'reply', verdict: 'fails', said: `is another's: ${differs.join(', ')} ${differ(differs.length)}` },
    );
  }
  if (means.requests === null) {
    findings.push({
      what: 'request',
      verdict: 'open',
      said: `${short(receipt.request)}, not compared: --request FILE`,
    });
  } else findings.push(...(await requestFindings(receipt, await means.requests(origin))));
  return findings;
}

async function signatureFinding(receipt: Receipt, { known, keys, keysFrom, pinned }: CheckMaterial): Promise<Finding> {
  const { key_id } = receipt.issuer;
  const finding = (verdict: Finding['verdict'], said: string): Finding => ({ what: 'signature', verdict, said });
  if (keys.revoked.has(key_id)) return finding('fails', `by ${short(key_id)}, which ${keysFrom} lists as revoked`);
  const check = await checkReceipt(receipt, known);
  switch (check) {
    case 'unknown_key':
      return finding('fails', `by ${short(key_id)}, which is no key of ${keysFrom}`);
    case 'wrong':
      return finding('fails', `WRONG: the receipt is not what ${short(key_id)} signed`);
    case 'valid': {
      const status = keys.statuses.get(key_id);
      const by = `by ${short(key_id)}${status === undefined ? '' : ` (${status})`} of ${keysFrom}`;
      if (pinned.length > 0 && !pinned.includes(key_id)) return finding('fails', `${by}, which is not the pinned key`);
      return finding('holds', `valid, ${by}${pinned.length > 0 ? ', as pinned' : ''}`);
    }
  }
}

async function requestFindings(receipt: Receipt, asked: Awaited<ReturnType<RequestFinder>>): Promise<Finding[]> {
  if (!asked.ok) return [{ what: 'request', verdict: 'fails', said: asked.why }];
  const differs = await differsFromRequest(receipt, asked);
  const request: Finding = differs.includes('request')
    ? { what: 'request', verdict: 'fails', said: `is another: it does not give ${short(receipt.request)}` }
    : { what: 'request', verdict: 'holds', said: `gives ${short(receipt.request)}` };
  if (asked.recipe === null) {
    return [request, { what: 'recipe', verdict: 'open', said: 'not compared: the request names none' }];
  }
  const recipe: Finding = differs.includes('recipe')
    ? { what: 'recipe', verdict: 'fails', said: `is another: the request's is ${short(asked.recipe)}` }
    : { what: 'recipe', verdict: 'holds', said: `gives ${short(receipt.recipe)}` };
  return [request, recipe];
}

function statement({ family, reward, reason, issued_at, judgments }: Receipt): string {
  const what = reward === null ? `no reward (${reason ?? 'unscored'})` : `reward ${reward}`;
  const rests = judgments.length === 1 ? '1 judgment' : `${judgments.length} judgments`;
  return `${what}, ${family}, from ${rests}, issued ${issued_at}`;
}

function differ(count: number): string {
  return count === 1 ? 'differs' : 'differ';
}

/** Enough of a digest to tell it from others by eye. */
function short(digest: string): string {
  return `${digest.slice(0, 12)}…`;
}
