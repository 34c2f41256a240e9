/**
 * A typed client of the HTTP API, independent of the command line: requests in, replies or failures as values out.
 * Replies are validated, so that a page of some proxy, or a Worker of another version, is never taken for a score.
 */
import * as z from 'zod';
import { healthSchema } from '../../src/schema/health.ts';
import { pathText, problemsOfIssues } from '../../src/schema/issues.ts';
import { type ScoreResponse, type scoreRequestSchema, scoreResponseSchema } from '../../src/schema/score.ts';
import { type verifyRequestSchema, verifyResponseSchema } from '../../src/schema/verify.ts';
import { type Answer, DEFAULT_TRANSPORT, send, type TransportOptions } from './transport.ts';

export type ScoreInput = z.input<typeof scoreRequestSchema>;
export type VerifyInput = z.input<typeof verifyRequestSchema>;
export type VerifyReply = z.infer<typeof verifyResponseSchema>;

export type ClientFailure =
  /** The Worker answered with a problem (RFC 9457). */
  | { readonly kind: 'problem'; readonly status: number; readonly problem: ReceivedProblem }
  /** Something answered, but not in the words of this API. */
  | { readonly kind: 'unexpected_reply'; readonly status: number; readonly detail: string }
  | { readonly kind: 'unreachable'; readonly why: string };

export type Reply<T> =
  | { readonly ok: true; readonly body: T }
  | { readonly ok: false; readonly failure: ClientFailure };

/** Looser than the Worker's own schema: reasons that this version does not know are still reasons. */
const receivedProblemSchema = z.looseObject({
  reason: z.string(),
  detail: z.string(),
  request_id: z.string(),
  errors: z.array(z.looseObject({ path: z.string(), message: z.string() })).optional(),
});

export type ReceivedProblem = z.infer<typeof receivedProblemSchema>;

export type ClientOptions = {
  readonly url: URL;
  /** `null` sends no Authorization header. */
  readonly key: string | null;
  readonly transport?: Partial<TransportOptions>;
};

export type Client = {
  /** Whether a Worker answers at the URL; one attempt. */
  health(): Promise<Reply<{ status: 'ok' }>>;
  score(request: ScoreInput): Promise<Reply<ScoreResponse>>;
  verify(request: VerifyInput, options: { readonly evidence: 'none' | 'lexical' }): Promise<Reply<VerifyReply>>;
};

export function createClient({ url, key, transport }: ClientOptions): Client {
  const options = { ...DEFAULT_TRANSPORT, ...transport };
  const base = new URL(url.pathname.endsWith('/') ? url : `${url.href}/`);
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const post = (path: string, body: unknown): Promise<Answer> => {
    const headers = { ...authorization, 'content-type': 'application/json' };
    return send(new URL(path, base), { method: 'POST', headers, body: JSON.stringify(body) }, options);
  };
  return {
    async health() {
      const answer = await send(new URL('healthz', base), {}, { ...options, attempts: 1, timeout_ms: 10_000 });
      return understood(answer, healthSchema);
    },
    score: async (request) => understood(await post('v1/score', request), scoreResponseSchema),
    verify: async (request, { evidence }) =>
      understood(await post(`v1/verify?evidence=${evidence}`, request), verifyResponseSchema),
  };
}

function understood<S extends z.ZodType>(answer: Answer, schema: S): Reply<z.output<S>> {
  if (answer.kind === 'unreachable') return { ok: false, failure: { kind: 'unreachable', why: answer.why } };
  const { status, body, contentType } = answer;
  if (status === 200) {
    const parsed = schema.safeParse(body);
    if (parsed.success) return { ok: true, body: parsed.data };
    return unexpected(status, `200, but not as this version expects: ${firstProblem(parsed.error, body)}`);
  }
  const problem = receivedProblemSchema.safeParse(body);
  if (problem.success) return { ok: false, failure: { kind: 'problem', status, problem: problem.data } };
  if (status >= 300 && status < 400) return unexpected(status, `a redirect (${status}); give the final URL`);
  return unexpected(status, `${status}, ${contentType === '' ? 'no content type' : contentType}`);
}

function unexpected(status: number, detail: string): { ok: false; failure: ClientFailure } {
  return { ok: false, failure: { kind: 'unexpected_reply', status, detail } };
}

function firstProblem(error: z.ZodError, body: unknown): string {
  if (body === undefined) return 'not JSON';
  const [first] = problemsOfIssues(error.issues, body);
  return first === undefined ? 'it does not validate' : `${pathText(first.path)}: ${first.message}`;
}
