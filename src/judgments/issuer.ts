/**
 * Who vouches for a judgment: an Ed25519 signature over the RFC 8785 JSON of the record without the signature itself. The
 * key of a judgment covers what was asked; the signature covers what was answered. It proves which deployment wrote a
 * record, not that its judge was right.
 */
import canonicalize from 'canonicalize';
import type { Judgment, UnsignedJudgment } from './types.ts';

/** A public key as RFC 8037 writes it. */
export type PublicKey = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };

export type IssuerKey = {
  /** RFC 7638 thumbprint of the public key, in hex. */
  readonly key_id: string;
  readonly public_key: PublicKey;
};

/** Signs what this deployment judges. */
export interface Issuer {
  readonly key: IssuerKey;
  sign(judgment: UnsignedJudgment): Promise<Judgment>;
}

/** `unknown_key`: signed by somebody whose public key is not at hand, so neither right nor wrong. */
export type SignatureCheck = 'valid' | 'wrong' | 'unknown_key' | 'unsigned';

/** Public keys by which records can be checked. */
export interface KnownIssuers {
  has(keyId: string): boolean;
  check(judgment: Judgment): Promise<SignatureCheck>;
}

export type Signing = { readonly issuer: Issuer | null; readonly known: KnownIssuers };

const ALGORITHM = 'Ed25519';
const encoder = new TextEncoder();

/** @param privateKey usable for `sign` and belonging to `key`. */
export function createIssuer(key: IssuerKey, privateKey: CryptoKey): Issuer {
  return {
    key,
    async sign(judgment) {
      const signature = await crypto.subtle.sign(ALGORITHM, privateKey, signedBytes(judgment, key.key_id));
      return { ...judgment, issuer: { key_id: key.key_id, signature: base64Url(new Uint8Array(signature)) } };
    },
  };
}

/** A judgment as it is stored: signed where there is an issuer. */
export async function signed(judgment: UnsignedJudgment, issuer: Issuer | null): Promise<Judgment> {
  return issuer === null ? { ...judgment, issuer: null } : issuer.sign(judgment);
}

/** Imports each public key at its first use. A judgment that was found valid is not checked again as the same object. */
export function createKnownIssuers(keys: readonly IssuerKey[]): KnownIssuers {
  const known = new Map(keys.map((key) => [key.key_id, key]));
  // Keys, not promises: requests of a Worker must not wait for one another's.
  const imported = new Map<string, CryptoKey>();
  const valid = new WeakSet<Judgment>();
  const keyOf = async (key: IssuerKey): Promise<CryptoKey> => {
    const found = imported.get(key.key_id);
    if (found !== undefined) return found;
    const fresh = await crypto.subtle.importKey('jwk', { ...key.public_key }, ALGORITHM, false, ['verify']);
    imported.set(key.key_id, fresh);
    return fresh;
  };
  return {
    has: (keyId) => known.has(keyId),
    async check(judgment) {
      if (judgment.issuer === null) return 'unsigned';
      const { issuer, ...unsigned } = judgment;
      const key = known.get(issuer.key_id);
      if (key === undefined) return 'unknown_key';
      if (valid.has(judgment)) return 'valid';
      const bytes = signedBytes(unsigned, issuer.key_id);
      const ok = await crypto.subtle.verify(ALGORITHM, await keyOf(key), bytesOfBase64Url(issuer.signature), bytes);
      if (ok) valid.add(judgment);
      return ok ? 'valid' : 'wrong';
    },
  };
}

function signedBytes(judgment: UnsignedJudgment, keyId: string): Uint8Array<ArrayBuffer> {
  const { v, key, preimage, verdicts, usage, judged_at } = judgment;
  const json = canonicalize({ v, key, preimage, verdicts, usage, judged_at, issuer: { key_id: keyId } });
  if (json === undefined) throw new TypeError('issuer: the judgment has no JSON form');
  return new Uint8Array(encoder.encode(json));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** @throws if the text is not base64url; the record's schema has checked it before. */
function bytesOfBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (unit) => unit.charCodeAt(0));
}
