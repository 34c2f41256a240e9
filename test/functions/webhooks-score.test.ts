/** Signed scoring requests: every way to forge one, every way to send one twice, a judge that is down, restarts. */
import {
  abortAllDurableObjects,
  createExecutionContext,
  evictAllDurableObjects,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JudgeFailureReason } from '../../src/judgments/protocol/failure.ts';
import { MAX_WEBHOOK_BODY_BYTES } from '../../src/limits.ts';
import { rolloutListSchema, runDetailSchema } from '../../src/wire/runs.ts';
import { scoreResponseSchema } from '../../src/wire/score.ts';
import {
  acceptedJobSchema,
  deliveriesSchema,
  endpointWithSecretSchema,
  jobSchema,
  scoreCompletedEventSchema,
  scoreFailedEventSchema,
} from '../../src/wire/webhooks-reply.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send, sha256Hex, wrongFields } from './api.ts';
import { counting, countingBackends, lexically, resetCounting } from './desk-judge.ts';
import {
  advance,
  call,
  endWebhooks,
  json,
  type Registered,
  receiver,
  register,
  type Signed,
  signedScore,
  startWebhooks,
  verified,
  work,
} from './webhook-parts.ts';
import worker, { replaceParts } from './worker.ts';

replaceParts({ backendsOf: countingBackends, webhookLimits: { maxPendingJobs: 3 } });

const HOUR_MS = 60 * 60 * 1000;
const NOBODY = `whe_${'x'.repeat(24)}`;

let endpoint: Registered;
let replicate = 0;
/** A rollout without stored judgments. */
let rollout: typeof ROLLOUT & { replicate: number };
beforeEach(async () => {
  startWebhooks();
  resetCounting();
  // Clears the desks' remembered failures and open circuits, which this test does not examine.
  await abortAllDurableObjects();
  rollout = { ...ROLLOUT, replicate: ++replicate };
  endpoint = await register();
});
afterEach(endWebhooks);

function ask(signed: Signed = {}, to = endpoint): Promise<Response> {
  return send(signedScore(to, { body: JSON.stringify(rollout), ...signed }));
}

async function accepted(reply: Response, status = 202) {
  const text = await reply.text();
  expect(reply.status, text).toBe(status);
  return acceptedJobSchema.parse(JSON.parse(text));
}

async function job(id: string) {
  return jobSchema.parse(await json('GET', `/v1/webhooks/${endpoint.id}/jobs/${id}`));
}

async function nothingTaken(): Promise<void> {
  await work(endpoint.id);
  expect(counting.calls).toEqual([]);
  expect(receiver.received).toEqual([]);
}

function only() {
  const [got, ...more] = receiver.received;
  expect(more).toEqual([]);
  if (got === undefined) throw new Error('nothing came');
  return got;
}

function failing(reason: JudgeFailureReason, retryable: boolean): void {
  counting.answer = async () => ({ ok: false, failure: { reason, detail: 'as the test wants', retryable } });
}

