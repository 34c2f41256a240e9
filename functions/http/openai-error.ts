/** Errors in the form of OpenAI's API, for the routes that OpenAI's clients call. */
import type { Problem } from '../../src/wire/problem.ts';

const OPENAI_PATHS = ['/v1/files', '/v1/uploads', '/v1/batches'] as const;

/** Whether a path belongs to a route in OpenAI's shape. */
export function isOpenAiPath(path: string): boolean {
  return OPENAI_PATHS.some((root) => path === root || path.startsWith(`${root}/`));
}

/** OpenAI's clients retry 409 and 5xx unless this header forbids it. */
export function shouldRetry({ retryable }: Problem): Readonly<Record<string, string>> {
  return { 'x-should-retry': String(retryable) };
}

/** Adds the member `error`, which is all that OpenAI's clients read of a failed reply. */
export function withOpenAiError(problem: Problem): Problem {
  const [first] = problem.errors ?? [];
  const type = problem.status >= 500 ? 'server_error' : 'invalid_request_error';
  const message = first === undefined ? problem.detail : `${problem.detail} ${first.path}: ${first.message}.`;
  return { ...problem, error: { message, type, param: first?.path ?? null, code: problem.reason } };
}
