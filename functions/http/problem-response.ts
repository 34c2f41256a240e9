/** The reply to a failed request. */
import type { RequestFailure } from '../../service/failures.ts';
import { headersOf, problemOf } from '../../service/problems.ts';
import { vendorError, vendorOf } from './compat-errors.ts';
import { isOpenAiPath, shouldRetry, withOpenAiError } from './openai-error.ts';

/**
 * Answers with the problem of a failure. @param path of the request: routes in OpenAI's shape add the error in OpenAI's
 * form, and drop-ins have the error of the API that they replace.
 */
export function problemResponse(failure: RequestFailure, requestId: string, path: string): Response {
  const problem = problemOf(failure, requestId);
  const headers = headersOf(failure);
  const vendor = vendorOf(path);
  if (vendor !== null) {
    const { status, body, headers: own } = vendorError(vendor, problem);
    return Response.json(body, { status, headers: { ...headers, ...own } });
  }
  const isOpenAi = isOpenAiPath(path);
  return new Response(JSON.stringify(isOpenAi ? withOpenAiError(problem) : problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      ...(isOpenAi ? shouldRetry(problem) : {}),
      ...headers,
    },
  });
}
