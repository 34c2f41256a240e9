/**
 * `/v1/webhooks`: registers endpoints, rotates their secrets, and lists jobs and deliveries. Its last route accepts
 * scoring requests that carry a signature instead of an API key.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import { Hono } from 'hono';
import { invalidInput, RequestError, type RequestFailure } from '../../../service/failures.ts';
import { newId } from '../../../service/ids.ts';
import { currentTraceparent } from '../../../service/trace-context.ts';
import { MAX_WEBHOOK_BODY_BYTES, MAX_WEBHOOK_ENDPOINTS, MAX_WEBHOOK_SECRETS } from '../../../src/limits.ts';
import { createRecentlyUsed } from '../../../src/recently-used.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { readEndpointUrl } from '../../../src/wire/webhook-url.ts';
import {
  deliveriesQuerySchema,
  type Endpoint,
  endpointChangeSchema,
  endpointRegistrationSchema,
  secretRotationSchema,
} from '../../../src/wire/webhooks.ts';
import {
  type Asked,
  askEndpoint,
  askObject,
  type EndpointObject,
  endpointObject,
  projectOfEndpoint,
  WebhookEndpoints,
} from '../../webhooks/endpoint-client.ts';
import {
  type Answer,
  type DeliveryDescription,
  type EndpointRefusal,
  WEBHOOK_MESSAGE_VERSION,
} from '../../webhooks/endpoint-messages.ts';
import { type PresentedSignature, readSignature, verifySignature } from '../../webhooks/signature.ts';
import { requireScope } from '../auth.ts';
import { parseBody, readJson, readQuery, receiveBytes } from '../body.ts';
import { callerConnection } from '../caller-address.ts';
import { type AppEnvironment, type Context, projectOf } from '../context.ts';
import { checkRate } from '../rate-limit.ts';

const v = WEBHOOK_MESSAGE_VERSION;
const ENDPOINT = '/v1/webhooks/:endpoint';
/**
 * What needs the scope `score`, for problems. Signed requests carry no key, so a key without this scope must not obtain
 * a secret.
 */
const SECRET = 'A secret that signs scoring requests';

export const webhookRoutes = new Hono<AppEnvironment>()
  .post('/v1/webhooks', requireScope('admin'), requireScope('score', SECRET), async (c) => {
    readQuery(c, emptyQuerySchema);
    const { url, description, enabled } = await readJson(c, endpointRegistrationSchema);
    const id = newId('whe_');
    const project = projectOf(c);
    const registration = { v, id, project, url: receiverUrl(c, url), description: description ?? null, enabled };
    // Create the object before the list entry: an endpoint that is not listed is never contacted.
    const object = endpointObject(c.env, { project, id });
    const endpoint = granted(await askObject(object, async () => await object.register(registration)));
    if (await new WebhookEndpoints(c.env.DB, project).add(id, Date.parse(endpoint.created_at)))
      return c.json(endpoint, 201);
    granted(await askObject(object, async () => await object.remove({ v })));
    throw new RequestError({ reason: 'webhook_limit_reached', of: 'endpoints', limit: MAX_WEBHOOK_ENDPOINTS });
  })
  .get('/v1/webhooks', requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const project = projectOf(c);
    const ids = await new WebhookEndpoints(c.env.DB, project).list();
    const found = await Promise.all(
      ids.map(async (id) => {
        const object = endpointObject(c.env, { project, id });
        return askObject(object, async () => await object.describe({ v }));
      }),
    );
    // An endpoint that is being deleted right now is omitted.
    const endpoints = found.flatMap((one): Endpoint[] =>
      !one.ok && one.refusal === 'endpoint_unknown' ? [] : [granted(one)],
    );
    return c.json({ endpoints });
  })
  .get(ENDPOINT, requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(await ask(c, async (object) => await object.describe({ v })));
  })
  .patch(ENDPOINT, requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const { url, ...others } = await readJson(c, endpointChangeSchema);
    const change = { ...others, ...(url === undefined ? {} : { url: receiverUrl(c, url) }) };
    return c.json(await ask(c, async (object) => await object.change({ v, change })));
  })
  .delete(ENDPOINT, requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    // Remove the object before the list entry: if removing the entry fails, the deletion can be repeated.
    await ask(c, async (object) => await object.remove({ v }));
    const id = c.req.param('endpoint');
    await new WebhookEndpoints(c.env.DB, projectOf(c)).remove(id);
    return c.json({ id, deleted: true });
  })
  .post(`${ENDPOINT}/secrets:rotate`, requireScope('admin'), requireScope('score', SECRET), async (c) => {
    readQuery(c, emptyQuerySchema);
    const { grace_s } = await readJson(c, secretRotationSchema);
    return c.json(await ask(c, async (object) => await object.rotate({ v, grace_s })));
  })
  .post(`${ENDPOINT}/test`, requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(await ask(c, async (object) => await object.sendTest({ v })));
  })
  .get(`${ENDPOINT}/jobs/:job`, requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const job = c.req.param('job');
    const found = await ask(c, async (object) => await object.job({ v, job }));
    return c.json({ ...found, event: found.event === null ? null : JSON.parse(found.event) });
  })
  .get(`${ENDPOINT}/deliveries`, requireScope('admin'), async (c) => {
    const { state = null, limit, after = null } = readQuery(c, deliveriesQuerySchema);
    return c.json(await ask(c, async (object) => await object.deliveries({ v, state, limit, after })));
  })
  .get(`${ENDPOINT}/deliveries/:message`, requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const message = c.req.param('message');
    return c.json(detailOf(await ask(c, async (object) => await object.delivery({ v, message }))));
  })
  .post(`${ENDPOINT}/deliveries/:message/resend`, requireScope('admin'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const message = c.req.param('message');
    return c.json(detailOf(await ask(c, async (object) => await object.resend({ v, message }))));
  });