describe('a signed request', () => {
  it('is scored after its reply, and the score is delivered, signed', async () => {
    const { job: id, webhook_id, status } = await accepted(await ask({ id: 'rollout-17' }));
    expect([webhook_id, status]).toEqual(['rollout-17', 'pending']);
    expect(counting.calls).toEqual([]);
    expect(await job(id)).toMatchObject({ id, webhook_id, status: 'pending', attempts: 0, event: null });

    await work(endpoint.id);
    const event = scoreCompletedEventSchema.parse(verified(only(), endpoint.secret));
    expect(event.data).toMatchObject({ job: id, webhook_id: 'rollout-17' });
    const { judgments: _, ...delivered } = scoreResponseSchema.parse(event.data.score);
    const { judgments: _judgments, ...direct } = await score({ ...rollout, judgments: 'only' });
    expect(delivered).toEqual(direct);
    const finished = await job(id);
    expect(finished).toMatchObject({ status: 'completed', attempts: 1, reason: null, event });
    expect(finished.message).toBe(only().headers.get('webhook-id'));
  });

  it('is recorded in the run that it names', async () => {
    const run = { id: 'by-webhook', step: 3, group: 'g', sample: 's' };
    const reported = { outcome: 1, metrics: { exact_match: 0.5 } };
    const { job: id } = await accepted(await ask({ body: JSON.stringify({ ...rollout, run, ...reported }) }));
    await work(endpoint.id);
    const { data } = scoreCompletedEventSchema.parse(verified(only(), endpoint.secret));
    expect(data.score.run).toEqual({ ...run, attempt: 0, status: 'recorded' });
    expect((await job(id)).status).toBe('completed');
    const [kept, ...more] = rolloutListSchema.parse(await json('GET', '/v1/runs/by-webhook/rollouts')).rollouts;
    expect(more).toEqual([]);
    expect(kept).toMatchObject({ ...{ run: 'by-webhook', step: 3 }, reward: data.score.reward });
    const { steps } = runDetailSchema.parse(await json('GET', '/v1/runs/by-webhook'));
    expect(steps[0]).toMatchObject({
      outcome: { rollouts: 1, mean: 1 },
      metrics: { exact_match: { rollouts: 1, mean: 0.5 } },
    });
  });

  it('needs no API key, and a key is no signature', async () => {
    const API_KEYS = JSON.stringify({ k: { sha256: await sha256Hex('key'), scopes: ['admin', 'score'] } });
    const closed = async (request: Request): Promise<Response> => {
      const context = createExecutionContext();
      const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
      const reply = await worker.fetch(incoming, { ...env, ALLOW_ANONYMOUS: 'false', API_KEYS }, context);
      await waitOnExecutionContext(context);
      return reply;
    };
    await accepted(await closed(signedScore(endpoint, { body: JSON.stringify(rollout) })));
    const authorization = 'Bearer key';
    const path = `/v1/webhooks/${endpoint.id}/score`;
    await problemOf(await closed(post(path, rollout, { authorization })), 401, 'signature_missing');
    for (const [method, closedPath] of [
      ['GET', `/v1/webhooks/${endpoint.id}`],
      ['POST', '/v1/webhooks'],
      ['GET', path.replace('score', 'jobs/x')],
      ['POST', `${path}/x`],
      ['POST', `/v1/webhooks/x/y/score`],
      ['POST', `/v1/webhooks//score`],
    ] as const) {
      await problemOf(await closed(new Request(ORIGIN + closedPath, { method })), 401, 'key_missing');
    }
    await problemOf(await closed(new Request(ORIGIN + path)), 405, 'method_not_allowed');
  });

  const now = () => Math.floor(Date.now() / 1000);
  it.each([
    ['no signature', () => ({ headers: { 'webhook-signature': '' } }), 401, 'signature_missing'],
    ['no id', () => ({ headers: { 'webhook-id': '' } }), 401, 'signature_missing'],
    ['a full stop in its id', () => ({ id: 'a.b' }), 401, 'signature_malformed'],
    [
      'a timestamp that is no number',
      () => ({ headers: { 'webhook-timestamp': '12abc' } }),
      401,
      'signature_malformed',
    ],
    ['a stale timestamp', () => ({ timestamp_s: now() - 301 }), 401, 'timestamp_stale'],
    ['a timestamp of the future', () => ({ timestamp_s: now() + 301 }), 401, 'timestamp_future'],
    [
      'a fresh timestamp on an old signature',
      () => ({ headers: { 'webhook-timestamp': String(now() - 1) } }),
      401,
      'signature_wrong',
    ],
    ['another id than was signed', () => ({ headers: { 'webhook-id': 'another' } }), 401, 'signature_wrong'],
    [
      'a made-up signature',
      () => ({ headers: { 'webhook-signature': `v1,${'A'.repeat(43)}=` } }),
      401,
      'signature_wrong',
    ],
    [
      'a signature of another version',
      () => ({ headers: { 'webhook-signature': `v2,${'A'.repeat(43)}=` } }),
      401,
      'signature_wrong',
    ],
    ['half a signature', () => ({ headers: { 'webhook-signature': 'v1,AAAA' } }), 401, 'signature_wrong'],
  ] as const)('is refused with %s', async (_what, changes, status, reason) => {
    await problemOf(await ask(changes()), status, reason);
    await nothingTaken();
  });

  it.each([
    ['no signature', { 'webhook-signature': '' }, 'signature_missing'],
    ['a malformed id', { 'webhook-id': 'a.b' }, 'signature_malformed'],
    ['an old timestamp', { 'webhook-timestamp': '1000' }, 'timestamp_stale'],
    ['a signature of no known form', { 'webhook-signature': 'v1,AAAA v2,AAAA' }, 'signature_wrong'],
  ] as const)('with %s costs a header check: its body is not read, no store is asked', async (_, wrong, reason) => {
    const { url, headers } = signedScore(endpoint);
    for (const [name, value] of Object.entries(wrong)) headers.set(name, value);
    headers.set('content-length', String(MAX_WEBHOOK_BODY_BYTES));
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          sent += 64 * 1024;
          controller.enqueue(new Uint8Array(64 * 1024));
          if (sent >= MAX_WEBHOOK_BODY_BYTES) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request<unknown, IncomingRequestCfProperties>(url, { method: 'POST', headers, body });
    const context = createExecutionContext();
    const reply = await worker.fetch(request, withoutStores(), context);
    await waitOnExecutionContext(context);
    await problemOf(reply, 401, reason);
    expect(sent).toBe(0);
  });

  it.each([
    ['does not exist', NOBODY],
    ['has been deleted', null],
  ])('to an endpoint that %s is refused before its body is read', async (_, id) => {
    const gone = await register();
    await accepted(await ask({}, gone));
    await json('DELETE', `/v1/webhooks/${gone.id}`);
    const { url, headers } = signedScore({ id: id ?? gone.id, secret: gone.secret });
    headers.set('content-length', String(MAX_WEBHOOK_BODY_BYTES));
    // Nothing of it is ever sent.
    const { readable } = new FixedLengthStream(MAX_WEBHOOK_BODY_BYTES);
    const request = new Request<unknown, IncomingRequestCfProperties>(
      new Request(url, { method: 'POST', headers, body: readable }),
    );
    const context = createExecutionContext();
    await problemOf(await worker.fetch(request, env, context), 404, 'webhook_not_found');
    await waitOnExecutionContext(context);
  });

  it('is refused with another body than was signed, cut or longer', async () => {
    const body = JSON.stringify(rollout);
    for (const sent of [body.slice(0, -1), `${body} `, body.replace('288', '289')]) {
      const request = signedScore(endpoint, { body });
      await problemOf(
        await send(new Request(request.url, { method: 'POST', headers: request.headers, body: sent })),
        401,
        'signature_wrong',
      );
    }
    await nothingTaken();
  });

  it("is refused under another endpoint's secret, and where there is no endpoint", async () => {
    const other = await register();
    await problemOf(await ask({}, { id: endpoint.id, secret: other.secret }), 401, 'signature_wrong');
    for (const id of [NOBODY, 'no-endpoint', '%2F']) {
      await problemOf(await ask({}, { id, secret: endpoint.secret }), 404, 'webhook_not_found');
    }
    await json('DELETE', `/v1/webhooks/${other.id}`);
    await problemOf(await ask({}, other), 404, 'webhook_not_found');
    await nothingTaken();
  });

  it('is refused by an endpoint that is disabled', async () => {
    await json('PATCH', `/v1/webhooks/${endpoint.id}`, { enabled: false });
    await problemOf(await ask(), 403, 'webhook_disabled');
    await nothingTaken();
  });

  it('is refused when too large, with a declared length and without', async () => {
    const body = ' '.repeat(MAX_WEBHOOK_BODY_BYTES + 1);
    const declared = await problemOf(await ask({ body }), 413, 'body_too_large');
    expect(declared.detail).toContain(String(MAX_WEBHOOK_BODY_BYTES));
    const { url, headers } = signedScore(endpoint);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      },
    });
    await problemOf(await send(new Request(url, { method: 'POST', headers, body: stream })), 413, 'body_too_large');
    expect(sent).toBeLessThan(100 * 1024 * 1024);
    await nothingTaken();
  });

  it('that is no scoring request is refused at once, and claims nothing', async () => {
    const id = 'mistaken';
    await problemOf(await ask({ id, body: '{' }), 400, 'body_not_json');
    expect(await wrongFields(await ask({ id, body: JSON.stringify({ ...rollout, recpie: 1 }) }))).toEqual(['recpie']);
    const { url, headers } = signedScore(endpoint, { id });
    await wrongFields(await ask({ id, body: JSON.stringify({ ...rollout, response: 1 }) }));
    expect(await wrongFields(await send(queried(signedScore(endpoint, { id, body: '{}' }))))).toEqual(['query.x']);
    expect([url, headers.get('webhook-id')]).toEqual([`${ORIGIN}/v1/webhooks/${endpoint.id}/score`, id]);
    await nothingTaken();
    await accepted(await ask({ id }));
  });

  it('is taken under the old secret and the new one while they are rotated', async () => {
    const rotated = await json('POST', `/v1/webhooks/${endpoint.id}/secrets:rotate`, { grace_s: 3_600 });
    const { secret } = endpointWithSecretSchema.parse(rotated);
    await accepted(await ask());
    await accepted(await ask({}, { id: endpoint.id, secret }));
    advance(HOUR_MS);
    await problemOf(await ask(), 401, 'signature_wrong');
    await accepted(await ask({}, { id: endpoint.id, secret }));
  });
});

