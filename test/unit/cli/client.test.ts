/** The HTTP client: what is retried, what is not, and that nothing foreign is taken for a score. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../cli/client/client.ts';
import { RunError, UsageError } from '../../../cli/command.ts';
import { outcomeOfFailure } from '../../../cli/remote/failures.ts';

type Step = Response | Error;

function clientOf(steps: readonly Step[], key: string | null = null) {
  const left = [...steps];
  const waits: number[] = [];
  const requests: { readonly url: string; readonly init: RequestInit }[] = [];
  const client = createClient({
    url: new URL('http://worker.test/base'),
    key,
    transport: {
      attempts: 3,
      random: () => 0,
      async fetch(url, init) {
        requests.push({ url: url.href, init });
        const step = left.shift();
        if (step === undefined) throw new Error('one request too many');
        if (step instanceof Error) throw step;
        return step;
      },
      async sleep(ms) {
        waits.push(ms);
      },
    },
  });
  return { client, waits, requests };
}

function problem(status: number, reason: string, extra: object = {}, headers: Record<string, string> = {}): Response {
  const body = { reason, detail: 'why', retryable: status === 503, request_id: 'r1', ...extra };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}

const REQUEST = { response: 'r', sources: [] };
const VERIFIED = {
  answer: null,
  format: { answer_only: 0, full: 0 },
  ratios: {
    claims: 0,
    uncited_statements: 0,
    citations: 0,
    distinct_ids: 0,
    cited_share: null,
    known_id_share: null,
    source_use: null,
  },
  claims: [],
  statements: [],
  findings: [],
  finding_counts: {},
  sources: [],
};
const ok = (): Response => Response.json(VERIFIED);
const verify = ({ client }: ReturnType<typeof clientOf>) => client.verify(REQUEST, { evidence: 'lexical' });
const refused = new TypeError('fetch failed', {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
});

describe('retries', () => {
  test('503 and 429 wait as long as they are asked to, seconds or a date', async () => {
    const date = new Date(Date.now() + 3_000).toUTCString();
    const run = clientOf([
      problem(503, 'judge_timeout', {}, { 'retry-after': '7' }),
      problem(429, 'rate_limited', { retryable: true }, { 'retry-after': date }),
      ok(),
    ]);
    expect(await verify(run)).toMatchObject({ ok: true });
    expect(run.waits[0]).toBe(7_000);
    expect(run.waits[1]).toBeGreaterThan(1_000);
    expect(run.waits[1]).toBeLessThanOrEqual(3_000);
  });

  test('a lost connection and a 503 of a proxy back off', async () => {
    const run = clientOf([refused, new Response('<html>', { status: 503 }), ok()]);
    expect(await verify(run)).toMatchObject({ ok: true });
    expect(run.waits).toEqual([250, 500]);
  });

  test.each([
    ['a 503 that says it is final', problem(503, 'judge_unconfigured', { retryable: false })],
    ['a longer wait than anybody has', problem(503, 'judge_timeout', {}, { 'retry-after': '3600' })],
    ['any other refusal', problem(422, 'input_invalid')],
    ['a bug of the Worker', problem(500, 'internal')],
  ])('not: %s', async (_name, reply) => {
    const run = clientOf([reply]);
    expect(await verify(run)).toMatchObject({ ok: false, failure: { kind: 'problem' } });
    expect(run.waits).toEqual([]);
  });

  test('the last attempt is passed on', async () => {
    const run = clientOf([refused, refused, refused]);
    expect(await verify(run)).toEqual({ ok: false, failure: { kind: 'unreachable', why: 'connection refused' } });
    expect(run.waits.length).toBe(2);
  });
});

test('the request: path below the base, query, key, JSON, no redirects', async () => {
  const run = clientOf([ok()], 'cw_key');
  await verify(run);
  const [request] = run.requests;
  expect(request?.url).toBe('http://worker.test/base/v1/verify?evidence=lexical');
  expect(request?.init).toMatchObject({
    method: 'POST',
    redirect: 'manual',
    headers: { authorization: 'Bearer cw_key', 'content-type': 'application/json' },
    body: JSON.stringify(REQUEST),
  });
});

test.each([
  ['a page', new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'not JSON'],
  ['another API', Response.json({ score: 1 }), 'answer: required'],
  ['a redirect', new Response(null, { status: 307, headers: { location: '/x' } }), 'a redirect (307)'],
  ['a proxy', new Response('no', { status: 502, headers: { 'content-type': 'text/plain' } }), '502, text/plain'],
])('%s is not taken for a reply', async (_name, reply, detail) => {
  const { ok: isOk, ...rest } = await verify(clientOf([reply]));
  expect(isOk).toBe(false);
  expect(rest).toMatchObject({ failure: { kind: 'unexpected_reply', detail: expect.stringContaining(detail) } });
});

describe('what a failure means for the run', () => {
  const of = (status: number, reason: string, errors?: { path: string; message: string }[]) =>
    outcomeOfFailure(
      {
        kind: 'problem',
        status,
        problem: { reason, detail: 'why', request_id: 'r1', ...(errors === undefined ? {} : { errors }) },
      },
      new Set(['recipe']),
    );

  test('wrong fields are the row’s', () => {
    expect(of(422, 'input_invalid', [{ path: 'positive_rubrics', message: 'm' }])).toEqual({
      kind: 'refused',
      problems: [{ field: 'positive_rubrics', message: 'm' }],
    });
    expect(of(413, 'body_too_large')).toEqual({ kind: 'refused', problems: [{ field: null, message: 'why' }] });
  });

  test('wrong fields that a flag set are wrong for every row', () => {
    expect(() => of(422, 'input_invalid', [{ path: 'recipe.mix', message: 'm' }])).toThrow(
      new UsageError('recipe.mix: m'),
    );
  });

  test('judgments that could not be had leave the row without a number', () => {
    expect(of(409, 'judgment_missing')).toEqual({ kind: 'failed', reason: 'judgment_missing', detail: 'why' });
    expect(of(503, 'judge_unconfigured')).toMatchObject({ kind: 'failed' });
    expect(of(500, 'internal')).toMatchObject({ kind: 'failed', detail: 'why (request r1)' });
  });

  test('no key, no Worker, no API: the run ends', () => {
    expect(() => of(401, 'key_missing')).toThrow(RunError);
    expect(() => of(404, 'route_unknown')).toThrow(RunError);
    expect(() => outcomeOfFailure({ kind: 'unreachable', why: 'x' }, new Set())).toThrow(RunError);
  });
});
