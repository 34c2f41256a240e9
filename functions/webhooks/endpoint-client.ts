/**
 * The client of webhook endpoints for the rest of the Worker: it looks the endpoint up in D1 and calls its object.
 * Failures of the call are refusals; an error that the object's own code throws is a bug and is rethrown.
 */

import { withinMs } from '../../service/within-ms.ts';
import { MAX_WEBHOOK_ENDPOINTS } from '../../src/limits.ts';
import type { Environment } from '../environment.ts';
import { rpcFailure } from '../rpc.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';
import { type Answer, type Refused, WEBHOOK_MESSAGE_VERSION } from './endpoint-messages.ts';

export type EndpointObject = ReturnType<Environment['DELIVERIES']['getByName']>;

export type Asked<T> = Answer<T> | Refused<'unavailable'>;

/** Timeout of a call, in milliseconds: longer than `sendTest`, which waits for the receiver. */
const ANSWER_MS = 25_000;

/** An endpoint and the project that registered it. */
export type EndpointPlace = { readonly project: string; readonly id: string };

/** The object of an endpoint. */
export function endpointObject({ DELIVERIES }: Pick<Environment, 'DELIVERIES'>, place: EndpointPlace): EndpointObject {
  return DELIVERIES.getByName(`${place.project}/${place.id}`);
}

/** Calls the object of a listed endpoint. */
export async function askEndpoint<T>(
  environment: Pick<Environment, 'DB' | 'DELIVERIES'>,
  place: EndpointPlace,
  ask: (object: EndpointObject) => Promise<Answer<T>>,
): Promise<Asked<T>> {
  if (!(await endpointExists(environment, place))) return { ok: false, refusal: 'endpoint_unknown' };
  return askObject(endpointObject(environment, place), ask);
}

/** Calls an object, listed or not. */
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

type WebhookEvent = {
  /** Words separated by full stops, as in `batch.completed`. */
  readonly type: string;
  /** A JSON value. It is stored and sent unchanged. */
  readonly data: unknown;
  /** Events with the same key are enqueued once, so that a caller may announce an event twice. */
  readonly key?: string;
};

/**
 * Enqueues an event for an endpoint. The endpoint's object signs and delivers it and retries for 24 hours.
 * Returns the id of the message or a refusal, of which `unavailable`, `full` and `version_skew` are retryable.
 */
export async function announce(
  environment: Pick<Environment, 'DB' | 'DELIVERIES'>,
  endpoint: EndpointPlace,
  { type, data, key }: WebhookEvent,
): Promise<Asked<{ readonly message: string }>> {
  const message = { v: WEBHOOK_MESSAGE_VERSION, type, data: JSON.stringify(data), key: key ?? null };
  return askEndpoint(environment, endpoint, async (object) => await object.announce(message));
}

/** Returns whether the project has the endpoint. */
export async function endpointExists(
  { DB }: Pick<Environment, 'DB'>,
  { project, id }: EndpointPlace,
): Promise<boolean> {
  return (await projectOfEndpoint(DB, id)) === project;
}

/** The project of an endpoint; `null` if the endpoint does not exist. @throws StorageError. */
export async function projectOfEndpoint(db: D1Database, id: string): Promise<string | null> {
  const project = await stored('d1', 'webhook_find', async () =>
    (await database(db)).prepare('SELECT project FROM webhook_endpoints WHERE id = ?').bind(id).first('project'),
  );
  return typeof project === 'string' ? project : null;
}

/**
 * The list of a project's webhook endpoints in D1. Their objects hold everything else. The Worker addresses an object only under a
 * listed id, so that guessed ids create no objects.
 */
export class WebhookEndpoints {
  readonly #db: D1Database;
  readonly #project: string;

  constructor(db: D1Database, project: string) {
    this.#db = db;
    this.#project = project;
  }

  /** Adds an endpoint. Returns false if the limit is reached. @param created_at milliseconds since 1970. */
  async add(id: string, created_at: number): Promise<boolean> {
    const { meta } = await stored('d1', 'webhook_add', async () =>
      (await database(this.#db))
        .prepare(
          `INSERT INTO webhook_endpoints (project, id, created_at)
           SELECT ?1, ?2, ?3 WHERE (SELECT COUNT(*) FROM webhook_endpoints WHERE project = ?1) < ?4`,
        )
        .bind(this.#project, id, created_at, MAX_WEBHOOK_ENDPOINTS)
        .run(),
    );
    return meta.changes === 1;
  }

  /** The ids of the project's endpoints, the oldest first. */
  async list(): Promise<string[]> {
    const { results } = await stored('d1', 'webhook_list', async () =>
      (await database(this.#db))
        .prepare('SELECT id FROM webhook_endpoints WHERE project = ? ORDER BY created_at, id LIMIT ?')
        .bind(this.#project, MAX_WEBHOOK_ENDPOINTS)
        .all<{ id: string }>(),
    );
    return results.map(({ id }) => id);
  }

  async remove(id: string): Promise<void> {
    await stored('d1', 'webhook_remove', async () =>
      (await database(this.#db))
        .prepare('DELETE FROM webhook_endpoints WHERE id = ? AND project = ?')
        .bind(id, this.#project)
        .run(),
    );
  }
}
