/** The public keys that receipts are checked with, from a file or from the deployment. */

import * as z from 'zod';
import { parsedJson } from '../../../src/json.ts';
import type { IssuerKey } from '../../../src/judgments/issuer.ts';
import { readPublicKeys } from '../../../src/judgments/issuer-keys.ts';
import { issuerKeysSchema } from '../../../src/wire/judgment-files.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { readTextFile } from '../../shared/input.ts';
import { connect } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';

export type KnownKeys = {
  readonly keys: readonly IssuerKey[];
  /** The status of each key by key id: `current` or `previous`. */
  readonly statuses: ReadonlyMap<string, string>;
  /** Ids of revoked keys. */
  readonly revoked: ReadonlySet<string>;
};

/** Fetches the keys of the Worker of `--url`. @throws RunError if it does not answer. */
export async function keysOfWorker(flags: Flags): Promise<KnownKeys> {
  const client = await connect(flags, () => undefined, new UsageError('expected --url'));
  const reply = await client.keys();
  if (!reply.ok) throw runErrorOf(reply.failure);
  return checked(reply.body, flags.text('url') ?? '');
}

/** Reads a saved reply of `GET /v1/keys`, or a list of JWKs. @throws UsageError for anything else. */
export async function keysOfFile(path: string): Promise<KnownKeys> {
  const value = parsedJson(await readTextFile(path));
  if (value === undefined) throw new UsageError(`${path} is not JSON`);
  return checked(value, path);
}

const listSchema = z.array(z.looseObject({ kty: z.literal('OKP') }));

/** Checks each key against its id, which is a digest of the key. @param source the file or URL, for messages. */
async function checked(value: unknown, source: string): Promise<KnownKeys> {
  const reply = issuerKeysSchema.safeParse(value);
  const listed = reply.success ? reply.data.keys.filter(({ public_key }) => public_key !== null) : [];
  const list = reply.success ? listed.map(({ public_key }) => public_key) : listSchema.safeParse(value).data;
  const read = list === undefined ? null : await readPublicKeys(JSON.stringify(list));
  if (read === null || !read.ok) {
    throw new UsageError(`${source}: expected the reply of GET /v1/keys, or a JSON list of Ed25519 public keys (JWK)`);
  }
  const { keys, revoked } = read.value;
  if (!reply.success) return { keys, statuses: new Map(), revoked: idsOf(revoked) };
  for (const [n, { key_id }] of keys.entries()) {
    if (listed[n]?.key_id !== key_id) {
      throw new UsageError(`${source}: key ${n + 1} does not have the listed id`);
    }
  }
  return {
    keys,
    statuses: new Map(listed.map(({ key_id, status }) => [key_id, status])),
    revoked: idsOf(reply.data.keys.filter(({ status }) => status === 'revoked')),
  };
}

function idsOf(keys: readonly { readonly key_id: string }[]): ReadonlySet<string> {
  return new Set(keys.map(({ key_id }) => key_id));
}
