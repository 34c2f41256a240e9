/** Webhook endpoints and their outbox: registration, secrets, and receivers that misbehave in every way. */
import {
  abortAllDurableObjects,
  evictAllDurableObjects,
  listDurableObjectIds,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announce } from '../../functions/webhooks/endpoint-client.ts';
import { MAX_WEBHOOK_ENDPOINTS } from '../../src/limits.ts';
import {
  deliveriesSchema,
  deliveryDetailSchema,
  endpointSchema,
  endpointsSchema,
  endpointTestSchema,
  endpointWithSecretSchema,
} from '../../src/wire/webhooks-reply.ts';
import { post, problemOf, send, sha256Hex, wrongFields } from './api.ts';
import { sendTo } from './model-server.ts';
import {
  advance,
  call,
  endWebhooks,
  json,
  RECEIVER,
  type Registered,
  receiver,
  register,
  startWebhooks,
  verified,
  work,
} from './webhook-parts.ts';
import { replaceParts } from './worker.ts';

let publicNetwork: Pick<Fetcher, 'fetch'> | undefined;
replaceParts({
  webhookLimits: { deliveryTimeoutMs: 300 },
  environmentOf: (environment) =>
    publicNetwork === undefined
      ? environment
      : { ...environment, PUBLIC_NETWORK: publicNetwork, WEBHOOK_ALLOW_LOOPBACK: 'true' },
});

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const NOBODY = `whe_${'x'.repeat(24)}`;

let endpoint: Registered;
beforeEach(async () => {
  startWebhooks();
  endpoint = await register();
});
afterEach(endWebhooks);

async function enqueue(data: unknown = { n: 1 }, key?: string): Promise<string> {
  const event = { type: 'batch.completed', data, ...(key === undefined ? {} : { key }) };
  const announced = await announce(env, { project: 'default', id: endpoint.id }, event);
  if (!announced.ok) throw new Error(announced.refusal);
  return announced.value.message;
}

async function delivery(message: string) {
  return deliveryDetailSchema.parse(await json('GET', `/v1/webhooks/${endpoint.id}/deliveries/${message}`));
}

async function deliveries(query = '') {
  return deliveriesSchema.parse(await json('GET', `/v1/webhooks/${endpoint.id}/deliveries${query}`));
}

async function described(id = endpoint.id) {
  return endpointSchema.parse(await json('GET', `/v1/webhooks/${id}`));
}

it('the secret of an endpoint lets its holder score, so only a key that may score gets one', async () => {
  const admin = { sha256: await sha256Hex('k'), scopes: ['admin'] };
  const as = (request: Request, scopes: readonly string[]) => {
    request.headers.set('authorization', 'Bearer k');
    return sendTo(request, { API_KEYS: JSON.stringify({ admin: { ...admin, scopes } }) });
  };
  const registration = () => post('/v1/webhooks', { url: RECEIVER });
  const rotation = () => post(`/v1/webhooks/${endpoint.id}/secrets:rotate`, {});
  for (const request of [registration, rotation]) {
    const { detail } = await problemOf(await as(request(), ['admin']), 403, 'scope_missing');
    expect(detail).toContain('"score"');
    await problemOf(await as(request(), ['score']), 403, 'scope_missing');
    expect((await as(request(), ['admin', 'score'])).ok).toBe(true);
  }
});

