/**
 * Every expected failure of a request, as one tagged union: a reason of `REQUEST_REASONS` with its data. Services,
 * Durable Objects and routes return or throw these values; `problems.ts` makes documents of them.
 */

import type { GenerationFailure } from '../src/generation/generator.ts';
import type { InputProblem } from '../src/input-problem.ts';
import type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
import type { REQUEST_REASONS } from '../src/wire/request-reasons.ts';

type Rows = typeof REQUEST_REASONS;

/** The data of a failure beside `reason`, by reason; `unknown` = none. */
export type FailureFields = {
  readonly [R in keyof Rows]: Parameters<Rows[R]> extends readonly [infer Data] ? Data : unknown;
} & {
  /** A required judgment failed; the problem carries the reason of `failure`. */
  readonly judgment_failed: { readonly failure: JudgeFailure };
  /** A generation failed or is incomplete; the problem carries the reason of `failure`. */
  readonly generation_failed: { readonly failure: GenerationFailure };
};

export type RequestFailure = {
  [R in keyof FailureFields]: { readonly reason: R } & FailureFields[R];
}[keyof FailureFields];

export type FailureOf<R extends keyof FailureFields> = { readonly reason: R } & FailureFields[R];

/** Carries a failure from the code that detects it to the app's error handler. */
export class RequestError extends Error {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super(failure.reason);
    this.name = 'RequestError';
    this.failure = failure;
  }
}

/** The error for invalid fields of a request. @param path of the field, as problems report it. */
export function invalidInput(path: InputProblem['path'], message: string): RequestError {
  return new RequestError({ reason: 'input_invalid', problems: [{ path, message }] });
}
