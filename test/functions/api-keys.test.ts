/** Keys that the Worker stores: making, listing, expiry, revocation, unknown ones, and the audit. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Environment } from '../../functions/environment.ts';
import { createWorker } from '../../functions/worker.ts';
import { isStoredKeyText, storedKeyText } from '../../src/wire/key-text.ts';
import { auditSchema, createdKeySchema, keyListSchema } from '../../src/wire/stored-keys.ts';
import { D1_FAILED, type Detour, detoured, failing } from '../contract/detoured-binding.ts';
import { ORIGIN, post, problemOf, ROLLOUT, sha256Hex, TOOL_OUTPUT } from './api.ts';

const VERIFY = { response: ROLLOUT.response, tool_output: TOOL_OUTPUT };
const OPERATOR = 'operator-key-of-the-secret';

let faults: Detour | null = null;
let queries = 0;
let worker = createWorker();

/** The database, with counted statements and the faults of a test. */
function database(): D1Database {
  const db = detoured(env.DB, () => faults);
  return new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          if (sql.includes('FROM api_keys WHERE sha256')) queries++;
          return target.prepare(sql);
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const db = database();

async function send(request: Request, variables: Partial<Environment> = {}): Promise<Response> {
  const context = createExecutionContext();
  const API_KEYS = JSON.stringify({
    operator: { sha256: await sha256Hex(OPERATOR), scopes: ['verify', 'score', 'generate', 'batch', 'admin'] },
  });
  const environment = { ...env, ALLOW_ANONYMOUS: 'false', API_KEYS, DB: db, ...variables };
  const reply = await worker.fetch(new Request<unknown, IncomingRequestCfProperties>(request), environment, context);
  await waitOnExecutionContext(context);
  return reply;
}

const bearer = (key: string, from = '192.0.2.1') => ({ authorization: `Bearer ${key}`, 'cf-connecting-ip': from });
const call = (key: string, method: string, path: string) =>
  send(new Request(ORIGIN + path, { method, headers: bearer(key) }));

async function make(fields: object, key = OPERATOR) {
  const reply = await send(post('/v1/api-keys', { label: 'trainer', scopes: ['verify'], ...fields }, bearer(key)));
  const text = await reply.text();
  expect(reply.status, text).toBe(201);
  return createdKeySchema.parse(JSON.parse(text));
}

const verify = (key: string, from?: string) => send(post('/v1/verify', VERIFY, bearer(key, from)));

async function listed(key: string, query = '') {
  return keyListSchema.parse(await (await call(key, 'GET', `/v1/api-keys${query}`)).json());
}

beforeEach(() => {
  faults = null;
  // Another isolate.
  worker = createWorker();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 23, 12) });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const advance = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe('a stored key', () => {
  it('is shown once, hashed in the database, and admits its scopes', async () => {
    const { key, ...made } = await make({ project: 'kosmos', scopes: ['verify', 'score'] });
    expect(made).toMatchObject({ project: 'kosmos', label: 'trainer', scopes: ['verify', 'score'], expires_at: null });
    expect(isStoredKeyText(key)).toBe(true);
    const { results } = await env.DB.prepare('SELECT * FROM api_keys').all();
    expect(JSON.stringify(results)).not.toContain(key);
    expect(JSON.stringify(results)).toContain(await sha256Hex(key));
    expect((await verify(key)).status).toBe(200);
    await problemOf(await call(key, 'GET', '/v1/api-keys'), 403, 'scope_missing');
    const [first] = (await listed(OPERATOR, '?project=kosmos')).keys;
    expect(first).toEqual({ ...made, last_used_at: '2026-11-23T12:00:00.000Z' });
  });

  it('of a later version keeps the scopes that this version knows, and the lowest tier', async () => {
    const { key, id } = await make({ project: 'later', scopes: ['verify', 'score'], tier: 'high' });
    const update = env.DB.prepare('UPDATE api_keys SET scopes = ?, tier = ? WHERE id = ?');
    await update.bind('["verify","dream"]', 'highest', id).run();
    expect((await verify(key)).status).toBe(200);
    await problemOf(await call(key, 'GET', '/v1/runs'), 403, 'scope_missing');
    expect((await listed(OPERATOR, '?project=later')).keys).toMatchObject([
      { id, scopes: ['verify'], tier: 'standard' },
    ]);
  });

  it('expires', async () => {
    const { key, expires_at } = await make({ expires_in_s: 3600 });
    expect(expires_at).toBe('2026-11-23T13:00:00.000Z');
    expect((await verify(key)).status).toBe(200);
    advance(3600_000);
    await problemOf(await verify(key), 401, 'key_expired');
  });

  it('is read once in a while, and revoked everywhere within a minute', async () => {
    const { key, id } = await make({});
    queries = 0;
    for (let n = 0; n < 20; n++) expect((await verify(key)).status).toBe(200);
    expect(queries).toBe(1);
    const other = worker;
    worker = createWorker();
    expect((await call(OPERATOR, 'DELETE', `/v1/api-keys/${id}`)).status).toBe(200);
    await problemOf(await verify(key), 401, 'key_unknown');
    worker = other;
    expect((await verify(key)).status).toBe(200);
    advance(60_000);
    await problemOf(await verify(key), 401, 'key_unknown');
    expect((await call(OPERATOR, 'DELETE', `/v1/api-keys/${id}`)).status).toBe(200);
    await problemOf(await call(OPERATOR, 'DELETE', '/v1/api-keys/key_none'), 404, 'key_not_found');
  });

  it('is accepted for ten minutes while the database does not answer', async () => {
    const { key } = await make({});
    expect((await verify(key)).status).toBe(200);
    faults = failing('first', Number.POSITIVE_INFINITY, D1_FAILED);
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    advance(5 * 60_000);
    expect((await verify(key)).status).toBe(200);
    advance(6 * 60_000);
    await problemOf(await verify(key), 503, 'storage_failed');
  });

  it('makes only keys of its own project that may do no more than itself', async () => {
    const own = await make({ project: 'kosmos', scopes: ['verify', 'admin'] });
    const made = await make({ scopes: ['verify'] }, own.key);
    expect(made.project).toBe('kosmos');
    const refused = (fields: object) =>
      send(post('/v1/api-keys', { label: 'x', scopes: ['verify'], ...fields }, bearer(own.key)));
    await problemOf(await refused({ scopes: ['score'] }), 403, 'scope_missing');
    await problemOf(await refused({ project: 'default' }), 403, 'operator_needed');
    await problemOf(await call(own.key, 'GET', '/v1/api-keys?project=default'), 403, 'operator_needed');
    expect(new Set((await listed(own.key)).keys.map(({ project }) => project))).toEqual(new Set(['kosmos']));
    const foreign = await make({ project: 'other' });
    await problemOf(await call(own.key, 'DELETE', `/v1/api-keys/${foreign.id}`), 404, 'key_not_found');
    expect((await verify(foreign.key)).status).toBe(200);
  });

  it('makes no key of a higher tier or a longer life than its own, and passes its expiry on', async () => {
    const grant = (key: string, fields: object) =>
      send(post('/v1/api-keys', { label: 'x', scopes: ['verify'], ...fields }, bearer(key)));
    const standard = await make({ scopes: ['verify', 'admin'], expires_in_s: 3600 });
    await problemOf(await grant(standard.key, { tier: 'high' }), 403, 'operator_needed');
    await problemOf(await grant(standard.key, { expires_in_s: 3601 }), 403, 'operator_needed');
    expect((await make({ expires_in_s: 60 }, standard.key)).expires_at).toBe('2026-11-23T12:01:00.000Z');
    advance(60_000);
    expect((await make({}, standard.key)).expires_at).toBe(standard.expires_at);
    const high = await make({ scopes: ['verify', 'admin'], tier: 'high' });
    expect(await make({ tier: 'high' }, high.key)).toMatchObject({ tier: 'high', expires_at: null });
    expect((await make({ tier: 'standard' }, high.key)).tier).toBe('standard');
  });

  it('is listed page by page', async () => {
    const made = [];
    for (let n = 0; n < 3; n++) {
      advance(1000);
      made.push((await make({ project: 'pages' })).id);
    }
    const first = await listed(OPERATOR, '?project=pages&limit=2');
    expect(first.keys.map(({ id }) => id)).toEqual([made[2], made[1]]);
    const second = await listed(OPERATOR, `?project=pages&limit=2&after=${first.next}`);
    expect(second).toMatchObject({ keys: [{ id: made[0] }], next: null });
    await problemOf(await call(OPERATOR, 'GET', `/v1/api-keys?after=key_${'x'.repeat(24)}`), 422, 'input_invalid');
  });

  it('works where requests without a key are allowed, and where API_KEYS is empty', async () => {
    const { key } = await make({});
    for (const ALLOW_ANONYMOUS of ['true', 'false']) {
      const request = post('/v1/verify', VERIFY, bearer(key));
      expect((await send(request, { API_KEYS: '', ALLOW_ANONYMOUS })).status).toBe(200);
      const unknown = post('/v1/verify', VERIFY, bearer(storedKeyText(new Uint8Array(32))));
      await problemOf(await send(unknown, { API_KEYS: '', ALLOW_ANONYMOUS }), 401, 'key_unknown');
    }
  });
});