describe('registration', () => {
  it('shows the secret once, and never again', async () => {
    const reply = await send(post('/v1/webhooks', { url: RECEIVER, description: 'RAG' }));
    expect(reply.status).toBe(201);
    const { secret, ...rest } = endpointWithSecretSchema.parse(await reply.json());
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rest).toMatchObject({ url: RECEIVER, description: 'RAG', enabled: true, disabled_reason: null });
    expect(rest.secrets).toMatchObject([{ expires_at: null }]);
    expect(await described(rest.id)).toEqual(rest);
    const listed = endpointsSchema.parse(await json('GET', '/v1/webhooks'));
    expect(listed.endpoints).toContainEqual(rest);
    expect(JSON.stringify(listed)).not.toContain('whsec_');
  });

  it('is shown after a rollback, though a later version disabled it for a reason of its own', async () => {
    const reply = await send(post('/v1/webhooks', { url: RECEIVER }));
    const { id } = endpointWithSecretSchema.parse(await reply.json());
    await runInDurableObject(env.DELIVERIES.getByName(`default/${id}`), (_object, { storage }) => {
      storage.sql.exec("UPDATE endpoint_v1 SET enabled = 0, disabled_reason = 'later'");
    });
    expect(await described(id)).toMatchObject({ id, enabled: false, disabled_reason: null });
  });

  it('refuses what is no public https receiver, and unknown fields', async () => {
    for (const url of [
      'http://hooks.example.com/',
      'https://10.0.0.1/',
      'https://2130706433/',
      'https://[::ffff:127.0.0.1]/',
      'https://user:password@hooks.example.com/',
      'https://hooks.example.com:8080/',
      'http://127.0.0.1:8080/',
      'https://localhost:8443/',
    ]) {
      expect(await wrongFields(await call('POST', '/v1/webhooks', { url }))).toEqual(['url']);
      expect(await wrongFields(await call('PATCH', `/v1/webhooks/${endpoint.id}`, { url }))).toEqual(['url']);
    }
    expect(await wrongFields(await call('POST', '/v1/webhooks', { url: RECEIVER, enable: true }))).toEqual(['enable']);
    expect(await wrongFields(await call('PATCH', `/v1/webhooks/${endpoint.id}`, { secret: 'x' }))).toEqual(['secret']);
    expect(await wrongFields(await call('POST', '/v1/webhooks', {}))).toEqual(['url']);
  });

  it('is changed and deleted, and outlives restarts', async () => {
    const changed = { url: 'https://hooks.example.com:8443/other', description: null, enabled: false };
    expect(await json('PATCH', `/v1/webhooks/${endpoint.id}`, changed)).toMatchObject({
      ...changed,
      disabled_reason: 'requested',
    });
    await abortAllDurableObjects();
    expect(await described()).toMatchObject(changed);
    expect(await json('DELETE', `/v1/webhooks/${endpoint.id}`)).toEqual({ id: endpoint.id, deleted: true });
    for (const method of ['GET', 'DELETE']) {
      await problemOf(await call(method, `/v1/webhooks/${endpoint.id}`), 404, 'webhook_not_found');
    }
    expect(await announce(env, { project: 'default', id: endpoint.id }, { type: 'x', data: 1 })).toEqual({
      ok: false,
      refusal: 'endpoint_unknown',
    });
  });

  it('answers 404 under every route of an endpoint that is not there', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/secrets:rotate', {}],
      ['POST', '/test'],
      ['GET', '/jobs/job_x'],
      ['GET', '/deliveries'],
      ['GET', '/deliveries/msg_x'],
      ['POST', '/deliveries/msg_x/resend'],
    ] as const) {
      await problemOf(await call(method, `/v1/webhooks/${NOBODY}${path}`, body), 404, 'webhook_not_found');
    }
    const none = `/v1/webhooks/${endpoint.id}`;
    await problemOf(await call('GET', `${none}/jobs/job_x`), 404, 'webhook_job_not_found');
    await problemOf(await call('GET', `${none}/deliveries/msg_x`), 404, 'webhook_delivery_not_found');
    await problemOf(await call('POST', `${none}/deliveries/msg_x/resend`), 404, 'webhook_delivery_not_found');
    const after = `msg_${'x'.repeat(24)}`;
    await problemOf(await call('GET', `${none}/deliveries?after=${after}`), 404, 'webhook_delivery_not_found');
    expect(await wrongFields(await call('GET', `${none}/deliveries?limit=0&state=lost`))).toEqual([
      'query.state',
      'query.limit',
    ]);
  });
  it('makes no object for an id that is not listed', async () => {
    await problemOf(await call('GET', `/v1/webhooks/${NOBODY}`), 404, 'webhook_not_found');
    await problemOf(await call('GET', '/v1/webhooks/..%2F..%2Fx'), 404, 'webhook_not_found');
    const ids = await listDurableObjectIds(env.DELIVERIES);
    expect(ids.some((id) => id.equals(env.DELIVERIES.idFromName(`default/${endpoint.id}`)))).toBe(true);
    expect(ids.some((id) => id.equals(env.DELIVERIES.idFromName(`default/${NOBODY}`)))).toBe(false);
  });
});