/** @throws RequestError if the URL is not allowed as a receiver. */
function receiverUrl(c: Context, text: string): string {
  const read = readEndpointUrl(text, c.get('settings').allowWebhookLoopback);
  if (read.ok) return read.url;
  throw invalidInput(['url'], read.problem);
}

function detailOf({ event, ...delivery }: DeliveryDescription): Readonly<Record<string, unknown>> {
  return { ...delivery, event: event === '' ? null : JSON.parse(event) };
}

/** Calls the object of the endpoint in the path. @throws RequestError if it refuses. */
async function ask<T>(c: Context, question: (object: EndpointObject) => Promise<Answer<T>>): Promise<T> {
  const place = { project: projectOf(c), id: c.req.param('endpoint') ?? '' };
  return granted(await askEndpoint(c.env, place, question));
}

/** Unwraps the answer of an object. @throws RequestError if it refused. */
function granted<T>(asked: Asked<T>): T {
  if (asked.ok) return asked.value;
  throw new RequestError(failureOf(asked.refusal));
}

function failureOf(refusal: EndpointRefusal | 'unavailable'): RequestFailure {
  switch (refusal) {
    case 'endpoint_unknown':
      return { reason: 'webhook_not_found' };
    case 'endpoint_disabled':
      return { reason: 'webhook_disabled' };
    case 'job_unknown':
      return { reason: 'webhook_job_not_found' };
    case 'delivery_unknown':
      return { reason: 'webhook_delivery_not_found' };
    case 'id_reused':
      return { reason: 'webhook_id_reused' };
    case 'secrets_full':
      return { reason: 'webhook_limit_reached', of: 'secrets', limit: MAX_WEBHOOK_SECRETS };
    case 'secret_unreadable':
      return { reason: 'config_invalid', setting: 'WEBHOOK_SECRETS_KEY' };
    case 'full':
    case 'version_skew':
    case 'unavailable':
      return { reason: 'webhook_busy' };
  }
}

export const webhookScoreRoutes = new Hono<AppEnvironment>().post('/v1/webhooks/:endpoint/score', async (c) => {
  const read = readSignature(c.req.raw.headers, Math.floor(Date.now() / 1000));
  if (!read.ok) throw new RequestError({ reason: read.problem });
  const endpoint = c.req.param('endpoint');
  const { project, secrets } = await signerOf(c, endpoint);
  const body = await signedBody(c, read.presented, secrets);
  const caller = {
    name: endpoint,
    id: endpoint,
    project,
    scopes: new Set<never>(),
    tier: 'standard',
    expires_at: null,
    isOperator: false,
  } as const;
  c.set('principal', caller);
  await checkRate(c.env, caller);

  readQuery(c, emptyQuerySchema);
  // An invalid request is refused at once and does not consume its webhook-id.
  parseBody(body, scoreRequestSchema);
  const digest = await sha256(body);
  const request = { v, webhook_id: read.presented.id, digest, body, trace: currentTraceparent() };
  const object = endpointObject(c.env, { project, id: endpoint });
  const job = granted(await askObject(object, async () => await object.receive(request)));
  return c.json(job, job.status === 'pending' ? 202 : 200);
});

/**
 * The project of an endpoint, and the secrets that may sign requests for it. @throws RequestError if it does not exist,
 * or the address of the caller has named too many that do not.
 */
async function signerOf(c: Context, endpoint: string): Promise<{ project: string; secrets: readonly Uint8Array[] }> {
  const project = await registrantOf(c, endpoint);
  const object = endpointObject(c.env, { project, id: endpoint });
  const { registered, secrets } = granted(await askObject(object, async () => await object.secrets({ v })));
  if (!registered) throw new RequestError({ reason: 'webhook_not_found' });
  return { project, secrets };
}

/** The projects of endpoints that the isolate has looked up. They never change; the object knows whether it is deleted. */
const projects = createRecentlyUsed<string>({ entries: 1_024, size: 1_024 });

async function registrantOf(c: Context, endpoint: string): Promise<string> {
  const seen = projects.get(endpoint);
  if (seen !== undefined) return seen;
  const looked = await c.get('lookups').find(callerConnection(c), () => projectOfEndpoint(c.env.DB, endpoint));
  switch (looked.status) {
    case 'missing':
      throw new RequestError({ reason: 'webhook_not_found' });
    case 'refused':
      throw new RequestError({ reason: 'key_attempts_exceeded', retry_after_s: looked.retry_after_s });
    case 'found':
      projects.add(endpoint, looked.value, 1);
      return looked.value;
  }
}

/**
 * Reads a body whose sender is unknown until its signature is checked. Until then it counts among bodies of this kind
 * alone, so that they keep no caller with a key out. @throws RequestError unless one of the secrets signed it.
 */
async function signedBody(
  c: Context,
  presented: PresentedSignature,
  secrets: readonly Uint8Array[],
): Promise<Uint8Array> {
  const start = performance.now();
  const unsigned = c.get('unsigned').begin(c.req.raw.signal);
  try {
    const body = await receiveBytes(c, MAX_WEBHOOK_BODY_BYTES, unsigned);
    c.get('phases').body = performance.now() - start;
    if (!(await verifySignature(presented, body, secrets))) throw new RequestError({ reason: 'signature_wrong' });
    if (!c.get('bodyLease').grow(body.byteLength)) throw new RequestError({ reason: 'overloaded' });
    return body;
  } finally {
    unsigned.end();
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return bytesToHex(new Uint8Array(digest));
}
