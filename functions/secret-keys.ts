/**
 * Encrypts the secrets of webhook endpoints at rest with the keys of the setting WEBHOOK_SECRETS_KEY: AES-256-GCM, with
 * a random nonce, bound to the row that stores the secret. The first key encrypts; the others only decrypt, so that keys
 * can be rotated.
 */
import { bytesToHex } from '@noble/hashes/utils.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** A key of 256 bits. */
export type SecretKey = Bytes;

/** A secret as it is stored. */
export type StoredSecret = {
  /** The plain secret, or nonce and ciphertext. */
  readonly bytes: Uint8Array;
  /** Names the key that encrypted it; `null` = it is not encrypted. */
  readonly key_id: string | null;
};

const KEY = /^[A-Za-z0-9+/]{43}=$/;
const NONCE_BYTES = 12;

/** Reads the setting: keys as base64, separated by commas. Returns null if one is malformed. */
export function readSecretKeys(text: string | undefined): readonly SecretKey[] | null {
  if (text === undefined || text === '') return [];
  const keys = text.split(',').map((key) => key.trim());
  if (!keys.every((key) => KEY.test(key))) return null;
  return keys.map((key) => Uint8Array.from(atob(key), (char) => char.charCodeAt(0)));
}

/** Encrypts a secret with the first key, or leaves it plain if there is none. @param row where it is stored. */
export async function encryptSecret(secret: Bytes, row: string, keys: readonly SecretKey[]): Promise<StoredSecret> {
  const [key] = keys;
  if (key === undefined) return { bytes: secret, key_id: null };
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(algorithm(nonce, row), await imported(key), secret);
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return { bytes, key_id: await idOf(key) };
}

/** Returns the secret, or null if no key fits or the stored bytes were changed. @param row where it is stored. */
export async function decryptSecret(
  { bytes, key_id }: StoredSecret,
  row: string,
  keys: readonly SecretKey[],
): Promise<Bytes | null> {
  if (key_id === null) return new Uint8Array(bytes);
  for (const key of keys) {
    if ((await idOf(key)) !== key_id) continue;
    const nonce = new Uint8Array(bytes.subarray(0, NONCE_BYTES));
    const sealed = new Uint8Array(bytes.subarray(NONCE_BYTES));
    try {
      return new Uint8Array(await crypto.subtle.decrypt(algorithm(nonce, row), await imported(key), sealed));
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      return null;
    }
  }
  return null;
}

/** Whether `encryptSecret` would store a secret in this form now. */
export async function isCurrentForm({ key_id }: StoredSecret, keys: readonly SecretKey[]): Promise<boolean> {
  const [key] = keys;
  return key_id === (key === undefined ? null : await idOf(key));
}

function algorithm(iv: Bytes, row: string): SubtleCryptoEncryptAlgorithm {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(row) };
}

function imported(key: SecretKey): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** The first eight bytes of the SHA-256 of a key, in hex. */
async function idOf(key: SecretKey): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', key));
  return bytesToHex(digest.subarray(0, 8));
}
