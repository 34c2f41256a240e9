/** The keys that receipts are checked with: of a file, or of the deployment itself. */

import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { IssuerKey } from '../../../src/judgments/issuer.ts';
import { readPublicKeys } from '../../../src/judgments/issuer-keys.ts';
import { issuerKeysSchema } from '../../../src/wire/judgment-files.ts';
import { UsageError } from '../../shared/exit.ts';
import { connect } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';

export type KnownKeys = {
  readonly keys: readonly IssuerKey[];
  /** What is said of keys beside them, by key id: `current`, `previous`. */
  readonly statuses: ReadonlyMap<string, string>;
  /** Key ids whose signatures no longer count. */
  readonly revoked: ReadonlySet<string>;
};

/** Asks the Worker. @throws RunError if it does not say. */
export async function keysOfWorker(url: string, keyFlag: string | null): Promise<KnownKeys> {
  const client = await connect(url, keyFlag, () => undefined);
  const reply = await client.keys();
  if (!reply.ok) throw runErrorOf(reply.failure);
  return checked(reply.body, url);
}

/** Reads what `GET /v1/keys` answered, or a list of JWKs. @throws UsageError for anything else. */
export async function keysOfFile(path: string): Promise<KnownKeys> {
  return checked(await readJson(path), path);
}

const listSchema = z.array(z.looseObject({ kty: z.literal('OKP') }));

/** A key id is computed from its key, whatever is said of it. */
async function checked(value: unknown, where: string): Promise<KnownKeys> {
  const reply = issuerKeysSchema.safeParse(value);
  const said = reply.success ? reply.data.keys.filter(({ public_key }) => public_key !== null) : [];
  const list = reply.success ? said.map(({ public_key }) => public_key) : listSchema.safeParse(value).data;
  const read = list === undefined ? null : await readPublicKeys(JSON.stringify(list));
  if (read === null || !read.ok) {
    throw new UsageError(`${where}: expected the reply of GET /v1/keys, or a JSON list of Ed25519 public keys (JWK)`);
  }
  if (!reply.success) return { ...read, statuses: new Map(), revoked: idsOf(read.revoked) };
  for (const [n, { key_id }] of read.keys.entries()) {
    if (said[n]?.key_id !== key_id) {
      throw new UsageError(`${where}: key ${n + 1} is not the key whose id stands beside it`);
    }
  }
  return {
    keys: read.keys,
    statuses: new Map(said.map(({ key_id, status }) => [key_id, status])),
    revoked: idsOf(reply.data.keys.filter(({ status }) => status === 'revoked')),
  };
}

function idsOf(keys: readonly { readonly key_id: string }[]): ReadonlySet<string> {
  return new Set(keys.map(({ key_id }) => key_id));
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${path} is not JSON`);
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