describe('a delivery', () => {
  it('is a signed POST of type, timestamp and data, and is over with a 2xx', async () => {
    const message = await enqueue({ batch: 'batch_1', ü: '\u0000' });
    await work(endpoint.id);
    const [got] = receiver.received;
    if (got === undefined) throw new Error('nothing came');
    expect(got.url).toBe(RECEIVER);
    expect(got.headers.get('webhook-id')).toBe(message);
    expect(got.headers.get('content-type')).toBe('application/json');
    expect(got.init).toMatchObject({ method: 'POST', redirect: 'manual' });
    const event = {
      type: 'batch.completed',
      timestamp: new Date().toISOString(),
      data: { batch: 'batch_1', ü: '\u0000' },
    };
    expect(verified(got, endpoint.secret)).toEqual(event);
    expect(await delivery(message)).toMatchObject({
      state: 'delivered',
      attempts: 1,
      reason: null,
      next_attempt_at: null,
      attempt_log: [{ status: 204, reason: null }],
      event,
    });
    await work(endpoint.id);
    expect(receiver.received).toHaveLength(1);
  });

  it('leaves through the network of public addresses, where there is one; only loopback does not', async () => {
    const urls: string[] = [];
    publicNetwork = {
      fetch: async (input) => {
        urls.push(new Request(input).url);
        return new Response(null, { status: 204 });
      },
    };
    endpoint = await register();
    const inside = await register({ url: 'http://127.0.0.1:9/hook' });
    for (const { id } of [endpoint, inside]) {
      expect(await json('POST', `/v1/webhooks/${id}/test`)).toMatchObject({ delivered: true });
    }
    publicNetwork = undefined;
    expect(urls).toEqual([RECEIVER]);
    expect(receiver.received.map(({ url }) => url)).toEqual(['http://127.0.0.1:9/hook']);
  });

  it.each([
    [
      'redirects',
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
      'redirect',
      302,
    ],
    ['has moved for good', () => new Response(null, { status: 308, headers: { location: '/x' } }), 'redirect', 308],
    ['refuses', () => new Response('no', { status: 401 }), 'status_401', 401],
    ['is broken', () => new Response('<html>', { status: 500 }), 'status_500', 500],
    ['is not there', () => Promise.reject(new TypeError('connect')), 'unreachable', null],
    ['hangs', hang, 'timeout', null],
    ['hangs in its reply', () => new Response(new ReadableStream(), { status: 200 }), 'timeout', 200],
    ['streams forever', () => new Response(endless(), { status: 200 }), 'too_long', 200],
    ['breaks off', () => new Response(broken(), { status: 200 }), 'interrupted', 200],
  ] as const)('to a receiver that %s is tried again, with the reason', async (_what, answer, reason, status) => {
    receiver.answers.push(answer);
    const message = await enqueue();
    await work(endpoint.id);
    expect(receiver.received).toHaveLength(1);
    const waiting = await delivery(message);
    expect(waiting).toMatchObject({ state: 'pending', reason, attempts: 1, attempt_log: [{ reason, status }] });
    const wait = Date.parse(waiting.next_attempt_at ?? '') - Date.now();
    expect(wait).toBeGreaterThanOrEqual(5_000);
    expect(wait).toBeLessThanOrEqual(6_000);

    // No retry before it is due; the retry has the same id and a new signature.
    await work(endpoint.id);
    expect(receiver.received).toHaveLength(1);
    advance(wait);
    await work(endpoint.id);
    const [first, second] = receiver.received;
    expect(second?.headers.get('webhook-id')).toBe(message);
    expect(second?.headers.get('webhook-timestamp')).not.toBe(first?.headers.get('webhook-timestamp'));
    expect(second && verified(second, endpoint.secret)).toMatchObject({ data: { n: 1 } });
    expect(await delivery(message)).toMatchObject({ state: 'delivered', attempts: 2, reason: null });
  });

  it('waits as long as the receiver asks', async () => {
    receiver.answers.push(() => new Response(null, { status: 503, headers: { 'retry-after': '90' } }));
    const message = await enqueue();
    await work(endpoint.id);
    const { next_attempt_at } = await delivery(message);
    expect(Date.parse(next_attempt_at ?? '') - Date.now()).toBe(90_000);
  });

  it('is given up after a day, and can be sent again from there', async () => {
    receiver.always = () => new Response(null, { status: 500 });
    const message = await enqueue();
    const began = Date.now();
    while ((await delivery(message)).state === 'pending') {
      await work(endpoint.id);
      advance(Math.max(1, Date.parse((await delivery(message)).next_attempt_at ?? '') - Date.now() || 1));
    }
    expect(receiver.received.length).toBeGreaterThanOrEqual(8);
    expect(Date.now() - began).toBeLessThan(DAY_MS);
    expect(await delivery(message)).toMatchObject({ state: 'dead', reason: 'status_500', next_attempt_at: null });
    expect((await deliveries('?state=dead')).deliveries.map(({ id }) => id)).toEqual([message]);

    receiver.always = () => new Response('thanks');
    const count = receiver.received.length;
    await json('POST', `/v1/webhooks/${endpoint.id}/deliveries/${message}/resend`);
    await work(endpoint.id);
    expect(receiver.received).toHaveLength(count + 1);
    expect(receiver.received.at(-1)?.headers.get('webhook-id')).toBe(message);
    expect(await delivery(message)).toMatchObject({ state: 'delivered', attempts: count + 1 });
  });

  it('is made again after a restart in its middle: at least once, under the same id', async () => {
    const never = Promise.withResolvers<Response>();
    receiver.answers.push(() => never.promise);
    const message = await enqueue();
    const cut = work(endpoint.id).catch(() => 'lost');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 20_000);
    await abortAllDurableObjects();
    await cut;
    await work(endpoint.id);
    expect(receiver.received.map(({ headers }) => headers.get('webhook-id'))).toEqual([message, message]);
    expect((await delivery(message)).state).toBe('delivered');
  });

  it('outlives an eviction before its first attempt', async () => {
    const message = await enqueue();
    await evictAllDurableObjects();
    await work(endpoint.id);
    expect((await delivery(message)).state).toBe('delivered');
  });

  it('goes out by itself, without a test that runs the alarm', async () => {
    vi.useRealTimers();
    const message = await enqueue();
    await vi.waitFor(async () => expect((await delivery(message)).state).toBe('delivered'), { timeout: 20_000 });
  });
});

