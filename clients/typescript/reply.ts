/**
 * Replies as values: the body, or the failure. Bodies are validated, so that a proxy's error page or an incompatible
 * Worker version is never mistaken for a score.
 */

import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../src/input-problem.ts';
import type { Failed } from '../../src/result.ts';
import type { Answer } from './transport.ts';

/** Why a call has no body: a refusal by the Worker, a reply that is not of this API, or no reply. */
export type ClientFailure =
  /** The Worker answered with a problem (RFC 9457). */
  | { readonly kind: 'problem'; readonly status: number; readonly problem: ReceivedProblem }
  /** The response is not a valid reply of this API. */
  | { readonly kind: 'unexpected_reply'; readonly status: number; readonly detail: string }
  | { readonly kind: 'unreachable'; readonly why: string };

/** The outcome of a call: the body, or the failure. */
export type Reply<T> = { readonly ok: true; readonly body: T } | Failed<ClientFailure>;

/** Looser than the Worker's own schema: it accepts reasons that this client version does not know. */
export const receivedProblemSchema = z.looseObject({
  reason: z.string(),
  detail: z.string(),
  request_id: z.string(),
  errors: z.array(z.looseObject({ path: z.string(), message: z.string() })).optional(),
});

/** The problem document (RFC 9457) of a refusal. */
export type ReceivedProblem = z.infer<typeof receivedProblemSchema>;

/** Reads a response: a success is validated with `schema`, anything else becomes a failure. */
export function understood<S extends z.ZodType>(answer: Answer, schema: S): Reply<z.output<S>> {
  if (answer.kind === 'reply' && (answer.status === 200 || answer.status === 201)) {
    const parsed = schema.safeParse(answer.body);
    if (parsed.success) return { ok: true, body: parsed.data };
    return unexpected(
      answer.status,
      `${answer.status}, but not as this version expects: ${firstProblem(parsed.error, answer.body)}`,
    );
  }
  return { ok: false, failure: failureOf(answer) };
}

/** Reads an error response: a problem document, or an unexpected reply. */
export function failureOf(answer: Answer): ClientFailure {
  if (answer.kind === 'unreachable') return { kind: 'unreachable', why: answer.why };
  const { status, body, contentType } = answer;
  const problem = receivedProblemSchema.safeParse(body);
  if (problem.success) return { kind: 'problem', status, problem: problem.data };
  const redirect = status >= 300 && status < 400;
  const named = redirect
    ? `a redirect (${status}); give the final URL`
    : `${status}, ${contentType === '' ? 'no content type' : contentType}`;
  return { kind: 'unexpected_reply', status, detail: named };
}

function unexpected(status: number, detail: string): Failed<ClientFailure> {
  return { ok: false, failure: { kind: 'unexpected_reply', status, detail } };
}

function firstProblem(error: z.ZodError, body: unknown): string {
  if (body === undefined) return 'not JSON';
  const [first] = problemsOfIssues(error.issues, body);
  return first === undefined ? 'it does not validate' : `${pathText(first.path)}: ${first.message}`;
}
