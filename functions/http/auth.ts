/**
 * Who may ask what. Everything but `/healthz` is refused unless a request proves a key, or no key is configured and
 * ALLOW_ANONYMOUS is "true". A malformed configuration refuses everything: it never opens anything.
 */
import { createMiddleware } from 'hono/factory';
import { SCOPES, type Scope } from '../../src/schema/api-keys.ts';
import type { ApiKey, createSettingsReader } from '../environment.ts';
import type { AppEnvironment, Principal } from './context.ts';
import { RequestError } from './errors.ts';

const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz']);

const ANONYMOUS: Principal = { name: 'anonymous', scopes: new Set(SCOPES) };

/** Authenticates every request but those of public paths, and puts the settings on the context. */
export function authenticate(settingsOf: ReturnType<typeof createSettingsReader>) {
  return createMiddleware<AppEnvironment>(async function authenticate(c, next) {
    if (PUBLIC_PATHS.has(c.req.path)) return next();
    const read = settingsOf(c.env);
    if (!read.ok) throw new RequestError({ reason: 'config_invalid', setting: read.setting });
    const { keys, allowAnonymous } = read.settings;
    c.set('settings', read.settings);
    if (keys.length > 0) c.set('principal', await principalOf(c.req.header('authorization'), keys));
    else if (allowAnonymous) c.set('principal', ANONYMOUS);
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

const BEARER = /^Bearer +([^ ]+) *$/i;

async function principalOf(authorization: string | undefined, keys: readonly ApiKey[]): Promise<Principal> {
  if (authorization === undefined) throw new RequestError({ reason: 'key_missing' });
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw new RequestError({ reason: 'key_missing' });
  const presented = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)));
  // All keys are compared, each in constant time, so that the time tells nothing of which key or how much of it fits.
  let found: Principal | null = null;
  for (const { name, sha256, scopes } of keys) {
    if (crypto.subtle.timingSafeEqual(presented, sha256)) found = { name, scopes };
  }
  if (found === null) throw new RequestError({ reason: 'key_unknown' });
  return found;
}
