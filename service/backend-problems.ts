/** The problems of failed judgments and generations. The detail comes with the failure; it is a constant of this code, too. */
import { type GenerationFailure, generationReason } from '../src/generation/generator.ts';
import { type JudgeFailure, judgeReason } from '../src/judgments/protocol/failure.ts';
import { DEFAULT_RETRY_AFTER_S, type Entry, entry } from '../src/wire/problem-entry.ts';

export function judgeProblem(failure: JudgeFailure): Entry {
  const { budget, reason } = failure;
  const problem = backendProblem(failure, judgeReason(reason));
  return budget === undefined ? problem : { ...problem, extra: { budget } };
}

export function generationProblem(failure: GenerationFailure): Entry {
  return backendProblem(failure, generationReason(failure.reason));
}

type BackendFailure = {
  readonly detail: string;
  readonly retryable: boolean;
  readonly retry_after_s?: number;
};

/** Builds the entry of a failed backend call. Only a retryable failure has `Retry-After`. */
function backendProblem(
  { detail, retryable, retry_after_s }: BackendFailure,
  { status, title }: { readonly status: number; readonly title: string },
): Entry {
  const retryAfterS = Math.ceil(retry_after_s ?? DEFAULT_RETRY_AFTER_S);
  return entry(status, title, detail, retryable ? { retryable, retryAfterS } : {});
}