/** Bindings whose D1 database and endpoint objects throw when they are used, which would be a 500. */
function withoutStores(): typeof env {
  const refuse = (): never => {
    throw new Error('a store was asked');
  };
  return {
    ...env,
    DB: new Proxy(env.DB, { get: refuse }),
    DELIVERIES: new Proxy(env.DELIVERIES, { get: refuse }),
  };
}

function queried(request: Request): Request {
  return new Request(`${request.url}?x=1`, request);
}

describe('the same webhook-id again', () => {
  it('is one job and one score, also 20 times at once', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask({ id: 'same' })));
    const jobs = await Promise.all(replies.map((reply) => accepted(reply)));
    expect(new Set(jobs.map(({ job: id }) => id)).size).toBe(1);
    await work(endpoint.id);
    expect(counting.calls).toHaveLength(2);
    only();
  });

  it('is answered with the same job while it is under way, and after: also after a restart', async () => {
    const first = await accepted(await ask({ id: 'again' }));
    const gate = Promise.withResolvers<void>();
    counting.answer = async (request) => {
      await gate.promise;
      return lexically(request);
    };
    const working = work(endpoint.id);
    await vi.waitFor(() => expect(counting.calls).toHaveLength(2), 20_000);
    expect(await accepted(await ask({ id: 'again' }))).toEqual(first);
    gate.resolve();
    await working;
    for (const restart of [async () => undefined, evictAllDurableObjects, abortAllDurableObjects]) {
      await restart();
      advance(HOUR_MS);
      expect(await accepted(await ask({ id: 'again' }), 200)).toEqual({ ...first, status: 'completed' });
    }
    await work(endpoint.id);
    expect(counting.calls).toHaveLength(2);
    only();
  });

  it('with another body is refused, and changes nothing', async () => {
    const { job: id } = await accepted(await ask({ id: 'used' }));
    const body = JSON.stringify({ ...rollout, replicate: rollout.replicate + 1_000 });
    await problemOf(await ask({ id: 'used', body }), 409, 'webhook_id_reused');
    await problemOf(await ask({ id: 'used', body: `${JSON.stringify(rollout)} ` }), 409, 'webhook_id_reused');
    await work(endpoint.id);
    await problemOf(await ask({ id: 'used', body }), 409, 'webhook_id_reused');
    expect((await job(id)).status).toBe('completed');
    only();
  });

  it('is another job at another endpoint', async () => {
    const first = await accepted(await ask({ id: 'shared' }));
    const other = await accepted(await ask({ id: 'shared' }, await register()));
    expect(other.job).not.toBe(first.job);
  });
});

