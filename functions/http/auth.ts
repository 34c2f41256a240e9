/**
 * Authentication and scopes. Every path except `/healthz` requires an API key: one of the secret API_KEYS, or one that
 * the Worker stores. Without keys in API_KEYS, ALLOW_ANONYMOUS = "true" admits requests without a key, unless a web page
 * of another site may have sent them. A malformed configuration refuses every request; it never grants access.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import { createMiddleware } from 'hono/factory';
import { RequestError } from '../../service/failures.ts';
import type { RequiredScope } from '../../service/required-scopes.ts';
import { DEFAULT_PROJECT, SCOPES, type Scope } from '../../src/wire/api-keys.ts';
import { isStoredKeyText, STORED_KEY_PREFIX } from '../../src/wire/key-text.ts';
import { ROUTE_NAMES, ROUTES, type RouteRow } from '../../src/wire/openapi/routes.ts';
import type { Settings } from '../environment.ts';
import { Lookups } from '../lookups.ts';
import type { PlatformFactory } from '../platform.ts';
import { KeyTable } from '../projects/key-table.ts';
import { KnownKeys } from '../projects/known-keys.ts';
import { refuseWebPages } from './browser-guard.ts';
import { callerConnection } from './caller-address.ts';
import { type AppEnvironment, type Context, callerOf, type Principal } from './context.ts';
import { checkRate } from './rate-limit.ts';
import { vendorKey } from './vendor-key.ts';

/** Whether a path is that of a route with the scope. */
function isPathOf(scope: RouteRow['scope']): (path: string) => boolean {
  const patterns = ROUTE_NAMES.filter((name) => ROUTES[name].scope === scope).map(
    (name) => new RegExp(`^${name.slice(name.indexOf('/')).replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`),
  );
  return (path) => patterns.some((pattern) => pattern.test(path));
}

const isPublic = isPathOf(null);

/** Signed requests carry no key: the route checks their signature, and they have no scopes until then. */
const isSigned = isPathOf('signed');

/** Trainers that cannot send headers put the key in the URL (`https://k:KEY@host/…`), which arrives as Basic auth. */
const ADAPTER_PATHS = '/v1/adapters/';

const ANONYMOUS = {
  name: 'anonymous',
  id: 'anonymous',
  project: DEFAULT_PROJECT,
  scopes: new Set(SCOPES),
  tier: 'standard',
  expires_at: null,
  isOperator: true,
} as const;

/** Authenticates every request outside the public paths, and stores the settings in the context. */
export function authenticate(platforms: PlatformFactory) {
  const now = (): number => Date.now();
  const lookups = new Lookups(now);
  const knownKeys = new KnownKeys(now, lookups);
  return createMiddleware<AppEnvironment>(async function authenticate(c, next) {
    if (isPublic(c.req.path)) return next();
    const settings = platforms.settingsOf(c.env);
    if (!settings.ok) throw new RequestError(settings.error);
    c.set('settings', settings.value);
    c.set('platforms', platforms);
    c.set('knownKeys', knownKeys);
    c.set('lookups', lookups);
    if (isSigned(c.req.path)) return next();
    const caller = await callerIn(c);
    c.set('principal', caller);
    await checkRate(c.env, caller);
    return next();
  });
}

/**
 * Refuses callers whose key lacks the scope.
 * @param needed_by what needs the scope, as the subject of a sentence in the problem.
 */
export function requireScope(scope: Scope, needed_by = 'This route') {
  return createMiddleware<AppEnvironment>(async function requireScope(c, next) {
    if (scope === 'admin') c.set('isAdminUse', true);
    checkScope(c, { scope, needed_by });
    return next();
  });
}

/** Checks a scope that depends on the body. @throws RequestError if the caller does not have it. */
export function checkScope(c: Context, needed: RequiredScope): void {
  if (c.get('principal')?.scopes.has(needed.scope) === true) return;
  throw new RequestError({ reason: 'scope_missing', ...needed });
}

/** Refuses callers without a key of API_KEYS. @param needed_by the subject of a sentence in the problem. */
export function checkOperator(c: Context, needed_by: string): void {
  if (!callerOf(c).isOperator) throw new RequestError({ reason: 'operator_needed', needed_by });
}

