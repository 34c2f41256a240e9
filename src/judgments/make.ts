/** Making one judgment: ask the judge, check that its verdicts answer the request, date and sign the record. */
import { answersRequest } from './answers.ts';
import { type Issuer, signed } from './issuer.ts';
import type { Judge } from './judge.ts';
import type { JudgeFailure, Judgment, JudgmentPreimage, JudgmentRequest } from './types.ts';

export type Making = {
  readonly key: string;
  readonly preimage: JudgmentPreimage;
  readonly request: JudgmentRequest;
  readonly deadline_ms: number;
};

export type MadeJudgment =
  | { readonly ok: true; readonly judgment: Judgment }
  | { readonly ok: false; readonly failure: JudgeFailure };

/** @param now the time, ISO 8601. */
export async function makeJudgment(
  judge: Judge,
  { key, preimage, request, deadline_ms }: Making,
  issuer: Issuer | null,
  now: () => string,
): Promise<MadeJudgment> {
  const reply = await judge.judge(request, { deadline_ms });
  if (!reply.ok) return reply;
  if (!answersRequest(request, reply.verdicts)) return { ok: false, failure: NOT_AN_ANSWER };
  const { verdicts, usage } = reply;
  return { ok: true, judgment: await signed({ v: 2, key, preimage, verdicts, usage, judged_at: now() }, issuer) };
}

const NOT_AN_ANSWER: JudgeFailure = {
  reason: 'judgment_record_invalid',
  detail: "the judge's verdicts do not answer its request",
  retryable: true,
};
