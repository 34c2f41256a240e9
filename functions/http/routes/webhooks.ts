/**
 * `/v1/webhooks`: registers endpoints, rotates their secrets, and lists jobs and deliveries. Its last route accepts
 * scoring requests that carry a signature instead of an API key.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import { invalidInput, RequestError, type RequestFailure } from '../../../service/failures.ts';
import { newId } from '../../../service/ids.ts';
import { currentTraceparent } from '../../../service/trace-context.ts';
import { MAX_WEBHOOK_BODY_BYTES, MAX_WEBHOOK_ENDPOINTS, MAX_WEBHOOK_SECRETS } from '../../../src/limits.ts';
import { createRecentlyUsed } from '../../../src/recently-used.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { readEndpointUrl } from '../../../src/wire/webhook-url.ts';
import { endpointChangeSchema, endpointRegistrationSchema, secretRotationSchema } from '../../../src/wire/webhooks.ts';
import type { Endpoint } from '../../../src/wire/webhooks-reply.ts';
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
import { checkScope } from '../auth.ts';
import { parseBody, readJson, receiveBytes } from '../body.ts';
import { callerConnection } from '../caller-address.ts';
import { type Context, projectOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';
import { checkRate } from '../rate-limit.ts';

const v = WEBHOOK_MESSAGE_VERSION;
/**
 * Signed requests carry no key, so a key without this scope must not obtain
 * a secret.
 */
const SECRET_SCOPE = { scope: 'score', needed_by: 'A secret that signs scoring requests' } as const;

export const webhookHandlers = {
  'POST /v1/webhooks': async (c) => {
    checkScope(c, SECRET_SCOPE);
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
  },
  'GET /v1/webhooks': async (c) => {
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
  },
  'GET /v1/webhooks/{endpoint}': async (c) => {
    return c.json(await ask(c, async (object) => await object.describe({ v })));
  },
  'PATCH /v1/webhooks/{endpoint}': async (c) => {
    const { url, ...others } = await readJson(c, endpointChangeSchema);
    const change = { ...others, ...(url === undefined ? {} : { url: receiverUrl(c, url) }) };
    return c.json(await ask(c, async (object) => await object.change({ v, change })));
  },
  'DELETE /v1/webhooks/{endpoint}': async (c) => {
    // Remove the object before the list entry: if removing the entry fails, the deletion can be repeated.
    await ask(c, async (object) => await object.remove({ v }));
    const id = pathParameter(c, 'endpoint');
    await new WebhookEndpoints(c.env.DB, projectOf(c)).remove(id);
    return c.json({ id, deleted: true });
  },
  'POST /v1/webhooks/{endpoint}/secrets:rotate': async (c) => {
    checkScope(c, SECRET_SCOPE);
    const { grace_s } = await readJson(c, secretRotationSchema);
    return c.json(await ask(c, async (object) => await object.rotate({ v, grace_s })));
  },
  'POST /v1/webhooks/{endpoint}/score': receive,
  'POST /v1/webhooks/{endpoint}/test': async (c) => {
    return c.json(await ask(c, async (object) => await object.sendTest({ v })));
  },
  'GET /v1/webhooks/{endpoint}/jobs/{job}': async (c) => {
    const job = pathParameter(c, 'job');
    const found = await ask(c, async (object) => await object.job({ v, job }));
    return c.json({ ...found, event: found.event === null ? null : JSON.parse(found.event) });
  },
  'GET /v1/webhooks/{endpoint}/deliveries': async (c, { state = null, limit, after = null }) => {
    return c.json(await ask(c, async (object) => await object.deliveries({ v, state, limit, after })));
  },
  'GET /v1/webhooks/{endpoint}/deliveries/{message}': async (c) => {
    const message = pathParameter(c, 'message');
    return c.json(detailOf(await ask(c, async (object) => await object.delivery({ v, message }))));
  },
  'POST /v1/webhooks/{endpoint}/deliveries/{message}/resend': async (c) => {
    const message = pathParameter(c, 'message');
    return c.json(detailOf(await ask(c, async (object) => await object.resend({ v, message }))));
  },
} satisfies Partial<Handlers>;

/** @throws RequestError if the URL is not allowed as a receiver. */
function receiverUrl(c: Context, text: string): string {
  const read = readEndpointUrl(text, c.get('settings').allowWebhookLoopback);
  if (read.ok) return read.value.url;
  throw invalidInput(['url'], read.error);
}

function detailOf({ event, ...delivery }: DeliveryDescription): Readonly<Record<string, unknown>> {
  return { ...delivery, event: event === '' ? null : JSON.parse(event) };
}

/** Calls the object of the endpoint in the path. @throws RequestError if it refuses. */
async function ask<T>(c: Context, question: (object: EndpointObject) => Promise<Answer<T>>): Promise<T> {
  const place = { project: projectOf(c), id: pathParameter(c, 'endpoint') };
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

/** Takes a signed request, to score it later. */
async function receive(c: Context): Promise<Response> {
  const read = readSignature(c.req.raw.headers, Math.floor(Date.now() / 1000));
  if (!read.ok) throw new RequestError({ reason: read.error });
  const endpoint = pathParameter(c, 'endpoint');
  const { project, secrets } = await signerOf(c, endpoint);
  const body = await signedBody(c, read.value, secrets);
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

  // An invalid request is refused at once and does not consume its webhook-id.
  parseBody(body, scoreRequestSchema);
  const digest = await sha256(body);
  const request = { v, webhook_id: read.value.id, digest, body, trace: currentTraceparent() };
  const object = endpointObject(c.env, { project, id: endpoint });
  const job = granted(await askObject(object, async () => await object.receive(request)));
  return c.json(job, job.status === 'pending' ? 202 : 200);
}

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
    c.get('followCaller')();
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
