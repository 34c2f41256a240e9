/** API keys that the Worker stores, and the audit. Every call needs a key with the scope `admin`. */

import type * as z from 'zod';
import { pathSegment } from '../../src/text/path-segment.ts';
import {
  auditSchema,
  createdKeySchema,
  keyListSchema,
  type newKeySchema,
  revokedKeySchema,
} from '../../src/wire/stored-keys.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';

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
    add: (key) => connection.post('v1/api-keys', { json: key }, createdKeySchema, { repeats_lost: false }),
    list: (query = {}) => connection.get(`v1/api-keys${queryText(query)}`, keyListSchema),
    revoke: (id) => connection.remove(`v1/api-keys/${pathSegment(id)}`, revokedKeySchema),
    audit: (query = {}) => connection.get(`v1/audit${queryText(query)}`, auditSchema),
  };
}

function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
