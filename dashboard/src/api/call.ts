/**
 * Calls the API of the Worker that served this page. The types of replies come from src/wire/ of the same deployment;
 * replies are not validated here, since zod would double the size of the page.
 */
import type { Failed } from '../../../src/result.ts';
import { pathSegment } from '../../../src/text/path-segment.ts';
import type { Problem } from '../../../src/wire/problem.ts';
import { apiKey } from '../settings/api-key.ts';

/** Why a call failed: a problem document of the API, or a failure on the way. */
export type CallFailure =
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** No response: no network, or the server has stopped. */
  | { readonly kind: 'unreachable' }
  /** A response that is not from this API, such as an error page of a proxy. */
  | { readonly kind: 'unreadable'; readonly status: number };

export type Reply<T> = { readonly ok: true; readonly value: T; readonly milliseconds: number } | Failed<CallFailure>;

export type Call = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form; use either `body` or `form`. */
  readonly form?: FormData;
  readonly signal?: AbortSignal;
};

/** Calls the API and parses its JSON reply. @throws DOMException (AbortError) when `signal` aborts. */
export async function callApi<T>(path: string, call: Call = {}): Promise<Reply<T>> {
  const began = performance.now();
  const answer = await answerOf(path, call);
  if (!answer.ok) return answer;
  const { response } = answer;
  const text = await bodyOf(response);
  if (text === null) return { ok: false, failure: { kind: 'unreachable' } };
  const value = parsed<T>(text);
  if (value === undefined) return { ok: false, failure: { kind: 'unreadable', status: response.status } };
  return { ok: true, value: value.json, milliseconds: performance.now() - began };
}

/** Calls the API and returns the reply as a stream. @throws DOMException (AbortError) when `signal` aborts. */
export async function openApi(path: string, call: Call = {}): Promise<Reply<ReadableStream<Uint8Array<ArrayBuffer>>>> {
  const began = performance.now();
  const answer = await answerOf(path, call);
  if (!answer.ok) return answer;
  const { body, status } = answer.response;
  if (body === null) return { ok: false, failure: { kind: 'unreadable', status } };
  return { ok: true, value: body, milliseconds: performance.now() - began };
}

type Answer = { readonly ok: true; readonly response: Response } | Failed<CallFailure>;

async function answerOf(path: string, { method = 'GET', body, form, signal }: Call): Promise<Answer> {
  const response = await fetchApi(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    ...(form === undefined ? {} : { body: form }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (response === null) return { ok: false, failure: { kind: 'unreachable' } };
  if (response.ok) return { ok: true, response };
  const text = await bodyOf(response);
  if (text === null) return { ok: false, failure: { kind: 'unreachable' } };
  const problem = parsed<unknown>(text)?.json;
  if (!isProblem(problem)) return { ok: false, failure: { kind: 'unreadable', status: response.status } };
  return { ok: false, failure: { kind: 'problem', problem } };
}

/** The body; `null` if the connection broke meanwhile. @throws DOMException (AbortError) when the signal aborts. */
async function bodyOf(response: Response): Promise<string | null> {
  try {
    return await response.text();
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * Sends a request with the API key. @returns `null` without a response.
 * @throws DOMException (AbortError) when the signal aborts.
 */
export async function fetchApi(path: string, init: RequestInit): Promise<Response | null> {
  const key = apiKey.get();
  const headers = new Headers(init.headers);
  try {
    if (key !== '') headers.set('authorization', `Bearer ${key}`);
    // The authorization header is the only credential: cookies of the origin are not sent.
    return await fetch(path, { ...init, headers, credentials: 'omit', cache: 'no-store' });
  } catch (error) {
    // TypeError: the connection failed, or the key contains characters invalid in a header.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'reason' in value && 'detail' in value && 'title' in value;
}

/** Parses JSON; returns `undefined` if the text is not JSON. */
function parsed<T>(text: string): { readonly json: T } | undefined {
  try {
    const json: T = JSON.parse(text);
    return { json };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function runPath(run: string): string {
  return `/v1/runs/${pathSegment(run)}`;
}

export function fileContentPath(file: string): string {
  return `/v1/files/${pathSegment(file)}/content`;
}
