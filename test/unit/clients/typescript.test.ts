/** The HTTP client: its retries, its refusal of replies that are no score, and the upload of files in parts. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../clients/typescript/index.ts';

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

  test('a judge that is still running is waited for beyond the attempts, as long as the caller says', async () => {
    const running = () => problem(503, 'judge_running', {}, { 'retry-after': '1' });
    const steps = [...Array.from({ length: 7 }, running), problem(503, 'judge_interrupted'), ok()];
    expect(await verify(clientOf(steps))).toMatchObject({ ok: true });
    let now_ms = 0;
    const shown: string[] = [];
    const replies = [running(), running(), running(), running()];
    const short = createClient({
      url: new URL('http://worker.test/'),
      key: null,
      transport: {
        attempts: 2,
        judge_wait_ms: 2_500,
        random: () => 0,
        now: () => now_ms,
        fetch: async () => replies.shift() ?? ok(),
        sleep: async (ms) => {
          now_ms += ms;
        },
        onJudgeRunning(since_ms) {
          shown.push(`runs for ${since_ms}`);
          return () => shown.push(`ended at ${now_ms}`);
        },
      },
    });
    // Two waits within 2.5 s, and one more as the second attempt.
    expect(await short.verify(REQUEST)).toMatchObject({ ok: false, failure: { problem: { reason: 'judge_running' } } });
    expect([shown, replies.length]).toEqual([['runs for 0', 'ended at 3000'], 0]);
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

const FILE = {
  id: 'file-1',
  object: 'file',
  bytes: 10,
  created_at: 1,
  filename: 'in.jsonl',
  purpose: 'batch',
  status: 'processed',
};
const UPLOAD = {
  id: 'upload_1',
  object: 'upload',
  bytes: 10,
  created_at: 1,
  expires_at: 2,
  filename: 'in.jsonl',
  purpose: 'batch',
  status: 'pending',
};
const part = (id: string) => Response.json({ id, object: 'upload.part', created_at: 1, upload_id: 'upload_1' });

/** The path of each request, with its form or JSON as plain values. */
async function sentTo({ requests }: ReturnType<typeof clientOf>): Promise<unknown[]> {
  return Promise.all(
    requests.map(async ({ url, init: { method, body } }) => {
      const path = url.replace('http://worker.test/base/v1/', '');
      if (typeof body === 'string') return [path, JSON.parse(body)];
      if (!(body instanceof FormData)) return [`${method ?? 'GET'} ${path}`];
      const fields = [...body].map(async ([name, value]) =>
        typeof value === 'string' ? [name, value] : [name, value.name, await value.text()],
      );
      return [path, await Promise.all(fields)];
    }),
  );
}

describe('files', () => {
  const content = new Blob(['0123456789']);

  test('one that fits goes in one form, the purpose first', async () => {
    const run = clientOf([Response.json(FILE)]);
    const reply = await run.client.files.upload({ content, filename: 'in.jsonl' });
    expect(reply).toEqual({ ok: true, body: FILE });
    expect(await sentTo(run)).toEqual([
      [
        'files',
        [
          ['purpose', 'batch'],
          ['file', 'in.jsonl', '0123456789'],
        ],
      ],
    ]);
  });

  test('a larger one goes in parts, in order, each again after a lost connection', async () => {
    const completed = { ...UPLOAD, status: 'completed', file: FILE };
    const steps = [Response.json(UPLOAD), part('p1'), refused, part('p2'), part('p3'), Response.json(completed)];
    const run = clientOf(steps);
    const sent: number[] = [];
    const reply = await run.client.files.upload(
      { content, filename: 'in.jsonl' },
      { whole_bytes: 9, part_bytes: 4, onProgress: ({ sent_bytes }) => sent.push(sent_bytes) },
    );
    expect(reply).toEqual({ ok: true, body: FILE });
    expect(sent).toEqual([0, 4, 8, 10]);
    expect(await sentTo(run)).toEqual([
      ['uploads', { filename: 'in.jsonl', bytes: 10, purpose: 'batch', mime_type: 'application/jsonl' }],
      ['uploads/upload_1/parts', [['data', 'part', '0123']]],
      ['uploads/upload_1/parts', [['data', 'part', '4567']]],
      ['uploads/upload_1/parts', [['data', 'part', '4567']]],
      ['uploads/upload_1/parts', [['data', 'part', '89']]],
      ['uploads/upload_1/complete', { part_ids: ['p1', 'p2', 'p3'] }],
    ]);
  });

  test('an upload whose part is refused is given up', async () => {
    const cancelled = Response.json({ ...UPLOAD, status: 'cancelled' });
    const run = clientOf([Response.json(UPLOAD), problem(409, 'upload_not_pending'), cancelled]);
    const reply = await run.client.files.upload({ content, filename: 'in.jsonl' }, { whole_bytes: 9 });
    expect(reply).toMatchObject({ ok: false, failure: { kind: 'problem', problem: { reason: 'upload_not_pending' } } });
    expect((await sentTo(run)).at(-1)).toEqual(['uploads/upload_1/cancel', {}]);
  });

  test('content is a stream; a refusal is a failure as elsewhere', async () => {
    const run = clientOf([problem(503, 'storage_failed'), new Response('a\nb\n'), problem(404, 'file_not_found')]);
    const reply = await run.client.files.content('file-1');
    if (!reply.ok) throw new Error('no content');
    expect(await new Response(reply.body).text()).toBe('a\nb\n');
    expect(run.waits.length).toBe(1);
    expect(await run.client.files.content('../x')).toMatchObject({ failure: { status: 404 } });
    expect(run.requests.at(-1)?.url).toBe('http://worker.test/base/v1/files/..%2Fx/content');
  });
});

describe('batches', () => {
  const batch = { input_file_id: 'file-1', endpoint: '/v1/score', completion_window: '24h' } as const;

  test('a batch is not made twice where the reply to the first was lost, but waits for a Worker that is busy', async () => {
    const lost = clientOf([refused]);
    expect(await lost.client.batches.create(batch)).toMatchObject({ failure: { kind: 'unreachable' } });
    const busy = clientOf([problem(503, 'storage_failed'), problem(422, 'input_invalid')]);
    expect(await busy.client.batches.create(batch)).toMatchObject({ failure: { status: 422 } });
  });

  test('a look can be one attempt; a page has its place in the query', async () => {
    const run = clientOf([refused, problem(404, 'batch_not_found'), problem(404, 'batch_not_found')]);
    expect(await run.client.batches.retrieve('batch_1', { attempts: 1 })).toMatchObject({ ok: false });
    expect(run.waits).toEqual([]);
    await run.client.batches.list({ after: 'batch_1', limit: 2 });
    await run.client.batches.cancel('batch_1');
    expect(await sentTo(run)).toEqual([
      ['GET batches/batch_1'],
      ['GET batches?after=batch_1&limit=2'],
      ['batches/batch_1/cancel', {}],
    ]);
  });
});

test('groups are asked for their rewards, recipes by their route', async () => {
  const run = clientOf([problem(422, 'input_invalid'), Response.json({ recipes: [] })]);
  const group = { question: 'q', responses: ['r'], sources: [], recipe: 'x' };
  expect(await run.client.group(group)).toMatchObject({ failure: { status: 422 } });
  expect(await run.client.recipes()).toEqual({ ok: true, body: { recipes: [] } });
  expect(await sentTo(run)).toEqual([['groups', group], ['GET recipes']]);
});