/** @throws RequestError if the caller is unknown. */
async function callerIn(c: Context): Promise<Principal> {
  const { keys, allowAnonymous } = c.get('settings');
  const presented = presentedKey(c.req.header('authorization'), c.req.path.startsWith(ADAPTER_PATHS)) ?? keyOfVendor(c);
  if (presented === null && keys.length > 0) throw new RequestError({ reason: 'key_missing' });
  const found = presented === null ? null : await principalOf(c, presented);
  if (found !== null) return found;
  if (keys.length > 0) throw new RequestError({ reason: 'key_unknown' });
  if (allowAnonymous) {
    refuseWebPages(c);
    return ANONYMOUS;
  }
  throw new RequestError({ reason: 'auth_unconfigured' });
}

type PresentedKey = {
  readonly bytes: Uint8Array;
  /**
   * The only scope that a key has if it is sent in this way; `null` = all scopes of the key. A key in a URL is limited,
   * because URLs are copied into logs.
   */
  readonly only: Scope | null;
};

const BEARER = /^Bearer +([^ ]+) *$/i;
const BASIC = /^Basic +([A-Za-z0-9+/=]+) *$/i;

/** Reads the key from the header; `null` if it is missing, or sent in a way that this path does not accept. */
function presentedKey(authorization: string | undefined, inUrl: boolean): PresentedKey | null {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token !== undefined) return { bytes: new TextEncoder().encode(token), only: null };
  const credentials = inUrl ? BASIC.exec(authorization ?? '')?.[1] : undefined;
  const password = credentials === undefined ? null : passwordOf(credentials);
  return password === null ? null : { bytes: password, only: 'score' };
}

/** The key in the way of the API that the route replaces. */
function keyOfVendor(c: Context): PresentedKey | null {
  const key = vendorKey(c.req.path, (name) => c.req.header(name));
  return key === null ? null : { bytes: new TextEncoder().encode(key), only: null };
}

/** The password of Basic credentials: everything after the first colon. The user name is ignored. */
function passwordOf(credentials: string): Uint8Array | null {
  let text: string;
  try {
    text = atob(credentials);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
  const password = text.slice(text.indexOf(':') + 1);
  if (!text.includes(':') || password === '') return null;
  return Uint8Array.from(password, (byte) => byte.charCodeAt(0));
}

/** The principal of a key; `null` if the key is not known. @throws RequestError if a stored key may not be used. */
async function principalOf(c: Context, { bytes, only }: PresentedKey): Promise<Principal | null> {
  const sha256 = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const found = configuredKey(sha256, c.get('settings')) ?? (await storedKey(c, bytes, sha256));
  if (found === null || only === null) return found;
  return { ...found, scopes: found.scopes.has(only) ? new Set([only]) : new Set(), isOperator: false };
}

function configuredKey(presented: Uint8Array, { keys }: Settings): Principal | null {
  // Compares all keys, each in constant time, so that the duration reveals neither which key matched nor how much of
  // it.
  let found: Principal | null = null;
  for (const { name, sha256, scopes } of keys) {
    if (crypto.subtle.timingSafeEqual(presented, sha256)) {
      found = {
        name,
        id: `setting:${name}`,
        project: DEFAULT_PROJECT,
        scopes,
        tier: 'standard',
        expires_at: null,
        isOperator: true,
      };
    }
  }
  return found;
}

/** A key that the Worker stores. Its SHA-256 is looked up, so the duration reveals nothing of the key. */
async function storedKey(c: Context, bytes: Uint8Array, sha256: Uint8Array): Promise<Principal | null> {
  const text = String.fromCharCode(...bytes.subarray(0, MAX_STORED_KEY_BYTES));
  if (!text.startsWith(STORED_KEY_PREFIX)) return null;
  if (bytes.byteLength > MAX_STORED_KEY_BYTES || !isStoredKeyText(text))
    throw new RequestError({ reason: 'key_unknown' });
  const found = await c.get('knownKeys').find(new KeyTable(c.env.DB), bytesToHex(sha256), callerConnection(c));
  switch (found.status) {
    case 'unknown':
      throw new RequestError({ reason: 'key_unknown' });
    case 'too_many':
      throw new RequestError({ reason: 'key_attempts_exceeded', retry_after_s: found.retry_after_s });
    case 'known': {
      const { id, label, project, scopes, tier, expires_at } = found.key;
      if (expires_at !== null && expires_at <= Date.now()) throw new RequestError({ reason: 'key_expired' });
      return {
        name: label,
        id,
        project,
        scopes: new Set(scopes),
        tier,
        expires_at,
        isOperator: false,
      };
    }
  }
}

const MAX_STORED_KEY_BYTES = 64;
