/** The secrets of webhook endpoints at rest: encrypted with the key of the settings, and readable after its rotation. */
import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { problemOf, send } from './api.ts';
import {
  call,
  endWebhooks,
  json,
  type Registered,
  receiver,
  register,
  signedScore,
  startWebhooks,
  verified,
} from './webhook-parts.ts';
import { replaceParts } from './worker.ts';

const FIRST = btoa('a'.repeat(32));
const SECOND = btoa('b'.repeat(32));

let setting: string | undefined;
replaceParts({
  environmentOf: (environment) =>
    setting === undefined ? environment : { ...environment, WEBHOOK_SECRETS_KEY: setting },
});

beforeEach(() => {
  setting = undefined;
  startWebhooks();
});
afterEach(endWebhooks);

/** Restarts the objects with a setting, as a deployment does. */
async function deploy(next: string | undefined): Promise<void> {
  setting = next;
  await abortAllDurableObjects();
}

/** What the object of an endpoint stores, as text of one byte per character. */
async function stored({ id }: Registered): Promise<readonly string[]> {
  return runInDurableObject(env.DELIVERIES.getByName(`default/${id}`), (_, { storage }) =>
    storage.sql
      .exec<{ secret: ArrayBuffer }>('SELECT secret FROM secrets_v1')
      .toArray()
      .map(({ secret }) => String.fromCharCode(...new Uint8Array(secret))),
  );
}

const plain = ({ secret }: Registered): string => atob(secret.slice('whsec_'.length));

/** Sends a test event and a signed request: both need the secret. */
async function expectUsable(endpoint: Registered): Promise<void> {
  expect(await json('POST', `/v1/webhooks/${endpoint.id}/test`)).toMatchObject({ delivered: true });
  const last = receiver.received.at(-1);
  if (last === undefined) throw new Error('nothing came');
  expect(verified(last, endpoint.secret)).toMatchObject({ type: 'webhook.test' });
  expect((await send(signedScore(endpoint))).status).toBe(202);
}

it('are plain without a key, encrypted under one, and never stored in both forms', async () => {
  const before = await register();
  expect(await stored(before)).toEqual([plain(before)]);
  await deploy(FIRST);
  const after = await register();
  const [text = ''] = await stored(after);
  expect(text).not.toContain(plain(after));
  await expectUsable(after);
  // A secret from before the key is read, and encrypted by its first use.
  await expectUsable(before);
  expect((await stored(before)).join()).not.toContain(plain(before));
});

it('are encrypted anew when their endpoint is listed under another key, and lost to nobody meanwhile', async () => {
  await deploy(FIRST);
  const endpoint = await register();
  const old = await stored(endpoint);
  await deploy(`${SECOND}, ${FIRST}`);
  await json('GET', '/v1/webhooks');
  expect(await stored(endpoint)).not.toEqual(old);
  await deploy(SECOND);
  await expectUsable(endpoint);
  const rotated = await json('POST', `/v1/webhooks/${endpoint.id}/secrets:rotate`, { grace_s: 0 });
  expect(await stored(endpoint)).toHaveLength(1);
  await expectUsable({ id: endpoint.id, secret: String(Reflect.get(Object(rotated), 'secret')) });
});

it('without their key are a fault of the settings, not a wrong signature', async () => {
  await deploy(FIRST);
  const endpoint = await register();
  for (const wrong of [SECOND, undefined]) {
    await deploy(wrong);
    await problemOf(await send(signedScore(endpoint)), 500, 'config_invalid');
    expect(await json('POST', `/v1/webhooks/${endpoint.id}/test`)).toMatchObject({
      delivered: false,
      reason: 'secret_unreadable',
    });
  }
  expect(receiver.received).toEqual([]);
  await deploy(FIRST);
  await expectUsable(endpoint);
});

it('of one endpoint are of no use in the row of another', async () => {
  await deploy(FIRST);
  const [endpoint, other] = [await register(), await register()];
  const row = await runInDurableObject(env.DELIVERIES.getByName(`default/${endpoint.id}`), (_, { storage }) =>
    storage.sql.exec<{ secret: ArrayBuffer }>('SELECT secret FROM secrets_v1').one(),
  );
  await runInDurableObject(env.DELIVERIES.getByName(`default/${other.id}`), (_, { storage }) =>
    storage.sql.exec('UPDATE secrets_v1 SET secret = ?', row.secret),
  );
  await problemOf(await send(signedScore({ id: other.id, secret: endpoint.secret })), 500, 'config_invalid');
});

it.each(['short', btoa('x'.repeat(16)), `${FIRST},`, `${FIRST};${SECOND}`])(
  'a malformed key %s refuses all',
  async (text) => {
    setting = text;
    await problemOf(await call('GET', '/v1/webhooks'), 500, 'config_invalid');
  },
);
