/**
 * Signatures of Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md):
 * HMAC-SHA256 over `id.timestamp.body`, symmetric secrets, several signatures while a secret is rotated.
 *
 * The code uses WebCrypto instead of the `standardwebhooks` package, because unauthenticated callers choose the size of
 * the body: the package hashes in JavaScript, needs the body as text, and accepts `12abc` as a timestamp. Tests compare
 * both.
 */

import { MAX_WEBHOOK_ID_CHARS, MAX_WEBHOOK_SIGNATURES, WEBHOOK_TOLERANCE_S } from '../../src/limits.ts';
import type { Result } from '../../src/result.ts';

const SIGNATURE_PROBLEMS = [
  'signature_missing',
  'signature_malformed',
  'signature_wrong',
  'timestamp_stale',
  'timestamp_future',
] as const;
type SignatureProblem = (typeof SIGNATURE_PROBLEMS)[number];

/** The claims of a request's headers. They are untrusted until `verifySignature` returns true. */
export type PresentedSignature = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** The signatures of version 1, 32 bytes each; at least one. */
  readonly signatures: readonly Uint8Array[];
};

type Bytes = Uint8Array<ArrayBuffer>;

const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';
const VERSION = 'v1,';
/** 32 bytes in base64. */
const SIGNATURE = /^[A-Za-z0-9+/]{43}=$/;
/** Printable ASCII without the full stop, which the specification forbids because it separates the signed fields. */
const ID = /^[!-\-/-~]+$/;
const TIMESTAMP = /^\d{1,12}$/;

/**
 * Reads the three headers, with the names of Standard Webhooks or of Svix's libraries (`svix-id`), and checks everything
 * that needs no secret. @param now_s seconds since 1970.
 */
export function readSignature(headers: Headers, now_s: number): Result<PresentedSignature, SignatureProblem> {
  const prefix = headers.has('webhook-id') ? 'webhook' : 'svix';
  const id = headers.get(`${prefix}-id`);
  const timestamp = headers.get(`${prefix}-timestamp`);
  const signature = headers.get(`${prefix}-signature`);
  if (!id || !timestamp || !signature) return { ok: false, error: 'signature_missing' };
  if (id.length > MAX_WEBHOOK_ID_CHARS || !ID.test(id) || !TIMESTAMP.test(timestamp)) {
    return { ok: false, error: 'signature_malformed' };
  }
  const seconds = Number(timestamp);
  if (now_s - seconds > WEBHOOK_TOLERANCE_S) return { ok: false, error: 'timestamp_stale' };
  if (seconds - now_s > WEBHOOK_TOLERANCE_S) return { ok: false, error: 'timestamp_future' };
  const signatures = signature
    .split(' ', MAX_WEBHOOK_SIGNATURES)
    .flatMap((entry) => (entry.startsWith(VERSION) ? [entry.slice(VERSION.length)] : []))
    .flatMap((text) => (SIGNATURE.test(text) ? [bytesOfBase64(text)] : []));
  // No secret can match: refused here, before the body is read and the endpoint is looked up.
  if (signatures.length === 0) return { ok: false, error: 'signature_wrong' };
  return { ok: true, value: { id, timestamp: seconds, signatures } };
}

/**
 * Returns whether one of the secrets made one of the signatures. It compares every secret with every signature, each in
 * constant time, so that timing does not reveal which pair matches.
 */
export async function verifySignature(
  { id, timestamp, signatures }: PresentedSignature,
  body: Uint8Array,
  secrets: readonly Uint8Array[],
): Promise<boolean> {
  const content = signedContent(id, timestamp, body);
  let right = false;
  for (const secret of secrets) {
    const expected = await mac(secret, content);
    for (const signature of signatures) right = isEqual(signature, expected) || right;
  }
  return right;
}

/** Returns the header `webhook-signature` with one signature per secret. */
export async function signatureHeader(
  id: string,
  timestamp: number,
  body: Uint8Array,
  secrets: readonly Uint8Array[],
): Promise<string> {
  const content = signedContent(id, timestamp, body);
  const signatures = await Promise.all(secrets.map((secret) => mac(secret, content)));
  return signatures.map((signature) => `${VERSION}${base64(signature)}`).join(' ');
}

/** Creates a random secret. */
export function createSecret(): Bytes {
  return crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
}

/** Formats a secret for its owner, who sees it once. */
export function secretText(secret: Uint8Array): string {
  return SECRET_PREFIX + base64(secret);
}

function signedContent(id: string, timestamp: number, body: Uint8Array): Bytes {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

async function mac(secret: Uint8Array, content: Bytes): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new Uint8Array(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
}

/** Compares in time that depends only on the length, which is public. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (const [position, byte] of a.entries()) difference |= byte ^ (b[position] ?? 0);
  return difference === 0;
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function bytesOfBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
