/**
 * The problems of requests that are answered in this process, with the reasons and fields of the Worker's problems.
 * Failures of keys, storage and model judges cannot occur here.
 */

import { EXTRACTIVE_NAME } from '../../../lib/extractive-generator.ts';
import type { GenerationFailure } from '../../../src/generation/generator.ts';
import { type InputProblem, pathText } from '../../../src/input-problem.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import type { JudgeFailure, JudgmentKind } from '../../../src/judgments/types.ts';
import { MAX_PROBLEM_ERRORS } from '../../../src/limits.ts';
import type { Problem } from '../../../src/wire/problem.ts';
import { NO_RECEIPTS_HERE } from '../../shared/local-judging.ts';

export type LocalFailure =
  | { readonly reason: 'input_invalid'; readonly problems: readonly InputProblem[] }
  | { readonly reason: 'judge_unknown' }
  | { readonly reason: 'generator_unknown' }
  | { readonly reason: 'issuer_unconfigured' }
  | { readonly reason: 'judgment_missing'; readonly missing: readonly { kind: JudgmentKind; key: string }[] }
  /** A judgment that needs a judge or a sandbox of a Worker. */
  | { readonly reason: 'judgment_failed'; readonly failure: JudgeFailure }
  | { readonly reason: 'generation_failed'; readonly failure: GenerationFailure };

/** The problem that describes a failure. */
export function localProblem(failure: LocalFailure, request_id: string): Problem {
  const text = textOf(failure);
  return { type: `urn:citeward:problem:${text.reason}`, retryable: false, request_id, ...text };
}

type ProblemText = Pick<Problem, 'title' | 'status' | 'reason' | 'detail' | 'errors' | 'missing'>;

function textOf(failure: LocalFailure): ProblemText {
  switch (failure.reason) {
    case 'input_invalid': {
      const { problems } = failure;
      const errors = problems
        .slice(0, MAX_PROBLEM_ERRORS)
        .map(({ path, message }) => ({ path: pathText(path), message }));
      const detail =
        problems.length > MAX_PROBLEM_ERRORS
          ? `${problems.length} fields are wrong; the first ${MAX_PROBLEM_ERRORS} are listed in errors.`
          : 'Some fields are wrong; errors lists each with what was expected.';
      return { reason: 'input_invalid', status: 422, title: 'Invalid input', detail, errors };
    }
    case 'judge_unknown': {
      const message = `expected one of ${LEXICAL_JUDGE.name}`;
      const detail = `No judge of that name is configured; ${message}.`;
      return {
        reason: 'judge_unknown',
        status: 422,
        title: 'Judge unknown',
        detail,
        errors: [{ path: 'judge', message }],
      };
    }
    case 'generator_unknown': {
      const message = `expected one of ${EXTRACTIVE_NAME}`;
      const detail = `No generator of that name is configured; ${message}.`;
      return {
        reason: 'generator_unknown',
        status: 422,
        title: 'Generator unknown',
        detail,
        errors: [{ path: 'generator', message }],
      };
    }
    case 'issuer_unconfigured':
      return {
        reason: 'issuer_unconfigured',
        status: 422,
        title: 'No issuer key is configured',
        detail: 'This process signs nothing: a Worker with an ISSUER_KEY does.',
        errors: [{ path: 'receipt', message: NO_RECEIPTS_HERE }],
      };
    case 'judgment_missing':
      return {
        reason: 'judgment_missing',
        status: 409,
        title: 'Judgment missing',
        detail: 'Some judgments are not in the store, and the request asked for stored ones only; missing names them.',
        missing: failure.missing.map(({ kind, key }) => ({ kind, key })),
      };
    case 'judgment_failed': {
      const { reason, detail } = failure.failure;
      return { reason, status: 503, title: 'The judgment could not be had', detail };
    }
    case 'generation_failed': {
      const { reason, detail } = failure.failure;
      return { reason, status: 503, title: 'The answers could not be had', detail };
    }
  }
}
