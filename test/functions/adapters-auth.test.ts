/** API keys of trainers: sent in a header, or in the URL, which becomes Basic auth and may only score. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import worker from '../../functions/index.ts';
import { requestOf, TRAINERS } from './adapters-trainers.ts';
import { ORIGIN, post, problemOf, ROLLOUT, sha256Hex, TOOL_OUTPUT } from './api.ts';

let API_KEYS = '';

beforeAll(async () => {
  const scopes = { 's3cret-score': ['score'], 's3cret-all': ['verify', 'score', 'admin'], 's3cret-verify': ['verify'] };
  const entries = Object.entries(scopes).map(async ([key, own]) => [
    key.slice(7),
    { sha256: await sha256Hex(key), scopes: own },
  ]);
  API_KEYS = JSON.stringify(Object.fromEntries(await Promise.all(entries)));
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function sendTo(request: Request, variables: Record<string, string> = {}): Promise<Response> {
  const context = createExecutionContext();
  const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
  const reply = await worker.fetch(incoming, { ...env, ALLOW_ANONYMOUS: 'false', API_KEYS, ...variables }, context);
  await waitOnExecutionContext(context);
  return reply;
}

/** The header that a client makes of `https://user:key@host/…`. */
const inUrl = (key: string, user = 'k') => ({ authorization: `Basic ${btoa(`${user}:${key}`)}` });

describe('a key in the URL', () => {
  it('scores on every adapter, whatever the user is called', async () => {
    for (const trainer of TRAINERS) {
      for (const user of ['k', '', 'x y']) {
        expect((await sendTo(requestOf(trainer, {}, {}, inUrl('s3cret-score', user)))).status, trainer).toBe(200);
      }
      expect((await sendTo(requestOf(trainer, {}, {}, inUrl('s3cret-all')))).status).toBe(200);
      const bearer = { authorization: 'Bearer s3cret-score' };
      expect((await sendTo(requestOf(trainer, {}, {}, bearer))).status).toBe(200);
    }
  });

  it('is refused without the scope, unknown, or malformed', async () => {
    for (const trainer of TRAINERS) {
      const answered = (headers: Record<string, string>) => sendTo(requestOf(trainer, {}, {}, headers));
      await problemOf(await answered(inUrl('s3cret-verify')), 403, 'scope_missing');
      await problemOf(await answered(inUrl('other')), 401, 'key_unknown');
      await problemOf(await answered({ authorization: `Basic ${btoa('s3cret-score:other')}` }), 401, 'key_unknown');
      for (const authorization of [
        `Basic ${btoa('s3cret-score')}`,
        `Basic ${btoa('k:')}`,
        'Basic !!!',
        'Basic a',
        'Basic',
        `Digest ${btoa('k:s3cret-score')}`,
      ]) {
        await problemOf(await answered({ authorization }), 401, 'key_missing');
      }
      await problemOf(await answered({}), 401, 'key_missing');
    }
  });

  it('is no key on any other route', async () => {
    for (const request of [
      post('/v1/score', ROLLOUT, inUrl('s3cret-all')),
      post('/v1/verify', { response: 'x', tool_output: TOOL_OUTPUT }, inUrl('s3cret-all')),
      post('/v1/adapters', {}, inUrl('s3cret-all')),
      new Request(`${ORIGIN}/readyz`, { headers: inUrl('s3cret-all') }),
    ]) {
      await problemOf(await sendTo(request), 401, 'key_missing');
    }
    await problemOf(await sendTo(post('/v1/adapters/nobody', {}, inUrl('s3cret-all'))), 404, 'route_unknown');
  });

  it('opens nothing where no key is configured, and is not asked for where anyone is let in', async () => {
    const request = () => requestOf('slime', {}, {}, inUrl('s3cret-score'));
    await problemOf(await sendTo(request(), { API_KEYS: '' }), 403, 'auth_unconfigured');
    expect((await sendTo(request(), { API_KEYS: '', ALLOW_ANONYMOUS: 'true' })).status).toBe(200);
  });

  it('stands in no log line and in no problem, known or not', async () => {
    const lines: string[] = [];
    for (const method of ['log', 'warn', 'error', 'info', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((...values: unknown[]) => {
        lines.push(values.map(String).join(' '));
      });
    }
    const said: string[] = [];
    for (const trainer of TRAINERS) {
      for (const key of ['s3cret-score', 's3cret-verify', 's3cret-other']) {
        for (const query of [{}, { recipe: 'nobody' }]) {
          const reply = await sendTo(requestOf(trainer, query, {}, inUrl(key)));
          said.push(await reply.text(), JSON.stringify([...reply.headers]));
        }
      }
    }
    expect(lines.length).toBeGreaterThan(24);
    for (const text of [...lines, ...said]) {
      expect(text).not.toContain('s3cret');
      expect(text).not.toContain(btoa('k:s3cret-score'));
    }
    expect(lines.some((line) => line.includes('"key":"score"'))).toBe(true);
  });
});