function hang(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(16 * 1024));
    },
  });
}

function broken(): ReadableStream<Uint8Array> {
  let chunks = 0;
  return new ReadableStream({
    pull(controller) {
      if (chunks++ === 0) controller.enqueue(new Uint8Array(10));
      else controller.error(new TypeError('reset'));
    },
  });
}

describe('the outbox', () => {
  it('lists the newest first, page by page, by state', async () => {
    const messages: string[] = [];
    for (let n = 0; n < 5; n++) messages.unshift(await enqueue({ n }));
    const first = await deliveries('?limit=2');
    expect(first.deliveries.map(({ id }) => id)).toEqual(messages.slice(0, 2));
    const second = await deliveries(`?limit=2&after=${first.next}`);
    const third = await deliveries(`?limit=2&after=${second.next}`);
    expect([...second.deliveries, ...third.deliveries].map(({ id }) => id)).toEqual(messages.slice(2));
    expect(third.next).toBeNull();
    expect((await deliveries('?state=delivered')).deliveries).toEqual([]);
    await work(endpoint.id);
    expect((await deliveries('?state=delivered')).deliveries).toHaveLength(5);
    expect(receiver.received).toHaveLength(5);
  });

  it('takes an event of one key once', async () => {
    const [first, second] = [await enqueue({ n: 1 }, 'batch_1'), await enqueue({ n: 2 }, 'batch_1')];
    expect(second).toBe(first);
    expect(await enqueue({ n: 1 }, 'batch_2')).not.toBe(first);
  });

  it('forgets what was delivered after a week, and what is dead after a month', async () => {
    const delivered = await enqueue();
    await work(endpoint.id);
    receiver.always = () => new Response(null, { status: 410 });
    const dead = await enqueue();
    await work(endpoint.id);
    const kept = async () => (await deliveries()).deliveries.map(({ id }) => id);
    advance(7 * DAY_MS - HOUR_MS);
    await work(endpoint.id);
    expect(await kept()).toEqual([dead, delivered]);
    advance(2 * HOUR_MS);
    await work(endpoint.id);
    expect(await kept()).toEqual([dead]);
    advance(23 * DAY_MS);
    await work(endpoint.id);
    expect(await kept()).toEqual([]);
    // Nothing is left to wake up for.
    expect(await work(endpoint.id)).toBe(false);
  });

  it('holds bodies that are larger than a row', async () => {
    const text = 'ü'.repeat(2_500_000);
    await enqueue({ text });
    await work(endpoint.id);
    expect(receiver.received[0] && verified(receiver.received[0], endpoint.secret)).toMatchObject({ data: { text } });
  });
});

