/**
 * The text of an API key that a Worker stores: `cwk_`, 256 random bits in base64url, and a checksum of both. A text
 * with a wrong checksum is no key, so a mistyped key is refused without asking a store.
 */
import { sha256 } from '../digest.ts';

/** Keys of the secret API_KEYS do not begin like this. */
export const STORED_KEY_PREFIX = 'cwk_';

/** Random bytes of a key. */
export const STORED_KEY_BYTES = 32;

const TEXT = /^(cwk_[A-Za-z0-9_-]{43})([0-9a-f]{8})$/;
const CHECKSUM_DIGITS = 8;

/** The text of a key. @param random STORED_KEY_BYTES random bytes. */
export function storedKeyText(random: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...random));
  const body = STORED_KEY_PREFIX + base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return body + checksumOf(body);
}

/** Whether a text can be a stored key: its form and its checksum are right. */
export function isStoredKeyText(text: string): boolean {
  const [, body, checksum] = TEXT.exec(text) ?? [];
  return body !== undefined && checksumOf(body) === checksum;
}

function checksumOf(body: string): string {
  return sha256(body).slice(0, CHECKSUM_DIGITS);
}