describe('unknown keys', () => {
  const random = () => storedKeyText(crypto.getRandomValues(new Uint8Array(32)));

  it('never reach the database if their checksum is wrong', async () => {
    const { key } = await make({});
    queries = 0;
    const wrong = [`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, `${key}0`, key.slice(0, -1), 'cwk_', 'cw_x'];
    for (const one of wrong) await problemOf(await verify(one), 401, 'key_unknown');
    expect(queries).toBe(0);
  });

  it('are remembered', async () => {
    const key = random();
    queries = 0;
    for (let n = 0; n < 5; n++) await problemOf(await verify(key), 401, 'key_unknown');
    expect(queries).toBe(1);
  });

  it('are refused with a time after ten in a minute from one address, where a right key is still accepted', async () => {
    const known = await make({});
    for (let n = 0; n < 10; n++) await problemOf(await verify(random()), 401, 'key_unknown');
    for (let n = 0; n < 5; n++) {
      const reply = await verify(random());
      expect(Number(reply.headers.get('retry-after'))).toBe(60);
      await problemOf(reply, 429, 'key_attempts_exceeded');
    }
    expect((await verify(known.key)).status).toBe(200);
    await problemOf(await verify(random(), '192.0.2.9'), 401, 'key_unknown');
    advance(60_000);
    await problemOf(await verify(random()), 401, 'key_unknown');
  });

  it('have no limit for all addresses together', async () => {
    const known = await make({});
    for (let n = 0; n < 260; n++) await problemOf(await verify(random(), `198.51.${n % 250}.${n}`), 401, 'key_unknown');
    expect((await verify(known.key, '192.0.2.9')).status).toBe(200);
  });

  /** A request over a connection from an address, as workerd names it. */
  const over = (clientIp: string, key: string, headers: Record<string, string> = {}, variables = {}) => {
    const { url, method, body } = post('/v1/verify', VERIFY);
    const sent = { ...bearer(key), 'content-type': 'application/json', ...headers };
    return send(new Request(url, { method, headers: sent, body, cf: { clientIp } }), variables);
  };

  it.each<readonly [string, (n: number) => readonly [string, Record<string, string>, Partial<Environment>]]>([
    [
      'its connection, whatever a header says',
      (n) => [`192.0.2.7:${40_000 + n}`, { 'cf-connecting-ip': `10.0.0.${n}` }, {}],
    ],
    ['its network of IPv6 addresses', (n) => [`[2001:db8:0:7::${n.toString(16)}]:443`, {}, {}]],
    [
      'the end of the header of a proxy',
      (n) => [
        `10.0.0.${n}:80`,
        { 'x-forwarded-for': `10.9.9.${n}, 192.0.2.8` },
        { CLIENT_ADDRESS_HEADER: 'X-Forwarded-For' },
      ],
    ],
  ])('count by %s', async (_, from) => {
    for (let n = 1; n <= 12; n++) {
      const [address, headers, variables] = from(n);
      const reply = await over(address, random(), headers, variables);
      if (n <= 10) await problemOf(reply, 401, 'key_unknown');
      else await problemOf(reply, 429, 'key_attempts_exceeded');
    }
    await problemOf(await over('[2001:db8:0:8::1]:443', random()), 401, 'key_unknown');
  });

  it('are looked up a few at a time, and right keys beside them', async () => {
    const known = await make({});
    const known2 = await make({});
    expect((await verify(known.key)).status).toBe(200);
    const gate = Promise.withResolvers<void>();
    let asking = 0;
    let most = 0;
    faults = async (method, _, proceed) => {
      if (method !== 'first') return proceed();
      most = Math.max(most, ++asking);
      await gate.promise;
      asking--;
      return proceed();
    };
    const all = Array.from({ length: 60 }, (_, n) => verify(random(), `198.51.100.${n}`));
    expect((await verify(known.key)).status).toBe(200);
    const waiting = verify(known2.key);
    gate.resolve();
    for (const reply of all) await problemOf(await reply, 401, 'key_unknown');
    expect((await waiting).status).toBe(200);
    expect(most).toBe(8);
  });

  it('beyond those that may wait are refused for a second', async () => {
    const gate = Promise.withResolvers<void>();
    faults = async (method, _, proceed) => {
      if (method === 'first') await gate.promise;
      return proceed();
    };
    const all = Array.from({ length: 150 }, (_, n) => verify(random(), `198.51.100.${n}`));
    const reply = await Promise.race(all);
    expect(reply.headers.get('retry-after')).toBe('1');
    await problemOf(reply, 429, 'key_attempts_exceeded');
    gate.resolve();
    await Promise.all(all);
  });
});

describe('the audit', () => {
  const uses = async (key: string, query = '') =>
    auditSchema.parse(await (await call(key, 'GET', `/v1/audit${query}`)).json());

  it('lists who used an admin route and with what outcome, and logs refused callers too', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const admin = await make({ project: 'audited', scopes: ['admin', 'score'], label: 'boss' });
    const plain = await make({ project: 'audited', scopes: ['score'] });
    await call(admin.key, 'DELETE', '/v1/runs/none');
    await call(plain.key, 'DELETE', '/v1/runs/none');
    const own = await uses(admin.key);
    expect(own.uses).toEqual([
      expect.objectContaining({
        project: 'audited',
        key_id: admin.id,
        key_label: 'boss',
        method: 'DELETE',
        route: '/v1/runs/:id',
        path: '/v1/runs/none',
        status: 404,
        reason: 'run_not_found',
      }),
    ]);
    const lines = log.mock.calls.map(([line]): Record<string, unknown> => JSON.parse(String(line)));
    const admins = lines.filter(({ event }) => event === 'admin_use');
    expect(admins).toContainEqual(expect.objectContaining({ key_id: plain.id, status: 403, reason: 'scope_missing' }));
    const all = await uses(OPERATOR, '?limit=1');
    expect(all.uses).toEqual([expect.objectContaining({ key_id: admin.id, route: '/v1/audit', status: 200 })]);
    expect((await uses(OPERATOR, `?limit=1&before=${all.next}`)).uses[0]?.n).toBeLessThan(all.uses[0]?.n ?? 0);
    await problemOf(await call(admin.key, 'GET', '/v1/audit?project=default'), 403, 'operator_needed');
  });

  it('is read from a table to which a later version added a column', async () => {
    await env.DB.prepare('ALTER TABLE audit ADD COLUMN later TEXT').run();
    await call(OPERATOR, 'DELETE', '/v1/runs/none');
    expect((await uses(OPERATOR)).uses).toContainEqual(expect.objectContaining({ path: '/v1/runs/none' }));
  });

  it('forgets uses and ended keys after 90 days', async () => {
    const { id } = await make({ project: 'old', expires_in_s: 60 });
    advance(91 * 24 * 60 * 60 * 1000);
    const scheduled = { scheduledTime: Date.now(), cron: '17 * * * *', noRetry: () => undefined };
    await worker.scheduled(scheduled, { ...env, DB: db });
    expect((await listed(OPERATOR, '?project=old')).keys.map((key) => key.id)).not.toContain(id);
    expect((await uses(OPERATOR, '?project=old')).uses).toEqual([]);
  });
});
