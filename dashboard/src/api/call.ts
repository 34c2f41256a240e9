/**
 * Requests to the Worker that served this page. Replies have the shapes of src/schema, of the same deployment, and are
 * not checked again here: zod would double the page's size.
 */
import type { Problem } from '../../../src/wire/problem.ts';
import { apiKey } from '../settings/api-key.ts';

/** Why there is no reply: a problem as the API says it, or what came in place of one. */
export type CallFailure =
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** Nothing came: no network, or the server is gone. */
  | { readonly kind: 'unreachable' }
  /** Something came that this API does not say. */
  | { readonly kind: 'unreadable'; readonly status: number };

export type Reply<T> =
  | { readonly ok: true; readonly value: T; readonly milliseconds: number }
  | { readonly ok: false; readonly failure: CallFailure };

export type Call = {
  readonly method?: 'GET' | 'POST';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form, in place of a body. */
  readonly form?: FormData;
  readonly signal?: AbortSignal;
};

/** Calls the API. @throws DOMException (AbortError) once `signal` fires. */
export async function callApi<T>(path: string, call: Call = {}): Promise<Reply<T>> {
  const began = performance.now();
  const answer = await answerOf(path, call);
  if (!answer.ok) return answer;
  const { response } = answer;
  const text = await response.text();
  const value = parsed<T>(text);
  if (value === undefined) return { ok: false, failure: { kind: 'unreadable', status: response.status } };
  return { ok: true, value: value.json, milliseconds: performance.now() - began };
}

/** The same for a reply that is read piece by piece. */
export async function openApi(path: string, call: Call = {}): Promise<Reply<ReadableStream<Uint8Array<ArrayBuffer>>>> {
  const began = performance.now();
  const answer = await answerOf(path, call);
  if (!answer.ok) return answer;
  const { body, status } = answer.response;
  if (body === null) return { ok: false, failure: { kind: 'unreadable', status } };
  return { ok: true, value: body, milliseconds: performance.now() - began };
}

type Answer =
  | { readonly ok: true; readonly response: Response }
  | { readonly ok: false; readonly failure: CallFailure };

async function answerOf(path: string, { method = 'GET', body, form, signal }: Call): Promise<Answer> {
  const key = apiKey.get();
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: form }),
      ...(signal === undefined ? {} : { signal }),
      // The header is the only credential: a key that a browser keeps for the origin has no place here.
      credentials: 'omit',
      cache: 'no-store',
    });
  } catch (error) {
    // What fetch says of a connection that failed; a key with characters that no header may have says the same.
    if (error instanceof TypeError) return { ok: false, failure: { kind: 'unreachable' } };
    throw error;
  }
  if (response.ok) return { ok: true, response };
  const problem = parsed<unknown>(await response.text())?.json;
  if (!isProblem(problem)) return { ok: false, failure: { kind: 'unreadable', status: response.status } };
  return { ok: false, failure: { kind: 'problem', problem } };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'reason' in value && 'detail' in value && 'title' in value;
}

/** `undefined` = not JSON. */
function parsed<T>(text: string): { readonly json: T } | undefined {
  try {
    const json: T = JSON.parse(text);
    return { json };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
