/**
 * The problems of requests that are answered in this process, in the words of the Worker (service/problems.ts).
 * Failures of keys, storage and model judges cannot occur here.
 */
import { EXTRACTIVE_NAME } from '../../../lib/extractive-generator.ts';
import { pathText } from '../../../src/input-problem.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { MAX_PROBLEM_ERRORS } from '../../../src/limits.ts';
import type { Problem } from '../../../src/wire/problem.ts';
import { NO_RECEIPTS_HERE } from '../../shared/local-judging.ts';
import type { RefiningFailure } from '../../shared/local-refining.ts';

export type LocalFailure = RefiningFailure | { readonly reason: 'issuer_unconfigured' };

/** The problem that describes a failure. */
export function localProblem(failure: LocalFailure, request_id: string): Problem {
  const text = textOf(failure);
  return { type: `urn:citeward:problem:${text.reason}`, retryable: false, request_id, ...text };
}

type ProblemText = Pick<Problem, 'title' | 'status' | 'reason' | 'detail' | 'errors' | 'missing'>;

function textOf(failure: LocalFailure): ProblemText {
  const { reason } = failure;
  switch (reason) {
    case 'input_invalid': {
      const { problems } = failure;
      const errors = problems
        .slice(0, MAX_PROBLEM_ERRORS)
        .map(({ path, message }) => ({ path: pathText(path), message }));
      const detail =
        problems.length > MAX_PROBLEM_ERRORS
          ? `${problems.length} fields are invalid; "errors" lists the first ${MAX_PROBLEM_ERRORS} with what was expected.`
          : 'Some fields are invalid; "errors" lists each with what was expected.';
      return { reason, status: 422, title: 'Invalid input', detail, errors };
    }
    case 'judge_unknown':
      return { reason, title: 'Judge unknown', ...unknownName('judge', LEXICAL_JUDGE.name) };
    case 'generator_unknown':
      return { reason, title: 'Generator unknown', ...unknownName('generator', EXTRACTIVE_NAME) };
    case 'issuer_unconfigured': {
      const detail = 'This process signs no receipts; a Worker with an ISSUER_KEY does.';
      const errors = [{ path: 'receipt', message: NO_RECEIPTS_HERE }];
      return { reason, status: 422, title: 'No issuer key is configured', detail, errors };
    }
    case 'judgment_missing': {
      const detail = 'The store lacks some judgments, and the request accepts stored ones only; "missing" lists them.';
      const missing = failure.missing.map(({ kind, key }) => ({ kind, key }));
      return { reason, status: 409, title: 'Judgment missing', detail, missing };
    }
    case 'judgment_failed':
    case 'generation_failed': {
      const title = reason === 'judgment_failed' ? 'Judgment failed' : 'Generation failed';
      return { reason: failure.failure.reason, status: 503, title, detail: failure.failure.detail };
    }
  }
}

function unknownName(path: string, known: string): Pick<Problem, 'status' | 'detail' | 'errors'> {
  const message = `expected one of ${known}`;
  return { status: 422, detail: `No ${path} of this name is configured; ${message}.`, errors: [{ path, message }] };
}
