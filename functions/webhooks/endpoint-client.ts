/**
 * Endpoints as the rest of the Worker sees them: the list in D1 says whether there is one, its object does the rest. What
 * goes wrong on the way is a refusal; a rejection that comes from the object's own code is a bug and stays one.
 */
import type { Environment } from '../environment.ts';
import { rpcFailure, withinMs } from '../rpc.ts';
import { WebhookEndpoints } from './endpoint-list.ts';
import { type Answer, type EndpointRefusal, WEBHOOK_MESSAGE_VERSION } from './endpoint-messages.ts';

export type EndpointObject = ReturnType<Environment['DELIVERIES']['getByName']>;

export type Asked<T> =
  | Extract<Answer<T>, { ok: true }>
  | { readonly ok: false; readonly refusal: EndpointRefusal | 'unavailable' };

/** Longer than the one call that waits for a receiver. */
const ANSWER_MS = 25_000;

/** Asks the object of an endpoint that is on the list. */
export async function askEndpoint<T>(
  { DB, DELIVERIES }: Pick<Environment, 'DB' | 'DELIVERIES'>,
  id: string,
  ask: (object: EndpointObject) => Promise<Answer<T>>,
): Promise<Asked<T>> {
  if (!(await new WebhookEndpoints(DB).has(id))) return { ok: false, refusal: 'endpoint_unknown' };
  return askObject(DELIVERIES.getByName(id), ask);
}

/** Asks an object, listed or not. */
export async function askObject<T>(
  object: EndpointObject,
  ask: (object: EndpointObject) => Promise<Answer<T>>,
): Promise<Asked<T>> {
  try {
    const answer = await withinMs(ask(object), ANSWER_MS);
    return answer === 'late' ? { ok: false, refusal: 'unavailable' } : answer;
  } catch (error) {
    if (rpcFailure(error) === null) throw error;
    return { ok: false, refusal: 'unavailable' };
  }
}

export type WebhookEvent = {
  /** Words with full stops between them, as in `batch.completed`. */
  readonly type: string;
  /** JSON; it is stored, and sent as it is. */
  readonly data: unknown;
  /** An event of the same key is enqueued once, for those who may announce it twice. */
  readonly key?: string;
};

/**
 * Enqueues an event for an endpoint; its object delivers it, signed, and goes on trying for a day.
 * @returns the id of the message; or why not: `unavailable`, `full` and `version_skew` are worth another try.
 */
export async function announce(
  environment: Pick<Environment, 'DB' | 'DELIVERIES'>,
  endpoint: string,
  { type, data, key }: WebhookEvent,
): Promise<Asked<{ readonly message: string }>> {
  const message = { v: WEBHOOK_MESSAGE_VERSION, type, data: JSON.stringify(data), key: key ?? null };
  return askEndpoint(environment, endpoint, async (object) => await object.announce(message));
}

/** Whether there is such an endpoint, for requests that name one. */
export function endpointExists({ DB }: Pick<Environment, 'DB'>, endpoint: string): Promise<boolean> {
  return new WebhookEndpoints(DB).has(endpoint);
}
