/**
 * Reads the secrets file of `npm run deploy`: one JSON object, in which a value is text or JSON. Every name and every
 * value is checked before anything is deployed, because the Worker refuses all requests under a malformed setting.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { readBackends } from '../../service/backends/settings.ts';
import { pathText, problemsOfIssues } from '../../src/input-problem.ts';
import { parsedJson } from '../../src/json.ts';
import type { Result } from '../../src/result.ts';
import { nearestName } from '../../src/text/nearest-name.ts';
import { apiKeysSchema } from '../../src/wire/api-keys.ts';

/** The secrets of every deployment. Further ones are named by `api_key_secret` in BACKENDS. */
const SECRETS = ['API_KEYS', 'BACKENDS', 'ISSUER_KEY'] as const;
/** The platform's limit for one secret, in bytes. */
const MAX_SECRET_BYTES = 5_120;

/** The secrets as text, by name; or problems, each a sentence about one name, which never quotes a value. */
export type SecretsFile = Result<Readonly<Record<string, string>>, readonly string[]>;

/** Reads and checks a secrets file. Problems name the file's fields, never their values. */
export function readSecretsFile(path: string): SecretsFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { ok: false, error: [error instanceof Error ? error.message : String(error)] };
  }
  return readSecrets(text);
}

/** Checks the text of a secrets file. */
export function readSecrets(text: string): SecretsFile {
  const value = parsedJson(text);
  if (value === undefined) {
    return { ok: false, error: ['expected JSON: {"API_KEYS": {…}, "BACKENDS": {…}, "GPU_KEY": "…"}'] };
  }
  const entries = z.record(z.string(), z.unknown()).safeParse(value);
  if (!entries.success || Array.isArray(value)) return { ok: false, error: ['expected a JSON object'] };
  const secrets: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(entries.data)) {
    const secret = typeof entry === 'string' ? entry : JSON.stringify(entry);
    if (secret === '' || entry === null) problems.push(`${name}: expected text or JSON; leave the name out to keep it`);
    else if (Buffer.byteLength(secret) > MAX_SECRET_BYTES) {
      problems.push(`${name}: longer than ${MAX_SECRET_BYTES} bytes, the platform's limit for one secret`);
    } else secrets[name] = secret;
  }
  problems.push(...unknownNames(secrets), ...keyProblems(secrets['API_KEYS']), ...backendProblems(secrets));
  return problems.length > 0 ? { ok: false, error: problems } : { ok: true, value: secrets };
}

function unknownNames(secrets: Readonly<Record<string, string>>): string[] {
  const known = [...SECRETS, ...secretsNamedBy(secrets['BACKENDS'])];
  return Object.keys(secrets)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearestName(name, known);
      const hint = meant === null ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`;
      return `${name}: unknown; ${hint} (a key of a server is named by api_key_secret in BACKENDS)`;
    });
}

const namesSecret = z.object({ api_key_secret: z.string().optional() });
const namesSecrets = z.object({ backends: z.array(namesSecret).optional(), sandbox: namesSecret.optional() });

/** The secrets that BACKENDS names. */
function secretsNamedBy(backends: string | undefined): string[] {
  const named = namesSecrets.safeParse(parsedJson(backends ?? ''));
  if (!named.success) return [];
  const { backends: servers = [], sandbox } = named.data;
  return [...servers, ...(sandbox === undefined ? [] : [sandbox])].flatMap(({ api_key_secret: name }) => name ?? []);
}

function keyProblems(keys: string | undefined): string[] {
  if (keys === undefined) return [];
  const parsed = apiKeysSchema.safeParse(parsedJson(keys ?? ''));
  if (parsed.success) return [];
  return problemsOfIssues(parsed.error.issues, parsedJson(keys ?? '')).map(
    ({ path, message }) => `API_KEYS: ${pathText(path)}: ${message}`,
  );
}

function backendProblems(secrets: Readonly<Record<string, string>>): string[] {
  const { BACKENDS } = secrets;
  if (BACKENDS === undefined) return [];
  // A secret that this file does not contain may be deployed already, and bindings are not known here.
  const read = readBackends(BACKENDS, { secret: (name) => secrets[name] ?? 'deployed', isBound: () => true });
  return read.ok ? [] : read.error.map((problem) => `BACKENDS: ${problem}`);
}