describe('a judge that is down', () => {
  it('is no number; once it is back, the number is delivered', async () => {
    failing('judge_unreachable', true);
    const { job: id } = await accepted(await ask({ id: 'patient' }));
    await work(endpoint.id);
    const waiting = await job(id);
    expect(waiting).toMatchObject({ status: 'pending', attempts: 1, reason: 'judge_unreachable', event: null });
    expect(Date.parse(waiting.next_attempt_at ?? '') - Date.now()).toBeGreaterThanOrEqual(5_000);
    expect(receiver.received).toEqual([]);

    // Down all day, restarts included.
    for (let hour = 0; hour < 20; hour++) {
      advance(HOUR_MS);
      await abortAllDurableObjects();
      await work(endpoint.id);
    }
    expect(receiver.received).toEqual([]);
    counting.answer = lexically;
    advance(2 * HOUR_MS);
    await abortAllDurableObjects();
    await work(endpoint.id);
    const { data } = scoreCompletedEventSchema.parse(verified(only(), endpoint.secret));
    expect(data).toMatchObject({ job: id, webhook_id: 'patient' });
    expect(data.score.reward).not.toBeNull();
  });

  it('is not down while it is still running: the job joins its call again after Retry-After, and has not failed', async () => {
    failing('judge_running', true);
    const { job: id } = await accepted(await ask());
    for (let round = 0; round < 5; round++) {
      await work(endpoint.id);
      const waiting = await job(id);
      expect(waiting).toMatchObject({ status: 'pending', attempts: 0, reason: 'judge_running', event: null });
      expect(Date.parse(waiting.next_attempt_at ?? '') - Date.now()).toBeLessThanOrEqual(1_000);
      advance(1_000);
    }
    counting.answer = lexically;
    await work(endpoint.id);
    expect(scoreCompletedEventSchema.parse(verified(only(), endpoint.secret)).data.score.reward).not.toBeNull();
  });

  async function wholeDay(id: string): Promise<void> {
    for (let hour = 0; hour < 30 && (await job(id)).status === 'pending'; hour++) {
      await abortAllDurableObjects();
      await work(endpoint.id);
      advance(HOUR_MS);
    }
  }

  it('for more than a day is a failure, with its reason and no number', async () => {
    failing('judge_unreachable', true);
    const { job: id } = await accepted(await ask());
    const began = Date.now();
    await wholeDay(id);
    expect(Date.now() - began).toBeLessThanOrEqual(26 * HOUR_MS);
    expect(Date.now() - began).toBeGreaterThan(22 * HOUR_MS);
    const { problem } = scoreFailedEventSchema.parse(verified(only(), endpoint.secret)).data;
    expect(problem).toMatchObject({ reason: 'judge_unreachable', status: 503, request_id: id });
    expect(only().body).not.toContain('reward');
    expect(await job(id)).toMatchObject({ status: 'failed', reason: 'judge_unreachable' });
  });

  it('is a null reward in the end, where the request asks for that', async () => {
    failing('judge_unreachable', true);
    const { job: id } = await accepted(await ask({ body: JSON.stringify({ ...rollout, on_judge_failure: 'null' }) }));
    await work(endpoint.id);
    expect((await job(id)).status).toBe('pending');
    await wholeDay(id);
    const { score: reply } = scoreCompletedEventSchema.parse(verified(only(), endpoint.secret)).data;
    expect(reply).toMatchObject({ reward: null, status: 'unscored', reason: 'judge_unreachable' });
  });
});

