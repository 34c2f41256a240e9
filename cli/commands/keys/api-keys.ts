/** Makes API keys, and reads and writes the entries of the secret `API_KEYS`, which hold only the hash of a key. */
import { createHash, randomBytes } from 'node:crypto';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import type { Result } from '../../../src/result.ts';
import { type ApiKeys, apiKeysSchema, type Scope } from '../../../src/wire/api-keys.ts';

const KEY_BYTES = 32;

const KEY_PREFIX = 'cw_';

/** A new key of 256 random bits. */
export function makeKey(random: (bytes: number) => Buffer = randomBytes): string {
  return KEY_PREFIX + random(KEY_BYTES).toString('base64url');
}

/** The entry of API_KEYS that admits a key. */
export function entryOf(key: string, scopes: readonly Scope[]): ApiKeys[string] {
  return { sha256: createHash('sha256').update(key, 'utf8').digest('hex'), scopes: [...scopes] };
}

/** Reads a value of API_KEYS; empty = no keys. */
export function readApiKeys(text: string): Result<ApiKeys, readonly string[]> {
  if (text.trim() === '') return { ok: true, value: {} };
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, error: ['not JSON'] };
  const parsed = apiKeysSchema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const problems = problemsOfIssues(parsed.error.issues, value);
  return { ok: false, error: problems.map(({ path, message }) => `${pathText(path)}: ${message}`) };
}
