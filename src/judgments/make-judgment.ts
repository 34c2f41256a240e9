/** Makes judgments, and decides which stored judgments may be used. All callers share these rules. */

import { sha256 } from '../digest.ts';
import type { Failed } from '../result.ts';
import { type Issuer, type KnownIssuers, signed } from './issuer.ts';
import type { Judge, JudgeCallOptions } from './judge.ts';
import type { Judgment, JudgmentPreimage } from './judgment.ts';
import { answersRequest, type JudgmentRequest } from './kinds/registry.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import { boundedReasons } from './reasons.ts';
import type { StoredJudgment } from './record.ts';

/** A request with its key, and how the judge is called. */
type Making = Omit<JudgeCallOptions, 'replicate'> & {
  readonly key: string;
  readonly preimage: JudgmentPreimage;
  readonly request: JudgmentRequest;
};

export type MadeJudgment =
  | {
      readonly ok: true;
      readonly judgment: Judgment;
      /** Beside the record, of which they are no part. Absent: the judge gave none. */
      readonly reasons?: readonly string[];
    }
  | Failed<JudgeFailure>;

/**
 * Asks the judge, checks that its verdicts answer the request, and dates and signs the record.
 * @param issuer `null` = leave the record unsigned.
 * @param now returns the current time, ISO 8601.
 */
export async function makeJudgment(
  judge: Judge,
  { key, preimage, request, ...options }: Making,
  issuer: Issuer | null,
  now: () => string,
): Promise<MadeJudgment> {
  const session = sessionOf(preimage);
  const reply = await judge.judge(request, { ...options, replicate: preimage.replicate, session });
  if (!reply.ok) return reply;
  if (!answersRequest(request, reply.verdicts)) return { ok: false, failure: NOT_AN_ANSWER };
  const { verdicts, usage, reasons } = reply;
  const judgment = await signed({ v: 2, key, preimage, verdicts, usage, judged_at: now() }, issuer);
  return { ok: true, judgment, ...(reasons === undefined ? {} : { reasons: boundedReasons(reasons) }) };
}

/** 32 hex digits that the judgments of a group share: the digest of its question and sources. */
function sessionOf({ inputs: { question = '', sources = '' } }: JudgmentPreimage): string {
  return sha256(`${question} ${sources}`).slice(0, 32);
}

const NOT_AN_ANSWER: JudgeFailure = {
  reason: 'judgment_record_invalid',
  detail: "the judge's verdicts do not answer its request",
  retryable: true,
};

/**
 * Returns the stored record if it may answer the request, else a `judgment_record_invalid` failure: its verdicts do not
 * answer the request, or differ from what their issuer signed. Unsigned records and unknown issuers pass, so removing a
 * public key from the configuration invalidates nothing.
 * @param known `null` = check no signatures.
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

function unusable(problem: string): StoredJudgment {
  const detail = `the stored verdicts ${problem}`;
  return { ok: false, failure: { reason: 'judgment_record_invalid', detail, retryable: false } };
}
