/**
 * Sends an event to a receiver of webhooks, signed like those of the Worker and under the same rules for its address:
 * Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks), HMAC-SHA256 over `id.timestamp.body`.
 */
import { createHmac, randomUUID } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { readEndpointUrl } from '../../src/wire/webhook-url.ts';
import { UsageError } from './exit.ts';
import { messageOf } from './input.ts';
import { isPublicAddress } from './public-address.ts';
import type { Shell } from './shell.ts';

const SECRET = /^whsec_([A-Za-z0-9+/]{24,}={0,2})$/;

/** The variable that holds the secret, because other users of a machine can read command lines. */
const SECRET_VARIABLE = 'CITEWARD_WEBHOOK_SECRET';

/** Allows `http://127.0.0.1`, as the setting of the Worker does. */
const LOOPBACK_VARIABLE = 'WEBHOOK_ALLOW_LOOPBACK';

export type Receiver = {
  readonly url: URL;
  /** The receiver is on this machine, so its address need not be public. */
  readonly isLoopback: boolean;
  readonly secret: Buffer;
};

/** Returns all addresses of a name. @throws Error if it has none. */
export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>;

/** Reads `--webhook URL` and its secret. @throws UsageError */
export function readReceiver(text: string, env: Shell['env']): Receiver {
  const read = readEndpointUrl(text, env[LOOPBACK_VARIABLE] === 'true');
  if (!read.ok) {
    throw new UsageError(
      `--webhook: ${read.error}, got "${text}"`,
      `For a receiver at http://127.0.0.1: export ${LOOPBACK_VARIABLE}=true`,
    );
  }
  const secret = SECRET.exec(env[SECRET_VARIABLE] ?? '')?.[1];
  if (secret === undefined) {
    throw new UsageError(
      `--webhook needs the secret that signs it, as ${SECRET_VARIABLE}: whsec_ and base64`,
      `To make one: export ${SECRET_VARIABLE}=whsec_$(openssl rand -base64 32)`,
    );
  }
  const { url, isLoopback } = read.value;
  return { url: new URL(url), isLoopback, secret: Buffer.from(secret, 'base64') };
}

/** Waits before the second and the third attempt. */
const WAITS_MS = [1_000, 5_000] as const;
const TIMEOUT_MS = 15_000;

/**
 * Sends the event, with two further attempts; none to a name with an address that is not public.
 * @returns `null`, or why the receiver did not take it.
 */
export async function sendEvent(
  receiver: Receiver,
  event: object,
  resolveName: ResolveName = (name) => resolve(name, { all: true }),
): Promise<string | null> {
  const body = JSON.stringify(event);
  const id = `msg_${randomUUID()}`;
  for (let attempt = 0; ; attempt++) {
    const problem = await attemptOf(receiver, id, body, resolveName);
    const wait = WAITS_MS[attempt];
    if (problem === null || problem.isFinal || wait === undefined) return problem?.message ?? null;
    await pause(wait);
  }
}

type Problem = { readonly message: string; readonly isFinal: boolean };

async function attemptOf(
  { url, isLoopback, secret }: Receiver,
  id: string,
  body: string,
  resolveName: ResolveName,
): Promise<Problem | null> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  try {
    const { hostname } = url;
    const addresses = isLoopback ? [{ address: hostname, family: 4 }] : await resolveName(hostname);
    const hidden = isLoopback ? undefined : addresses.find(({ address }) => !isPublicAddress(address));
    if (hidden !== undefined) {
      return { message: `${hostname} has the address ${hidden.address}, which is not public`, isFinal: true };
    }
    const status = await post(url, body, { headers, addresses });
    return status >= 200 && status < 300 ? null : { message: `it answered ${status}`, isFinal: false };
  } catch (error) {
    return { message: messageOf(error), isFinal: false };
  }
}

type Post = { readonly headers: Readonly<Record<string, string>>; readonly addresses: readonly LookupAddress[] };

/** Sends a POST to one of the addresses, which were checked, and follows no redirect. Resolves with the status. */
function post(url: URL, body: string, { headers, addresses }: Post): Promise<number> {
  const lookup: RequestOptions['lookup'] = (_name, { all }, found) => {
    const [first] = addresses;
    if (all === true) found(null, [...addresses]);
    else found(first === undefined ? new Error('the name has no address') : null, first?.address ?? '', first?.family);
  };
  const options = { method: 'POST', headers, lookup, signal: AbortSignal.timeout(TIMEOUT_MS), agent: false } as const;
  return new Promise((done, fail) => {
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    request.once('response', (response) => {
      response.destroy();
      done(response.statusCode ?? 0);
    });
    request.once('error', fail);
    request.end(body);
  });
}
