/**
 * The Worker's configuration, read once an isolate into a readonly value. Every setting is checked in full: a typo is a
 * configuration problem that refuses requests, never a silent default.
 */

import { pathText, problemsOfIssues } from '../src/input-problem.ts';
import { apiKeysSchema, type Scope } from '../src/wire/api-keys.ts';
import { isAiBinding, isService } from './backends/bindings.ts';
import { readBackends, type Surroundings } from './backends/settings.ts';
import type { BackendsConfig } from './backends/settings-schema.ts';

/** Bindings of wrangler.toml (worker-configuration.d.ts) and the secrets, which no file knows. */
export type Environment = Env & {
  /** JSON: `{name: {"sha256": hex, "scopes": [...]}}`. */
  readonly API_KEYS?: string;
  /** JSON: the model backends (backends/settings.ts). */
  readonly BACKENDS?: string;
  /** Signs judgments, and whose signatures are known (storage/issuer-settings.ts). */
  readonly ISSUER_KEY?: string;
  readonly ISSUER_KEYS_PREVIOUS?: string;
  readonly TRUSTED_ISSUERS?: string;
  /** Days after the last recording that a run is kept; absent = until it is deleted. */
  readonly RUN_RETENTION_DAYS?: string;
  /** "true" = webhooks may be registered at http://127.0.0.1. For tests and receivers under development. */
  readonly WEBHOOK_ALLOW_LOOPBACK?: string;
};

export type ApiKey = { readonly name: string; readonly sha256: Uint8Array; readonly scopes: ReadonlySet<Scope> };

export type Settings = {
  readonly allowAnonymous: boolean;
  readonly allowLexicalJudge: boolean;
  readonly allowExtractiveRefiner: boolean;
  readonly allowWebhookLoopback: boolean;
  /** `null` = runs are kept until they are deleted. */
  readonly runRetentionDays: number | null;
  /** Empty = no key is configured. */
  readonly keys: readonly ApiKey[];
  readonly backends: BackendsConfig;
};

/** What is wrong with the configuration, for the operator's log: names of settings and fields, no values. */
export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly setting: string; readonly problems: readonly string[] };

/** Parses the configuration of an environment: its variables and secrets, and what is bound. */
export function readSettings(environment: Environment): SettingsResult {
  const allowAnonymous = readSwitch(environment.ALLOW_ANONYMOUS);
  if (allowAnonymous === null) return badSwitch('ALLOW_ANONYMOUS');
  const allowLexicalJudge = readSwitch(environment.ALLOW_LEXICAL_JUDGE);
  if (allowLexicalJudge === null) return badSwitch('ALLOW_LEXICAL_JUDGE');
  const allowExtractiveRefiner = readSwitch(environment.ALLOW_EXTRACTIVE_REFINER);
  if (allowExtractiveRefiner === null) return badSwitch('ALLOW_EXTRACTIVE_REFINER');
  const allowWebhookLoopback = readSwitch(environment.WEBHOOK_ALLOW_LOOPBACK);
  if (allowWebhookLoopback === null) return badSwitch('WEBHOOK_ALLOW_LOOPBACK');
  const runRetentionDays = readDays(environment.RUN_RETENTION_DAYS);
  if (runRetentionDays === 'malformed') {
    return {
      ok: false,
      setting: 'RUN_RETENTION_DAYS',
      problems: ['expected a number of days, 1 to 36500, or nothing'],
    };
  }
  const keys = readApiKeys(environment.API_KEYS);
  if (!keys.ok) return { ok: false, setting: 'API_KEYS', problems: keys.problems };
  const backends = readBackends(environment.BACKENDS, surroundingsOf(environment));
  if (!backends.ok) return { ok: false, setting: 'BACKENDS', problems: backends.problems };
  return {
    ok: true,
    settings: {
      allowAnonymous,
      allowLexicalJudge,
      allowExtractiveRefiner,
      allowWebhookLoopback,
      runRetentionDays,
      keys: keys.keys,
      backends: backends.config,
    },
  };
}

/** What else BACKENDS may name. */
function surroundingsOf(environment: Environment): Surroundings {
  const named = (name: string): unknown => Reflect.get(environment, name);
  return {
    secret: (name) => {
      const value = named(name);
      return typeof value === 'string' ? value : undefined;
    },
    isBound: (name) => isAiBinding(named(name)) || isService(named(name)),
  };
}

function readSwitch(text: string | undefined): boolean | null {
  if (text === 'true') return true;
  return text === undefined || text === '' || text === 'false' ? false : null;
}

function readDays(text: string | undefined): number | null | 'malformed' {
  if (text === undefined || text === '') return null;
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_RETENTION_DAYS ? Number(text) : 'malformed';
}

const MAX_RETENTION_DAYS = 36_500;

function badSwitch(setting: string): SettingsResult {
  return { ok: false, setting, problems: ['expected "true" or "false"'] };
}

type ApiKeysResult =
  | { readonly ok: true; readonly keys: readonly ApiKey[] }
  | { readonly ok: false; readonly problems: readonly string[] };

function readApiKeys(text: string | undefined): ApiKeysResult {
  if (text === undefined || text === '') return { ok: true, keys: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problems: ['expected JSON'] };
    throw error;
  }
  const parsed = apiKeysSchema.safeParse(value);
  if (!parsed.success) {
    const problems = problemsOfIssues(parsed.error.issues, value);
    return { ok: false, problems: problems.map(({ path, message }) => `${pathText(path)}: ${message}`) };
  }
  const keys = Object.entries(parsed.data).map(([name, { sha256, scopes }]) => ({
    name,
    sha256: bytesOfHex(sha256),
    scopes: new Set(scopes),
  }));
  return { ok: true, keys };
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/**
 * A reader that parses the configuration once an isolate and again only if it differs (tests). A problem is reported
 * once to `onProblem`.
 */
export function createSettingsReader(
  onProblem: (problem: Extract<SettingsResult, { ok: false }>) => void,
): (environment: Environment) => SettingsResult {
  let last: { readonly text: string; readonly result: SettingsResult } | null = null;
  return (environment) => {
    // Everything, as BACKENDS may name any secret and binding.
    const text = JSON.stringify(Object.entries(environment).map(([name, value]) => [name, textOrKind(value)]));
    if (last?.text !== text) {
      last = { text, result: readSettings(environment) };
      if (!last.result.ok) onProblem(last.result);
    }
    return last.result;
  };
}

function textOrKind(value: unknown): string {
  return typeof value === 'string' ? `text ${value}` : typeof value;
}

/** For the operator's log. */
export function reportProblem({ setting, problems }: Extract<SettingsResult, { ok: false }>): void {
  console.error(JSON.stringify({ event: 'config_invalid', setting, problems }));
}
