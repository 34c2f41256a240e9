/** Content digests: equal JSON gives an equal digest on every machine and runtime. */
import canonicalize from 'canonicalize';

const encoder = new TextEncoder();

/**
 * SHA-256 of the RFC 8785 canonical JSON of a value, as 64 hex digits.
 * Lone surrogates, which UTF-8 cannot carry, are escaped first so that two different strings never share a digest.
 * @throws TypeError if the value is not JSON (undefined, function, non-finite number).
 */
export async function digestJson(value: unknown): Promise<string> {
  const json = canonicalize(escapeLoneSurrogates(value));
  if (json === undefined) throw new TypeError('digestJson: the value has no JSON form');
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(json));
  let hex = '';
  for (const byte of new Uint8Array(digest)) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** RFC 8785 requires well-formed strings. Other strings, as models sometimes write them, become `{utf16: [units]}`. */
function escapeLoneSurrogates(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return value;
    const units: number[] = [];
    for (let i = 0; i < value.length; i++) units.push(value.charCodeAt(i));
    return { utf16: units };
  }
  if (Array.isArray(value)) return value.map(escapeLoneSurrogates);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, escapeLoneSurrogates(member)]));
  }
  return value;
}
