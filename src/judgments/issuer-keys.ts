/**
 * Reads issuer keys from an operator's configuration: the private key as a JWK (RFC 8037) or as PKCS #8 (base64 or
 * PEM), public keys as a JSON list of JWKs, the format of `GET /v1/keys`. An unreadable key is a configuration problem,
 * so a deployment never silently stops to sign or to trust an issuer.
 */

import * as z from 'zod';
import { digestJson } from '../digest.ts';
import { parsedJson } from '../json.ts';
import type { Result } from '../result.ts';
import { createIssuer, type Issuer, type IssuerKey, type PublicKey } from './issuer.ts';

const ALGORITHM = 'Ed25519';
/** 32 bytes as 43 base64url digits. */
const ED25519_BYTES_TEXT = /^[A-Za-z0-9_-]{43}$/;
const MAX_KEYS = 64;

const publicJwkSchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal(ALGORITHM),
  x: z.string().regex(ED25519_BYTES_TEXT),
});

const privateJwkSchema = publicJwkSchema.extend({ d: z.string().regex(ED25519_BYTES_TEXT) });

/** A leaked key stays listed as revoked, which distinguishes its signatures from those of unknown keys. */
const publicKeysSchema = z.array(publicJwkSchema.extend({ revoked: z.boolean().optional() })).max(MAX_KEYS);

type PublicKeys = {
  readonly keys: readonly IssuerKey[];
  /** Keys marked `"revoked": true`; they are not among `keys`. */
  readonly revoked: readonly IssuerKey[];
};

/** Reads a private key. Problems quote no part of it. */
export async function readIssuer(text: string): Promise<Result<Issuer, string>> {
  const trimmed = text.trim();
  const pair = trimmed.startsWith('{') ? await fromJwk(trimmed) : await fromPkcs8(trimmed);
  if (pair === null) return { ok: false, error: 'expected an Ed25519 private key as JWK or PKCS #8 (base64 or PEM)' };
  const key = issuerKeyOf(pair.publicKey);
  const issuer = createIssuer(key, pair.privateKey);
  if (!(await belongTogether(pair))) return { ok: false, error: 'd and x of the JWK are not one key pair' };
  return { ok: true, value: issuer };
}

/** Reads a JSON list of public JWKs, some marked `"revoked": true`. Further members, such as `kid`, are ignored. */
export async function readPublicKeys(text: string): Promise<Result<PublicKeys, string>> {
  const value = parsedJson(text);
  const parsed = publicKeysSchema.safeParse(value);
  if (!parsed.success) {
    return { ok: false, error: `expected a JSON list of at most ${MAX_KEYS} Ed25519 public keys (kty, crv, x)` };
  }
  const listed = (wanted: boolean) => parsed.data.filter(({ revoked = false }) => revoked === wanted).map(issuerKeyOf);
  return { ok: true, value: { keys: listed(false), revoked: listed(true) } };
}

type KeyPair = { readonly publicKey: PublicKey; readonly privateKey: CryptoKey };

/**
 * Builds the issuer key from a JWK. Its id, the RFC 7638 thumbprint, is the SHA-256 of exactly these members in this
 * order, which is also their RFC 8785 form.
 */
function issuerKeyOf({ kty, crv, x }: PublicKey): IssuerKey {
  const public_key = { kty, crv, x };
  return { key_id: digestJson(public_key), public_key };
}

async function fromJwk(text: string): Promise<KeyPair | null> {
  const parsed = privateJwkSchema.safeParse(parsedJson(text));
  if (!parsed.success) return null;
  const { d, ...publicKey } = parsed.data;
  const privateKey = await imported(() =>
    crypto.subtle.importKey('jwk', { ...publicKey, d }, ALGORITHM, false, ['sign']),
  );
  return privateKey === null ? null : { publicKey, privateKey };
}

async function fromPkcs8(text: string): Promise<KeyPair | null> {
  const base64 = text.replace(/-----(BEGIN|END) PRIVATE KEY-----/g, '').replace(/\s+/g, '');
  if (base64 === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const exportable = await imported(() => {
    const bytes = Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
    return crypto.subtle.importKey('pkcs8', bytes, ALGORITHM, true, ['sign']);
  });
  if (exportable === null) return null;
  return fromJwk(JSON.stringify(await crypto.subtle.exportKey('jwk', exportable)));
}

/** `null` if the bytes are no key. Catches every Error: runtimes differ in what WebCrypto and atob throw. */
async function imported(importing: () => Promise<CryptoKey>): Promise<CryptoKey | null> {
  try {
    return await importing();
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

async function belongTogether({ publicKey, privateKey }: KeyPair): Promise<boolean> {
  const probe = new Uint8Array([1]);
  const verifier = await crypto.subtle.importKey('jwk', { ...publicKey }, ALGORITHM, false, ['verify']);
  return crypto.subtle.verify(ALGORITHM, verifier, await crypto.subtle.sign(ALGORITHM, privateKey, probe), probe);
}
