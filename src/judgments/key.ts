/**
 * Content addresses. Same inputs, same key, on any machine and runtime: RFC 8785 JSON hashed with SHA-256, and nothing
 * in it that moves with ICU, a locale or a clock.
 */
import canonicalize from 'canonicalize';
import { PARSER_VERSION } from '../citations/grammars.ts';
import { type JudgmentRequest, kindOf } from './kinds/registry.ts';
import type { JudgeIdentity, JudgmentPreimage } from './types.ts';

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

/** RFC 8785 demands well-formed strings; model output is not always. `{"\uXXXX": …}` marks what was escaped. */
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

/** Everything that could change the verdicts of a request, with the inputs as digests. */
export async function judgmentPreimage(
  request: JudgmentRequest,
  judge: JudgeIdentity,
  replicate: number,
): Promise<JudgmentPreimage> {
  const { kind, ...inputs } = request;
  // Built from pairs: assigning as digests arrive would make the member order of a record depend on timing.
  const digests = Object.fromEntries(
    await Promise.all(
      Object.entries(inputs).map(
        async ([name, value]): Promise<[string, string]> => [name, await digestOfInput(value)],
      ),
    ),
  );
  return {
    v: 1,
    kind,
    judge,
    parser: kindOf(kind).dependsOnParser ? PARSER_VERSION : 'none',
    replicate,
    inputs: digests,
  };
}

/** Digests of lists that several requests share: the sources of a group may be a megabyte, and are in every key of it. */
const known = new WeakMap<object, Promise<string>>();

function digestOfInput(value: unknown): Promise<string> {
  if (typeof value !== 'object' || value === null) return digestJson(value);
  const digest = known.get(value) ?? digestJson(value);
  known.set(value, digest);
  return digest;
}

/** The key of a judgment: 64 hex digits. */
export function judgmentKey(preimage: JudgmentPreimage): Promise<string> {
  return digestJson(preimage);
}
