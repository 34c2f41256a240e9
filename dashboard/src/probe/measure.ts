/** Measures prompts by the API, one request after another. */
import type { ProbedRow } from '../../../src/probe/probe-rows.ts';
import { type JudgeUse, mergedJudges } from '../../../src/scoring/reward-reply.ts';
import type { ProbeReply } from '../../../src/wire/probe.ts';
import { type PromptRow, probeRequests } from '../../../src/wire/probe-prompts.ts';
import { type CallFailure, callApi } from '../api/call.ts';

export type Measured = { readonly rows: readonly ProbedRow[]; readonly judges: readonly JudgeUse[] };

export type MeasuredReply =
  | { readonly ok: true; readonly value: Measured }
  /** `first`: the line of the first row of the refused request. */
  | { readonly ok: false; readonly failure: CallFailure; readonly lines: readonly number[] };

/** @param onDone receives the number of measured prompts. @throws DOMException (AbortError) when `signal` aborts. */
export async function measurePrompts(
  prompts: readonly PromptRow[],
  recipe: Readonly<Record<string, unknown>>,
  judge: string,
  { signal, onDone }: { readonly signal: AbortSignal; readonly onDone: (prompts: number) => void },
): Promise<MeasuredReply> {
  const rows: ProbedRow[] = [];
  const judges: (readonly JudgeUse[])[] = [];
  for (const request of probeRequests(prompts)) {
    const body = {
      rows: request.map(({ row }) => row),
      recipe,
      ...(judge === '' ? {} : { judge }),
      detail: 'rows',
    };
    const reply = await callApi<ProbeReply>('/v1/recipes/probe', { method: 'POST', body, signal });
    if (!reply.ok) return { ok: false, failure: reply.failure, lines: request.map(({ line }) => line) };
    rows.push(...(reply.value.measured ?? []));
    judges.push(reply.value.judges);
    onDone(rows.length);
  }
  return { ok: true, value: { rows, judges: mergedJudges(judges) } };
}
