/**
 * Who may ask what. Everything but `/healthz` is refused unless a request proves a key, or no key is configured and
 * ALLOW_ANONYMOUS is "true". A malformed configuration refuses everything: it never opens anything.
 */
import { createMiddleware } from 'hono/factory';
import { SCOPES, type Scope } from '../../src/wire/api-keys.ts';
import type { ApiKey } from '../environment.ts';
import { RequestError } from '../failures.ts';
import type { PlatformFactory } from '../platform.ts';
import type { AppEnvironment, Principal } from './context.ts';

const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz']);

/** Trainers that send no header carry the key in the URL (`https://k:KEY@host/…`), which arrives as Basic auth. */
const ADAPTER_PATHS = '/v1/adapters/';

/** Signed requests prove themselves: nobody is behind them until webhook-score.ts has checked, so no other route opens. */
const SIGNED_PATH = /^\/v1\/webhooks\/[^/]+\/score$/;

const ANONYMOUS: Principal = { name: 'anonymous', scopes: new Set(SCOPES) };

/** Authenticates every request but those of public paths, and puts the settings on the context. */
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

/** Refuses a principal without the scope. */
export function requireScope(scope: Scope) {
  return createMiddleware<AppEnvironment>(async function requireScope(c, next) {
    if (c.get('principal')?.scopes.has(scope) !== true) throw new RequestError({ reason: 'scope_missing', scope });
    return next();
  });
}

type PresentedKey = {
  readonly bytes: Uint8Array;
  /** The only scope it may be used for, whatever the key has; `null` = all of the key's. A URL is copied into logs. */
  readonly only: Scope | null;
};

const BEARER = /^Bearer +([^ ]+) *$/i;
const BASIC = /^Basic +([A-Za-z0-9+/=]+) *$/i;

/** The key of a header. @throws RequestError where there is none, or where it came in a way that is not taken here. */
function presentedKey(authorization: string | undefined, inUrl: boolean): PresentedKey {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token !== undefined) return { bytes: new TextEncoder().encode(token), only: null };
  const credentials = inUrl ? BASIC.exec(authorization ?? '')?.[1] : undefined;
  const password = credentials === undefined ? null : passwordOf(credentials);
  if (password === null) throw new RequestError({ reason: 'key_missing' });
  return { bytes: password, only: 'score' };
}

/** The password of Basic credentials: what follows the first colon. The user name is anything. */
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
  // All keys are compared, each in constant time, so that the time tells nothing of which key or how much of it fits.
  let found: Principal | null = null;
  for (const { name, sha256, scopes } of keys) {
    if (crypto.subtle.timingSafeEqual(presented, sha256)) found = { name, scopes };
  }
  if (found === null) throw new RequestError({ reason: 'key_unknown' });
  if (only === null) return found;
  return { ...found, scopes: found.scopes.has(only) ? new Set([only]) : new Set() };
}
