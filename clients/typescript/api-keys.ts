/** API keys that the Worker stores, and the audit. Every call needs a key with the scope `admin`. */

import type * as z from 'zod';
import {
  auditSchema,
  createdKeySchema,
  keyListSchema,
  type newKeySchema,
  revokedKeySchema,
} from '../../src/wire/stored-keys.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** A new key. `expires_in_s` is in seconds; without it the key never expires. */
export type NewKeyInput = z.input<typeof newKeySchema>;
/** A key with its text, which only this reply has. */
export type CreatedKey = z.infer<typeof createdKeySchema>;
/** A page of keys. */
export type KeyPage = z.infer<typeof keyListSchema>;
/** A page of uses of admin routes. */
export type AuditPage = z.infer<typeof auditSchema>;

type KeyQuery = { readonly project?: string; readonly limit?: number; readonly after?: string };
type AuditQuery = { readonly project?: string; readonly limit?: number; readonly before?: number };

/** Makes, lists and revokes API keys, and lists the uses of admin routes. */
export type ApiKeysClient = {
  /** Makes a key. Not repeated after a lost reply, because a second key would be made. */
  add(key: NewKeyInput): Promise<Reply<CreatedKey>>;
  /** Lists keys, newest first. @param query `after`: `next` of the previous page; `limit`: at most 100. */
  list(query?: KeyQuery): Promise<Reply<KeyPage>>;
  /** Revokes a key. Idempotent. */
  revoke(id: string): Promise<Reply<{ id: string; revoked: true }>>;
  /** Lists the uses of admin routes, newest first. @param query `before`: `next` of the previous page. */
  audit(query?: AuditQuery): Promise<Reply<AuditPage>>;
};

export function createApiKeys(connection: Connection): ApiKeysClient {
  return {
    add: (key) =>
      connection.post(routePath('POST /v1/api-keys', {}), { json: key }, createdKeySchema, { repeats_lost: false }),
    list: (query = {}) => connection.get(routePath('GET /v1/api-keys', {}, query), keyListSchema),
    revoke: (id) => connection.remove(routePath('DELETE /v1/api-keys/{key}', { key: id }), revokedKeySchema),
    audit: (query = {}) => connection.get(routePath('GET /v1/audit', {}, query), auditSchema),
  };
}