describe('a request that cannot be scored', () => {
  it.each([
    ['is too long for the judge', () => failing('judge_prompt_too_long', false), {}, 'judge_prompt_too_long'],
    ['names no recipe of ours', () => undefined, { recipe: 'nonsense' }, 'input_invalid'],
    ['names no judge of ours', () => undefined, { judge: 'nobody' }, 'judge_unknown'],
    ['wants stored judgments that are not there', () => undefined, { judgments: 'only' }, 'judgment_missing'],
  ])('as it %s fails at once', async (_what, prepare, changes, reason) => {
    prepare();
    const { job: id } = await accepted(await ask({ id: 'bad', body: JSON.stringify({ ...rollout, ...changes }) }));
    await work(endpoint.id);
    const { data } = scoreFailedEventSchema.parse(verified(only(), endpoint.secret));
    expect(data).toMatchObject({ job: id, webhook_id: 'bad', problem: { reason } });
    expect(await job(id)).toMatchObject({ status: 'failed', reason, attempts: 1 });
    const body = JSON.stringify({ ...rollout, ...changes });
    expect((await accepted(await ask({ id: 'bad', body }), 200)).status).toBe('failed');
  });
});

describe('work', () => {
  it('outlives restarts before and in its middle, and is done once', async () => {
    const { job: id } = await accepted(await ask());
    await evictAllDurableObjects();
    const gate = Promise.withResolvers<void>();
    counting.answer = async (request) => {
      await gate.promise;
      return lexically(request);
    };
    const cut = work(endpoint.id).catch(() => 'lost');
    await vi.waitFor(() => expect(counting.calls).toHaveLength(2), 20_000);
    await abortAllDurableObjects();
    gate.resolve();
    await cut;
    expect((await job(id)).status).toBe('pending');
    expect(receiver.received).toEqual([]);
    await work(endpoint.id);
    scoreCompletedEventSchema.parse(verified(only(), endpoint.secret));
  });

  it('that waits is bounded: 503 with Retry-After, and repeats are still answered', async () => {
    for (const id of ['a', 'b', 'c']) await accepted(await ask({ id }));
    const refused = await ask({ id: 'd' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemOf(refused, 503, 'webhook_busy')).toMatchObject({ retryable: true });
    await accepted(await ask({ id: 'a' }));
    await work(endpoint.id);
    await accepted(await ask({ id: 'd' }));
  });

  it('begins by itself, and the score goes out, without a test that runs the alarm', async () => {
    vi.useRealTimers();
    await accepted(await ask());
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 20_000 });
    scoreCompletedEventSchema.parse(verified(only(), endpoint.secret));
  });

  it('is forgotten with its webhook-id after a week', async () => {
    const first = await accepted(await ask({ id: 'weekly' }));
    await work(endpoint.id);
    advance(7 * 24 * HOUR_MS + HOUR_MS);
    await work(endpoint.id);
    await problemOf(await call('GET', `/v1/webhooks/${endpoint.id}/jobs/${first.job}`), 404, 'webhook_job_not_found');
    expect((await accepted(await ask({ id: 'weekly' }))).job).not.toBe(first.job);
  });

  it('that breaks on a bug fails with a reason, and is logged without its message', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    counting.answer = () => Promise.reject(new TypeError('kanarienvogel'));
    const { job: id } = await accepted(await ask());
    await work(endpoint.id);
    expect(await job(id)).toMatchObject({ status: 'failed', attempts: 1, reason: 'internal' });
    const log = error.mock.calls.flat().join('\n');
    expect(log).toContain('webhook_work_failed');
    expect(log).not.toContain('kanarienvogel');
    const event = scoreFailedEventSchema.parse(verified(only(), endpoint.secret));
    expect(event.data.problem).toMatchObject({ reason: 'internal', status: 500 });
    expect(event.data).not.toHaveProperty('score');
  });
});

