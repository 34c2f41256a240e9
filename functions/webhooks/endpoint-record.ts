/**
 * Stores the endpoint and its secrets in the SQLite of its object. A secret leaves the deployment once, on creation.
 */

import { newId } from '../../service/ids.ts';
import { MAX_WEBHOOK_SECRETS } from '../../src/limits.ts';
import type { EndpointChange } from '../../src/wire/webhooks.ts';
import type { Endpoint } from '../../src/wire/webhooks-reply.ts';
import { decryptSecret, encryptSecret, isCurrentForm, type SecretKey, type StoredSecret } from '../secret-keys.ts';
import { addTextColumn } from './added-column.ts';
import { type RegisterMessage, timeText } from './endpoint-messages.ts';
import { createSecret, secretText } from './signature.ts';

type EndpointRow = {
  id: string;
  project: string;
  url: string;
  description: string | null;
  enabled: number;
  disabled_reason: string | null;
  created_ms: number;
};

type SecretRow = {
  id: string;
  secret: ArrayBuffer;
  key_id: string | null;
  created_ms: number;
  expires_ms: number | null;
};

/** A secret that is not stored yet. */
export type NewSecret = {
  readonly id: string;
  /** For its owner, who sees it once. */
  readonly text: string;
  readonly stored: StoredSecret;
};

const VALID = 'FROM secrets_v1 WHERE expires_ms IS NULL OR expires_ms > ? ORDER BY seq DESC';

export class EndpointRecord {
  readonly #sql: SqlStorage;
  readonly #keys: () => readonly SecretKey[];

  /** @param keys returns those that encrypt the secrets, the current one first; none = secrets are stored plain. */
  constructor(sql: SqlStorage, keys: () => readonly SecretKey[]) {
    this.#sql = sql;
    this.#keys = keys;
    sql.exec(`CREATE TABLE IF NOT EXISTS endpoint_v1 (
      one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, project TEXT NOT NULL, url TEXT NOT NULL, description TEXT,
      enabled INTEGER NOT NULL, disabled_reason TEXT, created_ms INTEGER NOT NULL
    ) STRICT`);
    sql.exec(`CREATE TABLE IF NOT EXISTS secrets_v1 (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, secret BLOB NOT NULL, created_ms INTEGER NOT NULL,
      expires_ms INTEGER
    ) STRICT`);
    addTextColumn(sql, 'secrets_v1', 'key_id');
  }

  /** The receiver; `null` if nothing is registered. */
  get target(): {
    readonly id: string;
    readonly project: string;
    readonly url: string;
    readonly enabled: boolean;
  } | null {
    const row = this.#row();
    return row === null ? null : { id: row.id, project: row.project, url: row.url, enabled: row.enabled === 1 };
  }

