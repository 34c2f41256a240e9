/**
 * Webhooks over real HTTP: a sender and a receiver built on the `standardwebhooks` package, on both sides of a Worker
 * process; and receivers with faulty sockets.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import {
  acceptedJobSchema,
  deliveryDetailSchema,
  endpointSchema,
  endpointTestSchema,
  endpointWithSecretSchema,
  jobSchema,
  scoreCompletedEventSchema,
} from '../../src/wire/webhooks-reply.ts';

const ROLLOUT = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response:
    '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet> It is a popular place to swim in summer.</answer>',
  positive_rubrics: ['States that the Aare is 288 km long'],
  recipe: 'refiner-gpt54-instance-rubric',
};

type Got = { readonly path: string; readonly id: string; readonly event: unknown };

const secrets = new Map<string, string>();
const got: Got[] = [];
const answered = new Map<string, number>();

/** The first step of the path says how it behaves. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  const path = request.url ?? '/';
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const event = new Webhook(secrets.get(path) ?? '').verify(body, headers);
  got.push({ path, id: headers['webhook-id'] ?? '', event });
  const times = (answered.get(path) ?? 0) + 1;
  answered.set(path, times);
  switch (path.split('/')[1]) {
    case 'redirects':
      response.writeHead(307, { location: '/good/followed' }).end();
      return;
    case 'hangs':
      return;
    case 'hangs-in-reply':
      response.writeHead(200).write('x');
      return;
    case 'streams':
      response.writeHead(200);
      while (!response.destroyed) {
        response.write(Buffer.alloc(16 * 1024));
        await pause(1);
      }
      return;
    case 'recovers':
      response.writeHead(times === 1 ? 500 : 200).end();
      return;
    case 'gone':
      response.writeHead(410).end();
      return;
    default:
      response.writeHead(200).end('ok');
  }
}

let server: Server;
let worker: LocalWorker;
let receiver: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    // What cannot be verified is refused, as a receiver should.
    receive(request, response).catch(() => response.writeHead(401).end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  receiver = `http://127.0.0.1:${address.port}`;
  const variables = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', WEBHOOK_ALLOW_LOOPBACK: 'true' };
  worker = await startLocalWorker({ variables, deadline_ms: 60_000 });
});

afterAll(async () => {
  await worker?.stop();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

async function api(method: string, path: string, body?: unknown): Promise<unknown> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const reply = await fetch(`${worker.url}${path}`, { method, ...init });
  const text = await reply.text();
  expect(reply.ok, text).toBe(true);
  return JSON.parse(text);
}

async function register(path: string): Promise<{ readonly id: string; readonly secret: string }> {
  const endpoint = endpointWithSecretSchema.parse(await api('POST', '/v1/webhooks', { url: receiver + path }));
  secrets.set(path, endpoint.secret);
  return endpoint;
}

function ask({ id, secret }: { id: string; secret: string }, webhookId: string, body = JSON.stringify(ROLLOUT)) {
  const now = new Date();
  return fetch(`${worker.url}/v1/webhooks/${id}/score`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(webhookId, now, body),
    },
    body,
  });
}

async function until<T>(what: () => T | undefined | Promise<T | undefined>, deadline_ms: number): Promise<T> {
  const end = performance.now() + deadline_ms;
  while (performance.now() < end) {
    const found = await what();
    if (found !== undefined) return found;
    await pause(100);
  }
  throw new Error('it did not happen in time');
}

const at = (path: string): Got[] => got.filter((one) => one.path === path);

describe('a rollout that is sent signed', () => {
  it('comes back scored, signed, once: also where it is sent 20 times at once', async () => {
    const path = '/good/scored';
    const endpoint = await register(path);
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(endpoint, 'rollout-1')));
    const jobs = await Promise.all(
      replies.map(async (reply) => {
        expect([200, 202]).toContain(reply.status);
        return acceptedJobSchema.parse(await reply.json()).job;
      }),
    );
    expect(new Set(jobs).size).toBe(1);
    const { event } = await until(() => at(path)[0], 20_000);
    const { data } = scoreCompletedEventSchema.parse(event);
    expect(data).toMatchObject({ job: jobs[0], webhook_id: 'rollout-1' });
    const direct = await api('POST', '/v1/score', ROLLOUT);
    expect(direct).toMatchObject({ reward: data.score.reward });
    expect(jobSchema.parse(await api('GET', `/v1/webhooks/${endpoint.id}/jobs/${jobs[0]}`))).toMatchObject({
      status: 'completed',
      event,
    });
    expect((await ask(endpoint, 'rollout-1')).status).toBe(200);
    expect((await ask(endpoint, 'rollout-1', JSON.stringify({ ...ROLLOUT, replicate: 1 }))).status).toBe(409);
    await pause(1_000);
    expect(at(path)).toHaveLength(1);
  });

  it('is refused where the signature is not right', async () => {
    const endpoint = await register('/good/refused');
    const stranger = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const reply = await ask({ id: endpoint.id, secret: stranger }, 'x');
    expect(reply.status).toBe(401);
    expect(await reply.json()).toMatchObject({ reason: 'signature_wrong' });
    const large = await ask(endpoint, 'y', JSON.stringify({ ...ROLLOUT, question: 'x'.repeat(5 * 1024 * 1024) }));
    expect([large.status, await large.json()]).toMatchObject([413, { reason: 'body_too_large' }]);
    expect(at('/good/refused')).toEqual([]);
  });
});

describe('a receiver', () => {
  it.concurrent.each([
    ['redirects', { status: 307, reason: 'redirect' }],
    ['hangs', { status: null, reason: 'timeout' }],
    ['hangs-in-reply', { status: 200, reason: 'timeout' }],
    ['streams', { status: 200, reason: 'too_long' }],
    ['gone', { status: 410, reason: 'gone' }],
    ['good', { status: 200, reason: null }],
  ])('that %s is reported by the test', async (behaviour, said) => {
    const endpoint = await register(`/${behaviour}/test`);
    const started = performance.now();
    const result = endpointTestSchema.parse(await api('POST', `/v1/webhooks/${endpoint.id}/test`));
    expect(result).toMatchObject({ ...said, delivered: said.reason === null });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(at(`/${behaviour}/test`)).toHaveLength(1);
    expect(at('/good/followed')).toEqual([]);
  });

  it('that answers 500 gets it again a few seconds later, under the same id', async () => {
    const path = '/recovers/later';
    const endpoint = await register(path);
    expect((await ask(endpoint, 'r')).status).toBe(202);
    const [first, second] = await until(() => (at(path).length > 1 ? at(path) : undefined), 20_000);
    expect(second?.id).toBe(first?.id);
    expect(second?.event).toEqual(first?.event);
    const delivery = await until(async () => {
      const reply = await api('GET', `/v1/webhooks/${endpoint.id}/deliveries/${first?.id}`);
      const read = deliveryDetailSchema.parse(reply);
      return read.state === 'delivered' ? read : undefined;
    }, 20_000);
    expect(delivery.attempt_log.map(({ status }) => status)).toEqual([500, 200]);
  });

  it('that answers 410 is left alone', async () => {
    const path = '/gone/scored';
    const endpoint = await register(path);
    expect((await ask(endpoint, 'g1')).status).toBe(202);
    await until(async () => {
      const { disabled_reason } = endpointSchema.parse(await api('GET', `/v1/webhooks/${endpoint.id}`));
      return disabled_reason === 'gone' ? true : undefined;
    }, 20_000);
    expect((await ask(endpoint, 'g2')).status).toBe(403);
    expect(at(path)).toHaveLength(1);
  });
});

it('a receiver at loopback is refused where the setting does not say so', async () => {
  const closed = await startLocalWorker({ variables: { ALLOW_ANONYMOUS: 'true' }, deadline_ms: 60_000 });
  try {
    const reply = await fetch(`${closed.url}/v1/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${receiver}/good/closed` }),
    });
    expect([reply.status, await reply.json()]).toMatchObject([422, { errors: [{ path: 'url' }] }]);
  } finally {
    await closed.stop();
  }
});
