/** Issuers for tests, each with the public keys that it trusts. */
import { createKnownIssuers, type Issuer, type KnownIssuers } from '../../../src/judgments/issuer.ts';
import { readIssuer } from '../../../src/judgments/issuer-keys.ts';

export async function freshIssuer(): Promise<{ readonly issuer: Issuer; readonly known: KnownIssuers }> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const read = await readIssuer(JSON.stringify(await crypto.subtle.exportKey('jwk', pair.privateKey)));
  if (!read.ok) throw new Error(read.error);
  return { issuer: read.value, known: createKnownIssuers([read.value.key]) };
}
