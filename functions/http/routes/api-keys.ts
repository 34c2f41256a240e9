/**
 * `/v1/api-keys` makes, lists and revokes API keys that the Worker stores; `GET /v1/audit` lists the uses of admin
 * routes. A key sees and makes keys of its own project; a key of API_KEYS those of all projects.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { MAX_PROJECT_KEYS } from '../../../src/limits.ts';
import { RATE_TIERS } from '../../../src/wire/api-keys.ts';
import { STORED_KEY_BYTES, storedKeyText } from '../../../src/wire/key-text.ts';
import { newKeySchema, type StoredKeyReply } from '../../../src/wire/stored-keys.ts';
import { AuditTable } from '../../projects/audit-table.ts';
import { KeyTable, type StoredKey } from '../../projects/key-table.ts';
import { checkOperator, checkScope } from '../auth.ts';
import { readJson } from '../body.ts';
import { type Context, callerOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';

export const apiKeyHandlers = {
  'POST /v1/api-keys': async (c) => {
    const { label, project, scopes, expires_in_s, tier } = await readJson(c, newKeySchema);
    const caller = callerOf(c);
    if (project !== undefined && project !== caller.project) checkOperator(c, 'A key of another project');
    // A key must not make one that may do more, or longer.
    for (const scope of scopes) checkScope(c, { scope, needed_by: 'A caller who makes a key with this scope' });
    if (RATE_TIERS.indexOf(tier) > RATE_TIERS.indexOf(caller.tier)) checkOperator(c, 'A key of a higher tier');
    const now = Date.now();
    const expires_at = expires_in_s === undefined ? caller.expires_at : now + expires_in_s * 1000;
    if (caller.expires_at !== null && expires_at !== null && expires_at > caller.expires_at) {
      checkOperator(c, 'A key that outlives the one that makes it');
    }
    const key = storedKeyText(crypto.getRandomValues(new Uint8Array(STORED_KEY_BYTES)));
    const made = await new KeyTable(c.env.DB).add({
      sha256: await sha256Hex(key),
      project: project ?? caller.project,
      label,
      scopes: [...new Set(scopes)],
      tier,
      created_at: now,
      expires_at,
    });
    if (made === null) throw new RequestError({ reason: 'key_limit_reached', limit: MAX_PROJECT_KEYS });
    return c.json({ ...keyReply(made), key }, 201);
  },
  'GET /v1/api-keys': async (c, { project, after = null, limit }) => {
    const page = await new KeyTable(c.env.DB).page(listedProject(c, project), { after, limit });
    if (page === null) throw invalidInput(['query', 'after'], 'expected the id of a key');
    const keys = page.keys.map(keyReply);
    return c.json({ keys, next: page.has_more ? (keys.at(-1)?.id ?? null) : null });
  },
  'DELETE /v1/api-keys/{key}': async (c) => {
    const { isOperator, project } = callerOf(c);
    const id = pathParameter(c, 'key');
    const sha256 = await new KeyTable(c.env.DB).revoke(isOperator ? null : project, id, Date.now());
    if (sha256 === null) throw new RequestError({ reason: 'key_not_found' });
    c.get('knownKeys').forget(sha256);
    return c.json({ id, revoked: true });
  },
  'GET /v1/audit': async (c, { project, before = null, limit }) => {
    return c.json(await new AuditTable(c.env.DB).page(listedProject(c, project), { before, limit }));
  },
} satisfies Partial<Handlers>;

/** The project whose entries a list shows; `null` = all. @throws RequestError if the caller may not see it. */
function listedProject(c: Context, asked: string | undefined): string | null {
  const { isOperator, project } = callerOf(c);
  if (asked !== undefined && asked !== project) checkOperator(c, 'Another project');
  return asked ?? (isOperator ? null : project);
}

function keyReply({ created_at, expires_at, last_used_at, revoked_at, scopes, ...key }: StoredKey): StoredKeyReply {
  return {
    ...key,
    scopes: [...scopes],
    created_at: timeText(created_at),
    expires_at: expires_at === null ? null : timeText(expires_at),
    last_used_at: last_used_at === null ? null : timeText(last_used_at),
    revoked_at: revoked_at === null ? null : timeText(revoked_at),
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return bytesToHex(new Uint8Array(digest));
}
