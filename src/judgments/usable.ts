/** Whether a stored record may be used for a request: one rule for every place that reads the store. */
import { answersRequest } from './answers.ts';
import type { KnownIssuers } from './issuer.ts';
import type { StoredJudgment } from './record.ts';
import type { JudgmentRequest } from './types.ts';

/**
 * A record whose verdicts do not answer the request, or are not what their issuer signed, is as unusable as one that does
 * not parse. Unsigned records and unknown issuers pass: a key that is no longer listed must not have everything judged anew.
 */
export async function usableFor(
  request: JudgmentRequest,
  stored: StoredJudgment,
  known: KnownIssuers | null,
): Promise<StoredJudgment> {
  if (!stored.ok) return stored;
  if (!answersRequest(request, stored.judgment.verdicts)) return unusable('do not answer the request');
  const check = known === null ? 'unsigned' : await known.check(stored.judgment);
  return check === 'wrong' ? unusable('are not what their issuer signed') : stored;
}

function unusable(what: string): StoredJudgment {
  const detail = `the stored verdicts ${what}`;
  return { ok: false, failure: { reason: 'judgment_record_invalid', detail, retryable: false } };
}
