/**
 * The signing keys of a deployment (SECURITY.md): ISSUER_KEY signs now, the keys in ISSUER_KEYS_PREVIOUS signed before,
 * and records signed with the keys in TRUSTED_ISSUERS are accepted, too. The settings are parsed once per isolate, and
 * again if they change.
 */

import { createKnownIssuers, type IssuerKey, type KnownIssuers, type Signing } from '../../src/judgments/issuer.ts';
import { readIssuer, readPublicKeys } from '../../src/judgments/issuer-keys.ts';
import type { Result } from '../../src/result.ts';
import type { Environment } from '../environment.ts';
import { logEvent } from '../log-event.ts';

type IssuerSetting = 'ISSUER_KEY' | 'ISSUER_KEYS_PREVIOUS' | 'TRUSTED_ISSUERS';

/** The settings that are read. */
type IssuerEnvironment = Pick<Environment, IssuerSetting>;

export type IssuerKeys = {
  readonly signing: Signing;
  /** The key that signs now. */
  readonly current: IssuerKey | null;
  /** Keys that signed before. */
  readonly previous: readonly IssuerKey[];
  /** Own keys whose signatures are no longer accepted. */
  readonly revoked: readonly IssuerKey[];
  readonly trusted: readonly IssuerKey[];
};

/** The keys, or the setting that is malformed. */
type IssuerResult = Result<IssuerKeys, IssuerSetting>;

/**
 * The last settings and their parsed result. The cache holds the result, not a promise: requests of a Worker cannot
 * wait for I/O of one another.
 */
let last: { readonly text: string; readonly result: IssuerResult } | null = null;

/** Parses the settings. A problem is logged once and names the setting, never its value. */
export async function issuerOf(environment: IssuerEnvironment): Promise<IssuerResult> {
  const { ISSUER_KEY = '', ISSUER_KEYS_PREVIOUS = '', TRUSTED_ISSUERS = '' } = environment;
  const text = JSON.stringify([ISSUER_KEY, ISSUER_KEYS_PREVIOUS, TRUSTED_ISSUERS]);
  if (last?.text === text) return last.result;
  const result = await readSettings(ISSUER_KEY, ISSUER_KEYS_PREVIOUS, TRUSTED_ISSUERS);
  last = { text, result };
  return result;
}

async function readSettings(current: string, previous: string, trusted: string): Promise<IssuerResult> {
  const issuer = current === '' ? null : await readIssuer(current);
  if (issuer?.ok === false) return refuse('ISSUER_KEY', issuer.error);
  const before = await keysOf(previous);
  if (!before.ok) return refuse('ISSUER_KEYS_PREVIOUS', before.error);
  const others = await keysOf(trusted);
  if (!others.ok) return refuse('TRUSTED_ISSUERS', others.error);
  const own = issuer === null ? null : issuer.value;
  const revoked = new Set([...before.value.revoked, ...others.value.revoked].map(({ key_id }) => key_id));
  if (own !== null && revoked.has(own.key.key_id)) return refuse('ISSUER_KEY', 'the key is revoked: it may not sign');
  const counting = (keys: readonly IssuerKey[]) => keys.filter(({ key_id }) => !revoked.has(key_id));
  const signed = counting(before.value.keys);
  const taken = counting(others.value.keys);
  const known: KnownIssuers = createKnownIssuers([...(own === null ? [] : [own.key]), ...signed, ...taken]);
  return {
    ok: true,
    value: {
      signing: { issuer: own, known },
      current: own?.key ?? null,
      previous: signed,
      revoked: before.value.revoked,
      trusted: taken,
    },
  };
}

async function keysOf(text: string): ReturnType<typeof readPublicKeys> {
  return text === '' ? { ok: true, value: { keys: [], revoked: [] } } : readPublicKeys(text);
}

function refuse(setting: IssuerSetting, problem: string): IssuerResult {
  logEvent('error', { event: 'config_invalid', setting, problems: [problem] });
  return { ok: false, error: setting };
}
