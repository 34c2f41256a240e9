/**
 * OpenAI's clients read `error` of a failed reply, and nothing else of a problem: routes of OpenAI's shape carry both. They
 * also try 409 and 5xx again unless they are told not to (`x-should-retry`).
 */
import type { Problem } from '../../src/wire/problem.ts';

const OPENAI_PATHS = ['/v1/files', '/v1/uploads', '/v1/batches'] as const;

export function isOpenAiPath(path: string): boolean {
  return OPENAI_PATHS.some((root) => path === root || path.startsWith(`${root}/`));
}

/** The problem with what OpenAI's clients look for. */
export function withOpenAiError(problem: Problem): Problem {
  const [first] = problem.errors ?? [];
  const type = problem.status >= 500 ? 'server_error' : 'invalid_request_error';
  const message = first === undefined ? problem.detail : `${problem.detail} ${first.path}: ${first.message}.`;
  return { ...problem, error: { message, type, param: first?.path ?? null, code: problem.reason } };
}

export function retryHeader({ retryable }: Problem): Readonly<Record<string, string>> {
  return { 'x-should-retry': String(retryable) };
}
