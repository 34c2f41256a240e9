/** Checks one receipt: its signature, its reply and its request. */
import type { KnownIssuers } from '../../../src/judgments/issuer.ts';
import { checkReceipt } from '../../../src/scoring/receipt.ts';
import { differsFromReply, differsFromRequest } from '../../../src/scoring/receipt-agreement.ts';
import type { Receipt } from '../../../src/scoring/receipt-schema.ts';
import { countOf } from '../../shared/number-text.ts';
import type { Receipted } from './documents.ts';
import type { KnownKeys } from './known-keys.ts';
import type { FoundRequest, RequestFinder } from './requests.ts';

/** The result of one check of a receipt. `unchecked`: the command was not given what the check needs. */
export type Finding = {
  readonly subject: string;
  readonly verdict: 'holds' | 'fails' | 'unchecked';
  readonly text: string;
};

export type CheckMaterial = {
  readonly known: KnownIssuers;
  readonly keys: KnownKeys;
  /** The file or URL that the keys come from, for messages. */
  readonly keysFrom: string;
  /** Accepted key ids; empty = every known key. */
  readonly pinned: readonly string[];
  /** `null` = no request is given. */
  readonly findRequest: RequestFinder | null;
};

/** All findings on a receipt. The receipt is valid if none of them fails. */
export async function findingsOf({ receipt, reply, origin }: Receipted, material: CheckMaterial): Promise<Finding[]> {
  if (receipt === null) {
    return [{ subject: 'receipt', verdict: 'fails', text: 'missing: the request did not ask for a receipt' }];
  }
  const findings: Finding[] = [
    { subject: 'states', verdict: 'unchecked', text: statement(receipt) },
    await signatureFinding(receipt, material),
  ];
  if (reply === null)
    findings.push({ subject: 'reply', verdict: 'unchecked', text: 'not given: the file holds only the receipt' });
  else {
    const differs = differsFromReply(receipt, reply);
    findings.push(
      differs.length === 0
        ? { subject: 'reply', verdict: 'holds', text: 'matches the receipt: reward, status, recipe and judgments' }
        : {
            subject: 'reply',
            verdict: 'fails',
            text: `does not match the receipt: ${differs.join(', ')} ${differs.length === 1 ? 'differs' : 'differ'}`,
          },
    );
  }
  if (material.findRequest === null) {
    findings.push({
      subject: 'request',
      verdict: 'unchecked',
      text: `${short(receipt.request)}, not compared: give --request FILE`,
    });
  } else findings.push(...(await requestFindings(receipt, await material.findRequest(origin))));
  return findings;
}

async function signatureFinding(receipt: Receipt, { known, keys, keysFrom, pinned }: CheckMaterial): Promise<Finding> {
  const { key_id } = receipt.issuer;
  const finding = (verdict: Finding['verdict'], text: string): Finding => ({ subject: 'signature', verdict, text });
  if (keys.revoked.has(key_id)) return finding('fails', `by ${short(key_id)}, which ${keysFrom} lists as revoked`);
  const check = await checkReceipt(receipt, known);
  switch (check) {
    case 'unknown_key':
      return finding('fails', `by ${short(key_id)}, which is not a key of ${keysFrom}`);
    case 'wrong':
      return finding('fails', `WRONG: the receipt differs from what ${short(key_id)} signed`);
    case 'valid': {
      const status = keys.statuses.get(key_id);
      const by = `by ${short(key_id)}${status === undefined ? '' : ` (${status})`} of ${keysFrom}`;
      if (pinned.length > 0 && !pinned.includes(key_id)) return finding('fails', `${by}, which is not the pinned key`);
      return finding('holds', `valid, ${by}${pinned.length > 0 ? ', as pinned' : ''}`);
    }
  }
}

async function requestFindings(receipt: Receipt, found: FoundRequest): Promise<Finding[]> {
  if (!found.ok) return [{ subject: 'request', verdict: 'fails', text: found.error }];
  const differs = differsFromRequest(receipt, found.value);
  const request: Finding = differs.includes('request')
    ? { subject: 'request', verdict: 'fails', text: `does not match: its digest is not ${short(receipt.request)}` }
    : { subject: 'request', verdict: 'holds', text: `matches: digest ${short(receipt.request)}` };
  if (found.value.recipe === null) {
    return [request, { subject: 'recipe', verdict: 'unchecked', text: 'not compared: the request names no recipe' }];
  }
  const recipe: Finding = differs.includes('recipe')
    ? { subject: 'recipe', verdict: 'fails', text: `does not match: the request has ${short(found.value.recipe)}` }
    : { subject: 'recipe', verdict: 'holds', text: `matches: digest ${short(receipt.recipe)}` };
  return [request, recipe];
}

function statement({ family, reward, reason, issued_at, judgments }: Receipt): string {
  const what = reward === null ? `no reward (${reason ?? 'unscored'})` : `reward ${reward}`;
  return `${what}, ${family}, from ${countOf(judgments.length, 'judgment')}, issued ${issued_at}`;
}

/** The first digits of a digest. */
function short(digest: string): string {
  return `${digest.slice(0, 12)}…`;
}
