/**
 * Signs and checks judgments and receipts with Ed25519, over the RFC 8785 JSON of the record without the signature. The
 * key of a judgment covers the request; the signature covers the answer too. A signature proves which deployment wrote
 * a record, not that its judge was right. The same keys sign statements (receipts). A statement has a member `kind` and
 * a judgment has none, so a signature over one is never valid for the other.
 */
import canonicalize from 'canonicalize';
import type { Judgment, RecordSignature, UnsignedJudgment } from './judgment.ts';

/** A public key in the form of RFC 8037. */
export type PublicKey = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };

export type IssuerKey = {
  /** RFC 7638 thumbprint of the public key, in hex. */
  readonly key_id: string;
  readonly public_key: PublicKey;
};

/** A signed record other than a judgment. Signing throws for a number that is not finite, since JSON has none. */
type Statement = {
  /** Tells a statement from a judgment, which has no `kind`: the same keys sign both. */
  readonly kind: 'receipt';
  readonly [member: string]: unknown;
};

/** Signs the judgments and statements of one deployment. */
export interface Issuer {
  readonly key: IssuerKey;
  sign(judgment: UnsignedJudgment): Promise<Judgment>;
  /** Signs the statement with its member `issuer: {key_id}`. */
  signStatement(statement: Statement): Promise<RecordSignature>;
}

/** `unknown_key`: the configuration lacks the public key, so the signature cannot be checked. */
export type SignatureCheck = 'valid' | 'wrong' | 'unknown_key' | 'unsigned';

/** The public keys that records are checked with. */
export interface KnownIssuers {
  has(keyId: string): boolean;
  check(judgment: Judgment): Promise<SignatureCheck>;
  checkStatement(statement: Statement, issuer: RecordSignature): Promise<Exclude<SignatureCheck, 'unsigned'>>;
}

export type Signing = { readonly issuer: Issuer | null; readonly known: KnownIssuers };

/**
 * Returns the id of the key that signed a judgment. By now the signatures of known issuers have been checked, or were
 * made here.
 */
export function knownIssuer({ issuer }: Judgment, signing: Signing | undefined): string | null {
  if (issuer === null || signing === undefined) return null;
  return signing.known.has(issuer.key_id) ? issuer.key_id : null;
}

const ALGORITHM = 'Ed25519';
const encoder = new TextEncoder();

/** @param privateKey usable for `sign` and belonging to `key`. */
export function createIssuer(key: IssuerKey, privateKey: CryptoKey): Issuer {
  const signatureOver = async (bytes: Uint8Array<ArrayBuffer>): Promise<RecordSignature> => {
    const signature = await crypto.subtle.sign(ALGORITHM, privateKey, bytes);
    return { key_id: key.key_id, signature: base64Url(new Uint8Array(signature)) };
  };
  return {
    key,
    async sign(judgment) {
      return { ...judgment, issuer: await signatureOver(judgmentBytes(judgment, key.key_id)) };
    },
    signStatement: (statement) => signatureOver(statementBytes(statement, key.key_id)),
  };
}

/** Signs a judgment, or marks it as unsigned if there is no issuer. */
export async function signed(judgment: UnsignedJudgment, issuer: Issuer | null): Promise<Judgment> {
  return issuer === null ? { ...judgment, issuer: null } : issuer.sign(judgment);
}

/** Imports each public key at its first use, and checks each judgment object once. */
export function createKnownIssuers(keys: readonly IssuerKey[]): KnownIssuers {
  const known = new Map(keys.map((key) => [key.key_id, key]));
  // Holds keys, not promises: one request of a Worker must not wait for another's promise.
  const imported = new Map<string, CryptoKey>();
  const valid = new WeakSet<Judgment>();
  const keyOf = async (key: IssuerKey): Promise<CryptoKey> => {
    const found = imported.get(key.key_id);
    if (found !== undefined) return found;
    const fresh = await crypto.subtle.importKey('jwk', { ...key.public_key }, ALGORITHM, false, ['verify']);
    imported.set(key.key_id, fresh);
    return fresh;
  };
  const holds = async (key: IssuerKey, signature: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> => {
    const given = bytesOfBase64Url(signature);
    // The last base64url digit has unused bits, so several texts decode to one signature; only one of them is accepted.
    if (base64Url(given) !== signature) return false;
    return crypto.subtle.verify(ALGORITHM, await keyOf(key), given, bytes);
  };
  return {
    has: (keyId) => known.has(keyId),
    async check(judgment) {
      if (judgment.issuer === null) return 'unsigned';
      const { issuer, ...unsigned } = judgment;
      const key = known.get(issuer.key_id);
      if (key === undefined) return 'unknown_key';
      if (valid.has(judgment)) return 'valid';
      const ok = await holds(key, issuer.signature, judgmentBytes(unsigned, issuer.key_id));
      if (ok) valid.add(judgment);
      return ok ? 'valid' : 'wrong';
    },
    async checkStatement(statement, issuer) {
      const key = known.get(issuer.key_id);
      if (key === undefined) return 'unknown_key';
      return (await holds(key, issuer.signature, statementBytes(statement, issuer.key_id))) ? 'valid' : 'wrong';
    },
  };
}

function judgmentBytes(judgment: UnsignedJudgment, keyId: string): Uint8Array<ArrayBuffer> {
  const { v, key, preimage, verdicts, usage, judged_at } = judgment;
  return canonicalBytes({ v, key, preimage, verdicts, usage, judged_at, issuer: { key_id: keyId } });
}

function statementBytes(statement: Statement, keyId: string): Uint8Array<ArrayBuffer> {
  return canonicalBytes({ ...statement, issuer: { key_id: keyId } });
}

function canonicalBytes(value: object): Uint8Array<ArrayBuffer> {
  const json = canonicalize(value);
  if (json === undefined) throw new TypeError('issuer: the value to sign has no JSON form');
  return new Uint8Array(encoder.encode(json));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** @throws if the text is not base64url, which the record's schema rules out. */
function bytesOfBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (unit) => unit.charCodeAt(0));
}
