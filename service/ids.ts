/** Random ids: a prefix that names the kind, as OpenAI's have, and 144 random bits. */

const RANDOM_BYTES = 18;

/** @returns the prefix and 24 url-safe characters. */
export function newId(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const base64 = btoa(String.fromCharCode(...random));
  return prefix + base64.replaceAll('+', '-').replaceAll('/', '_');
}
