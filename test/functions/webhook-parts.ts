/**
 * Both ends of webhooks for tests: a sender that signs with the `standardwebhooks` package, and a receiver with
 * scripted behaviour in place of the network. The clock is fixed one hour ahead, so alarms run only when a test runs
 * them.
 */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { Webhook } from 'standardwebhooks';
import { expect, vi } from 'vitest';
import { endpointWithSecretSchema } from '../../src/wire/webhooks-reply.ts';
import { ORIGIN, post, ROLLOUT, send } from './api.ts';

export const RECEIVER = 'https://hooks.example.com/citeward';

export type Received = {
  readonly at: number;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly init: RequestInit;
};
type Behaviour = (signal: AbortSignal) => Response | Promise<Response>;

export const receiver: { received: Received[]; answers: Behaviour[]; always: Behaviour } = {
  received: [],
  answers: [],
  always: () => new Response(null, { status: 204 }),
};

const HOUR_MS = 60 * 60 * 1000;

/** For beforeEach: a receiver that accepts everything, and a fixed clock. */
export function startWebhooks(): void {
  Object.assign(receiver, { received: [], answers: [], always: () => new Response(null, { status: 204 }) });
  vi.useFakeTimers({ toFake: ['Date'], now: realNow() + HOUR_MS });
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init = {}) => {
    const request = new Request(input, { ...init, signal: null });
    const { signal } = init;
    if (!(signal instanceof AbortSignal)) throw new Error('a request without a deadline');
    receiver.received.push({
      at: Date.now(),
      url: request.url,
      headers: request.headers,
      body: await request.text(),
      init,
    });
    return (receiver.answers.shift() ?? receiver.always)(signal);
  });
}

/** For afterEach. */
export function endWebhooks(): void {
  vi.useRealTimers();
  vi.restoreAllMocks();
}

function realNow(): number {
  return performance.timeOrigin + performance.now();
}

export function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Runs the endpoint's alarm, if one is set. @returns whether one was. */
export function work(endpoint: string): Promise<boolean> {
  return runDurableObjectAlarm(env.DELIVERIES.getByName(`default/${endpoint}`));
}

export type Registered = { readonly id: string; readonly secret: string };

export async function register(fields: Readonly<Record<string, unknown>> = {}): Promise<Registered> {
  const reply = await send(post('/v1/webhooks', { url: RECEIVER, ...fields }));
  const text = await reply.text();
  expect(reply.status, text).toBe(201);
  return endpointWithSecretSchema.parse(JSON.parse(text));
}

export function call(method: string, path: string, body?: unknown): Promise<Response> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return send(new Request(ORIGIN + path, { method, ...init }));
}

export async function json(method: string, path: string, body?: unknown): Promise<unknown> {
  const reply = await call(method, path, body);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return JSON.parse(text);
}

let ids = 0;

export type Signed = { id?: string; body?: string; timestamp_s?: number; headers?: Readonly<Record<string, string>> };

/** A signed scoring request. */
export function signedScore({ id: endpoint, secret }: Registered, signed: Signed = {}): Request {
  const { id = `in_${ids++}`, body = JSON.stringify(ROLLOUT), timestamp_s = Math.floor(Date.now() / 1000) } = signed;
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp_s),
    'webhook-signature': new Webhook(secret).sign(id, new Date(timestamp_s * 1000), body),
    ...signed.headers,
  };
  return new Request(`${ORIGIN}/v1/webhooks/${endpoint}/score`, { method: 'POST', headers, body });
}

/** A message that the receiver got, after checking its signature, with the time of its arrival. */
export function verified({ at, headers, body }: Received, secret: string): unknown {
  const now = Date.now();
  if (vi.isFakeTimers()) vi.setSystemTime(at);
  try {
    return new Webhook(secret).verify(body, Object.fromEntries(headers));
  } finally {
    if (vi.isFakeTimers()) vi.setSystemTime(now);
  }
}
