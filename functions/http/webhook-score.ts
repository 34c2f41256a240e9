/**
 * `POST /v1/webhooks/{endpoint}/score`: a request that its signature alone admits (no API key; auth.ts lets it pass). What
 * costs nothing is checked first, and nothing is looked into before the signature was right. An endpoint that does not
 * exist is checked like a wrong signature, against secrets that nobody has.
 */
import { Hono } from 'hono';
import { MAX_WEBHOOK_BODY_BYTES } from '../../src/limits.ts';
import { emptyQuerySchema } from '../../src/wire/query.ts';
import { scoreRequestSchema } from '../../src/wire/score.ts';
import { RequestError } from '../failures.ts';
import { askObject } from '../webhooks/endpoint-client.ts';
import { WebhookEndpoints } from '../webhooks/endpoint-list.ts';
import { WEBHOOK_MESSAGE_VERSION } from '../webhooks/endpoint-messages.ts';
import { type PresentedSignature, readSignature, verifySignature } from '../webhooks/signature.ts';
import { parseBody, readBytes, readQuery } from './body.ts';
import type { AppEnvironment, Context } from './context.ts';
import { granted } from './webhooks.ts';

const v = WEBHOOK_MESSAGE_VERSION;

/** The object that stands for all endpoints that do not exist: no id has this form. */
const NO_ENDPOINT = 'no-endpoint';

export const webhookScoreRoutes = new Hono<AppEnvironment>().post('/v1/webhooks/:endpoint/score', async (c) => {
  const read = readSignature(c.req.raw.headers, Math.floor(Date.now() / 1000));
  if (!read.ok) throw new RequestError({ reason: read.problem });
  const start = performance.now();
  const body = await readBytes(c.req.raw, MAX_WEBHOOK_BODY_BYTES);
  c.get('phases').body = performance.now() - start;
  const endpoint = c.req.param('endpoint');
  await verify(c, endpoint, read.presented, body);
  c.set('principal', { name: endpoint, scopes: new Set() });

  readQuery(c, emptyQuerySchema);
  // What is wrong with the request itself is said at once, and claims nothing.
  parseBody(body, scoreRequestSchema);
  const request = { v, webhook_id: read.presented.id, digest: await sha256(body), body };
  const object = c.env.DELIVERIES.getByName(endpoint);
  const job = granted(await askObject(object, async () => await object.receive(request)));
  return c.json(job, job.status === 'pending' ? 202 : 200);
});

/** @throws RequestError unless one of the endpoint's secrets signed this. */
async function verify(c: Context, endpoint: string, presented: PresentedSignature, body: Uint8Array): Promise<void> {
  const listed = await new WebhookEndpoints(c.env.DB).has(endpoint);
  const object = c.env.DELIVERIES.getByName(listed ? endpoint : NO_ENDPOINT);
  const { registered, secrets } = granted(await askObject(object, async () => await object.secrets({ v })));
  const right = await verifySignature(presented, body, secrets);
  if (!listed || !registered) throw new RequestError({ reason: 'webhook_not_found' });
  if (!right) throw new RequestError({ reason: 'signature_wrong' });
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
