/** Webhook endpoints of a project. */

import type * as z from 'zod';
import { deletedEndpointSchema, endpointsSchema } from '../../src/wire/webhooks-reply.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** Lists and deletes webhook endpoints. Needs the scope `admin`. */
export type WebhooksClient = {
  /** Lists all endpoints, the oldest first. */
  list(): Promise<Reply<z.infer<typeof endpointsSchema>>>;
  /** Deletes an endpoint with its jobs, deliveries and secrets. */
  delete(id: string): Promise<Reply<z.infer<typeof deletedEndpointSchema>>>;
};

export function createWebhooks(connection: Connection): WebhooksClient {
  return {
    list: () => connection.get(routePath('GET /v1/webhooks', {}), endpointsSchema),
    delete: (id) =>
      connection.remove(routePath('DELETE /v1/webhooks/{endpoint}', { endpoint: id }), deletedEndpointSchema),
  };
}