describe('an endpoint', () => {
  it('that answers 410 is disabled; what waits is delivered when it is enabled again', async () => {
    receiver.answers.push(() => new Response(null, { status: 410 }));
    const gone = await enqueue();
    await work(endpoint.id);
    expect(await delivery(gone)).toMatchObject({ state: 'dead', reason: 'gone', attempts: 1 });
    expect(await described()).toMatchObject({ enabled: false, disabled_reason: 'gone' });

    const waiting = await enqueue();
    await work(endpoint.id);
    expect(receiver.received).toHaveLength(1);
    await json('PATCH', `/v1/webhooks/${endpoint.id}`, { enabled: true });
    expect(await described()).toMatchObject({ enabled: true, disabled_reason: null });
    await work(endpoint.id);
    expect((await delivery(waiting)).state).toBe('delivered');
  });

  it('that stays disabled for a day loses what waits to the dead letters', async () => {
    await json('PATCH', `/v1/webhooks/${endpoint.id}`, { enabled: false });
    const message = await enqueue();
    advance(DAY_MS);
    await work(endpoint.id);
    expect(await delivery(message)).toMatchObject({ state: 'dead', reason: 'endpoint_disabled', attempts: 0 });
    expect(receiver.received).toEqual([]);
  });

  it('that is deleted in mid-delivery leaves nothing behind', async () => {
    const gate = Promise.withResolvers<void>();
    receiver.answers.push(async () => {
      await gate.promise;
      return new Response(null, { status: 500 });
    });
    await enqueue();
    const working = work(endpoint.id);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 20_000);
    await json('DELETE', `/v1/webhooks/${endpoint.id}`);
    gate.resolve();
    await working;
    expect(await work(endpoint.id)).toBe(false);
    await problemOf(await call('GET', `/v1/webhooks/${endpoint.id}/deliveries`), 404, 'webhook_not_found');
  });

  it('is tested on demand, also while disabled', async () => {
    await json('PATCH', `/v1/webhooks/${endpoint.id}`, { enabled: false });
    const test = async () => endpointTestSchema.parse(await json('POST', `/v1/webhooks/${endpoint.id}/test`));
    expect(await test()).toMatchObject({ delivered: true, status: 204, reason: null });
    expect(receiver.received[0] && verified(receiver.received[0], endpoint.secret)).toMatchObject({
      type: 'webhook.test',
      data: { endpoint: endpoint.id },
    });
    receiver.answers.push(hang, () => new Response(null, { status: 410 }));
    expect(await test()).toMatchObject({ delivered: false, status: null, reason: 'timeout' });
    expect(await test()).toMatchObject({ delivered: false, status: 410, reason: 'gone' });
    expect((await deliveries()).deliveries).toEqual([]);
  });
});

describe('rotation', () => {
  async function rotate(body: unknown = {}) {
    return endpointWithSecretSchema.parse(await json('POST', `/v1/webhooks/${endpoint.id}/secrets:rotate`, body));
  }

  it('signs with both secrets until the old one expires', async () => {
    const { secret, secrets } = await rotate({ grace_s: 3_600 });
    expect(secrets.map(({ expires_at }) => expires_at)).toEqual([null, new Date(Date.now() + 3_600_000).toISOString()]);
    await enqueue();
    await work(endpoint.id);
    const [during] = receiver.received;
    if (during === undefined) throw new Error('nothing came');
    expect(during.headers.get('webhook-signature')?.split(' ')).toHaveLength(2);
    for (const key of [secret, endpoint.secret]) expect(verified(during, key)).toMatchObject({ data: { n: 1 } });

    advance(HOUR_MS);
    await enqueue();
    await work(endpoint.id);
    const [, after] = receiver.received;
    if (after === undefined) throw new Error('nothing came');
    expect(verified(after, secret)).toMatchObject({ data: { n: 1 } });
    expect(() => verified(after, endpoint.secret)).toThrow();
    expect((await described()).secrets).toMatchObject([{ expires_at: null }]);
  });

  it('keeps the old one for a day, for a week at most, or not at all', async () => {
    const [, old] = (await rotate()).secrets;
    expect(old?.expires_at).toBe(new Date(Date.now() + DAY_MS).toISOString());
    const path = `/v1/webhooks/${endpoint.id}/secrets:rotate`;
    expect(await wrongFields(await call('POST', path, { grace_s: 7 * 24 * 3_600 + 1 }))).toEqual(['grace_s']);
    expect((await rotate({ grace_s: 0 })).secrets).toHaveLength(1);
  });

  it('refuses a fifth secret that would be valid at once', async () => {
    for (let n = 0; n < 3; n++) await rotate();
    const path = `/v1/webhooks/${endpoint.id}/secrets:rotate`;
    await problemOf(await call('POST', path, {}), 409, 'webhook_limit_reached');
    expect((await rotate({ grace_s: 0 })).secrets).toHaveLength(1);
  });
});

describe('endpoints', () => {
  it('are limited in number', async () => {
    const { endpoints } = endpointsSchema.parse(await json('GET', '/v1/webhooks'));
    for (let n = endpoints.length; n < MAX_WEBHOOK_ENDPOINTS; n++) await register();
    await problemOf(await call('POST', '/v1/webhooks', { url: RECEIVER }), 409, 'webhook_limit_reached');
    await json('DELETE', `/v1/webhooks/${endpoint.id}`);
    await register();
    expect(endpointsSchema.parse(await json('GET', '/v1/webhooks')).endpoints).toHaveLength(MAX_WEBHOOK_ENDPOINTS);
  });
});