describe('the log and the problems', () => {
  it('hold nothing of a request, an endpoint or a receiver', async () => {
    const lines: string[] = [];
    for (const method of ['log', 'error', 'warn', 'info', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((...values: unknown[]) => {
        lines.push(values.map(String).join(' '));
      });
    }
    const CANARY = 'kanarienvogel';
    const planted = await register({ url: `https://hooks.example.com/${CANARY}?token=${CANARY}`, description: CANARY });
    const text = `${CANARY} <answer><snippet id=${CANARY}>${CANARY}</snippet></answer>`;
    const body = { ...rollout, question: text, response: text, tool_output: text, positive_rubrics: [text] };
    receiver.answers.push(
      () => new Response(CANARY, { status: 500, headers: { 'x-canary': CANARY } }),
      () => Promise.reject(new Error(CANARY)),
      () => new Response(null, { status: 302, headers: { location: `https://${CANARY}.example/` } }),
    );
    const problems: string[] = [];
    const note = async (reply: Response): Promise<void> => {
      if (reply.status >= 400) problems.push(await reply.text());
    };
    await note(await ask({ id: CANARY, body: JSON.stringify(body) }, planted));
    await note(await ask({ id: CANARY, body: JSON.stringify({ ...body, replicate: 0 }) }, planted));
    await note(await ask({ id: `${CANARY}2`, body: `{"question": "${CANARY}` }, planted));
    await note(await ask({ id: `${CANARY}3`, body: JSON.stringify({ ...body, recipe: CANARY }) }, planted));
    await note(await ask({ id: `${CANARY}.4` }, planted));
    await note(await ask({ headers: { 'webhook-signature': `v1,${CANARY}` } }, planted));
    await note(await ask({}, { id: CANARY, secret: planted.secret }));
    await note(await call('POST', '/v1/webhooks', { url: `https://${CANARY}.local/`, description: CANARY }));
    await note(await call('GET', `/v1/webhooks/${planted.id}/deliveries/${CANARY}`));
    for (let round = 0; round < 4; round++) {
      await work(planted.id);
      advance(HOUR_MS);
    }
    await note(await call('POST', `/v1/webhooks/${planted.id}/test`));
    expect(problems).toHaveLength(7);
    expect(problems.join('\n')).not.toContain(CANARY);
    expect(lines.length).toBeGreaterThan(15);
    expect(lines.join('\n')).not.toContain(CANARY);
    expect(lines.join('\n')).not.toContain('whsec_');
    const reply = await json('GET', `/v1/webhooks/${planted.id}/deliveries`);
    const { deliveries } = deliveriesSchema.parse(reply);
    expect(deliveries.map(({ type, state }) => [type, state]).toSorted()).toEqual([
      ['score.completed', 'delivered'],
      ['score.failed', 'delivered'],
    ]);
    for (const got of receiver.received) expect(verified(got, planted.secret)).toMatchObject({ data: {} });
  });
});
