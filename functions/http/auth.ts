/**
 * Authentication and scopes. Every path except `/healthz` requires an API key, unless no key is configured and
 * ALLOW_ANONYMOUS is "true". A malformed configuration refuses every request; it never grants access.
 */
import { createMiddleware } from 'hono/factory';
import { DEFAULT_PROJECT, SCOPES, type Scope } from '../../src/wire/api-keys.ts';
import type { ApiKey } from '../environment.ts';
import { RequestError } from '../failures.ts';
import type { PlatformFactory } from '../platform.ts';
import type { RequiredScope } from '../services/required-scopes.ts';
import type { AppEnvironment, Context, Principal } from './context.ts';

const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz']);

/** Trainers that cannot send headers put the key in the URL (`https://k:KEY@host/…`), which arrives as Basic auth. */
const ADAPTER_PATHS = '/v1/adapters/';

/** Signed requests carry no key: the route checks their signature, and they have no scopes until then. */
const SIGNED_PATH = /^\/v1\/webhooks\/[^/]+\/score$/;

const ANONYMOUS: Principal = { name: 'anonymous', project: DEFAULT_PROJECT, scopes: new Set(SCOPES) };

/** Authenticates every request outside the public paths, and stores the settings in the context. */
export function authenticate(platforms: PlatformFactory) {
  return createMiddleware<AppEnvironment>(async function authenticate(c, next) {
    if (PUBLIC_PATHS.has(c.req.path)) return next();
    const settings = platforms.settingsOf(c.env);
    if (!settings.ok) throw new RequestError(settings.error);
    const { keys, allowAnonymous } = settings.value;
    c.set('settings', settings.value);
    c.set('platforms', platforms);
    if (SIGNED_PATH.test(c.req.path)) return next();
    if (keys.length > 0) {
      const presented = presentedKey(c.req.header('authorization'), c.req.path.startsWith(ADAPTER_PATHS));
      c.set('principal', await principalOf(presented, keys));
    } else if (allowAnonymous) c.set('principal', ANONYMOUS);
    else throw new RequestError({ reason: 'auth_unconfigured' });
    return next();
  });
}

/**
 * Refuses callers whose key lacks the scope.
 * @param needed_by what needs the scope, as the subject of a sentence in the problem.
 */
export function requireScope(scope: Scope, needed_by = 'This route') {
  return createMiddleware<AppEnvironment>(async function requireScope(c, next) {
    checkScope(c, { scope, needed_by });
    return next();
  });
}

/** Checks a scope that depends on the body. @throws RequestError if the caller does not have it. */
export function checkScope(c: Context, needed: RequiredScope): void {
  if (c.get('principal')?.scopes.has(needed.scope) === true) return;
  throw new RequestError({ reason: 'scope_missing', ...needed });
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

/**
 * Reads the key from the header. @throws RequestError if it is missing, or sent in a way that this path does not
 * accept.
 */
function presentedKey(authorization: string | undefined, inUrl: boolean): PresentedKey {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token !== undefined) return { bytes: new TextEncoder().encode(token), only: null };
  const credentials = inUrl ? BASIC.exec(authorization ?? '')?.[1] : undefined;
  const password = credentials === undefined ? null : passwordOf(credentials);
  if (password === null) throw new RequestError({ reason: 'key_missing' });
  return { bytes: password, only: 'score' };
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

async function principalOf({ bytes, only }: PresentedKey, keys: readonly ApiKey[]): Promise<Principal> {
  const presented = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  // Compares all keys, each in constant time, so that the duration reveals neither which key matched nor how much of
  // it.
  let found: Principal | null = null;
  for (const { name, sha256, scopes } of keys) {
    if (crypto.subtle.timingSafeEqual(presented, sha256)) found = { name, project: DEFAULT_PROJECT, scopes };
  }
  if (found === null) throw new RequestError({ reason: 'key_unknown' });
  if (only === null) return found;
  return { ...found, scopes: found.scopes.has(only) ? new Set([only]) : new Set() };
}