  /** Creates a secret for an endpoint, to register or rotate with. */
  async createSecret(endpoint: string): Promise<NewSecret> {
    const id = newId('whs_');
    const secret = createSecret();
    const stored = await encryptSecret(secret, rowName(endpoint, id), this.#keys());
    return { id, text: secretText(secret), stored };
  }

  /** Registers the endpoint with its first secret. */
  register(
    { id, project, url, description, enabled }: Omit<RegisterMessage, 'v'>,
    first: NewSecret,
    now: number,
  ): void {
    this.#sql.exec(
      `INSERT INTO endpoint_v1 (one, id, project, url, description, enabled, disabled_reason, created_ms)
       VALUES (1, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      project,
      url,
      description,
      enabled ? 1 : 0,
      enabled ? null : ('requested' satisfies Endpoint['disabled_reason']),
      now,
    );
    this.#addSecret(first, now);
  }

  change({ url, description, enabled }: EndpointChange): void {
    if (url !== undefined) this.#sql.exec('UPDATE endpoint_v1 SET url = ?', url);
    if (description !== undefined) this.#sql.exec('UPDATE endpoint_v1 SET description = ?', description);
    if (enabled === true) this.#sql.exec('UPDATE endpoint_v1 SET enabled = 1, disabled_reason = NULL');
    if (enabled === false) this.disable('requested');
  }

  disable(reason: Exclude<Endpoint['disabled_reason'], null>): void {
    this.#sql.exec('UPDATE endpoint_v1 SET enabled = 0, disabled_reason = ? WHERE enabled = 1', reason);
  }

  /**
   * The valid secrets, newest first; `null` if one is encrypted with a key that the settings lack. Encrypts those anew
   * that are plain or encrypted with an earlier key.
   */
  async secrets(now: number): Promise<readonly Uint8Array[] | null> {
    const endpoint = this.target?.id ?? '';
    const keys = this.#keys();
    const secrets: Uint8Array[] = [];
    for (const { id, secret: bytes, key_id } of this.#valid(now)) {
      const stored = { bytes: new Uint8Array(bytes), key_id };
      const row = rowName(endpoint, id);
      const secret = await decryptSecret(stored, row, keys);
      if (secret === null) return null;
      secrets.push(secret);
      if (await isCurrentForm(stored, keys)) continue;
      const next = await encryptSecret(secret, row, keys);
      this.#sql.exec('UPDATE secrets_v1 SET secret = ?, key_id = ? WHERE id = ?', next.bytes, next.key_id, id);
    }
    return secrets;
  }

  /**
   * Adds a secret. The earlier secrets expire after `grace_s` seconds at the latest.
   * Returns false if too many secrets would be valid at the same time.
   */
  rotate(grace_s: number, next: NewSecret, now: number): boolean {
    const until = now + grace_s * 1000;
    if (until > now && this.#valid(now).length >= MAX_WEBHOOK_SECRETS) return false;
    this.#sql.exec('UPDATE secrets_v1 SET expires_ms = ? WHERE expires_ms IS NULL OR expires_ms > ?', until, until);
    this.forgetSecrets(now);
    this.#addSecret(next, now);
    return true;
  }

  /** Deletes the secrets that have expired. */
  forgetSecrets(now: number): void {
    this.#sql.exec('DELETE FROM secrets_v1 WHERE expires_ms <= ?', now);
  }

  /** When the next secret expires, in milliseconds since 1970; `null` = none expires. */
  nextExpiry(): number | null {
    return this.#sql.exec<{ at: number | null }>('SELECT MIN(expires_ms) AS at FROM secrets_v1').one().at;
  }

  /** @throws Error if nothing is registered. */
  describe(now: number): Endpoint {
    const row = this.#row();
    if (row === null) throw new Error('EndpointRecord: nothing is registered');
    return {
      id: row.id,
      url: row.url,
      description: row.description,
      created_at: timeText(row.created_ms),
      enabled: row.enabled === 1,
      disabled_reason: disabledReasonOf(row.disabled_reason),
      secrets: this.#valid(now).map(({ id, created_ms, expires_ms }) => ({
        id,
        created_at: timeText(created_ms),
        expires_at: expires_ms === null ? null : timeText(expires_ms),
      })),
    };
  }

  clear(): void {
    this.#sql.exec('DELETE FROM endpoint_v1');
    this.#sql.exec('DELETE FROM secrets_v1');
  }

  #addSecret({ id, stored }: NewSecret, now: number): void {
    this.#sql.exec(
      'INSERT INTO secrets_v1 (id, secret, key_id, created_ms) VALUES (?, ?, ?, ?)',
      id,
      stored.bytes,
      stored.key_id,
      now,
    );
  }

  #valid(now: number): SecretRow[] {
    return this.#sql.exec<SecretRow>(`SELECT id, secret, key_id, created_ms, expires_ms ${VALID}`, now).toArray();
  }

  #row(): EndpointRow | null {
    return this.#sql.exec<EndpointRow>('SELECT * FROM endpoint_v1').toArray()[0] ?? null;
  }
}

/** What an encrypted secret is bound to, so that it is of no use in another row. */
function rowName(endpoint: string, secret: string): string {
  return `${endpoint} ${secret}`;
}

/** After a rollback, `null` for a reason of a later version: a throw would hide the endpoint, and all others of a list. */
function disabledReasonOf(text: string | null): Endpoint['disabled_reason'] {
  return text === 'requested' || text === 'gone' ? text : null;
}
