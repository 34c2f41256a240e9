/**
 * Reads the Worker's configuration into a readonly value, once per isolate. Every setting is checked: a typo makes all
 * requests fail with a configuration problem instead of using a default.
 */

import { isAiBinding, isService } from '../service/backends/bindings.ts';
import { readBackends, type Surroundings } from '../service/backends/settings.ts';
import type { BackendsConfig } from '../service/backends/settings-schema.ts';
import { pathText, problemsOfIssues } from '../src/input-problem.ts';
import { parsedJson } from '../src/json.ts';
import { MAX_BUDGET } from '../src/limits.ts';
import type { Failure, Result } from '../src/result.ts';
import { apiKeysSchema, type Scope } from '../src/wire/api-keys.ts';
import { DEFAULT_DESKS } from './desk/desk-layout.ts';
import { logEvent } from './log-event.ts';
import type { Budgets } from './projects/budgets.ts';
import { readSecretKeys, type SecretKey } from './secret-keys.ts';
import { configuredWarnings } from './shard-warnings.ts';

/** The bindings of wrangler.toml (worker-configuration.d.ts), and the secrets and variables that it does not list. */
export type Environment = Env & {
  /** JSON: `{name: {"sha256": hex, "scopes": [...]}}`. */
  readonly API_KEYS?: string;
  /** JSON: the model backends (backends/settings-schema.ts). */
  readonly BACKENDS?: string;
  /** The key that signs judgments, and the keys of trusted issuers (storage/issuer-settings.ts). */
  readonly ISSUER_KEY?: string;
  readonly ISSUER_KEYS_PREVIOUS?: string;
  readonly TRUSTED_ISSUERS?: string;
  /** The dataset of Analytics Engine; absent = no data points are written. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
  /** Number of Durable Objects that call the judges (docs/guides/deploy.md). */
  readonly DESKS?: string;
  /** Days that a run is kept after its last recording; absent = until it is deleted. */
  readonly RUN_RETENTION_DAYS?: string;
  /** Days that a judgment is kept in KV after it was made; absent = until it is deleted. */
  readonly JUDGMENT_RETENTION_DAYS?: string;
  /** Number of objects that hold a run which begins now; absent = 1. */
  readonly RUN_SHARDS?: string;
  /** The daily budgets of each project that has none of its own; absent = no limit (docs/guides/projects.md). */
  readonly JUDGE_CALLS_PER_DAY?: string;
  readonly JUDGE_TOKENS_PER_DAY?: string;
  /** "project" = each project has judgments of its own; absent or "shared" = equal questions share them. */
  readonly JUDGMENTS_SCOPE?: string;
  /** "failures" = only requests that failed have a line in the log; absent or "all" = every request has one. */
  readonly REQUEST_LOG?: string;
  /** "true" = spans are lines of the log, which `citeward serve` sends to a collector (metrics/spans.ts). */
  readonly LOG_SPANS?: string;
  /** The rate limits of keys by tier; absent = no limit. */
  readonly RATE_LIMIT_STANDARD?: RateLimit;
  readonly RATE_LIMIT_HIGH?: RateLimit;
  /** Reaches public addresses only. `citeward serve` binds it; absent = the platform has no private network. */
  readonly PUBLIC_NETWORK?: Pick<Fetcher, 'fetch'>;
  /** Host names, separated by commas, under which a server without keys answers (docs/guides/serve.md). */
  readonly ALLOWED_HOSTS?: string;
  /** The header in which a proxy in front of the Worker names the caller's address (docs/guides/serve.md). */
  readonly CLIENT_ADDRESS_HEADER?: string;
  /** "true" = webhooks may be registered at http://127.0.0.1, for tests and local development. */
  readonly WEBHOOK_ALLOW_LOOPBACK?: string;
  /** Keys that encrypt the secrets of webhooks (webhooks/secret-keys.ts); absent = they are stored plain. */
  readonly WEBHOOK_SECRETS_KEY?: string;
};

type ApiKey = { readonly name: string; readonly sha256: Uint8Array; readonly scopes: ReadonlySet<Scope> };

export type Settings = {
  /** Whether projects share the judgments of equal questions. */
  readonly judgmentsScope: 'shared' | 'project';
  readonly requestLog: 'all' | 'failures';
  /** The daily budgets of each project that has none of its own. */
  readonly budgets: Budgets;
  readonly allowAnonymous: boolean;
  readonly allowLexicalJudge: boolean;
  readonly allowExtractiveRefiner: boolean;
  readonly allowWebhookLoopback: boolean;
  /** The first one encrypts the secrets of webhooks; all decrypt. */
  readonly webhookSecretKeys: readonly SecretKey[];
  /** Host names, in lower case, under which a server without keys answers besides `localhost`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** `null` = the address of the connection. */
  readonly clientAddressHeader: string | null;
  readonly desks: number;
  /** `null` = runs are kept until they are deleted. */
  readonly runRetentionDays: number | null;
  /** `null` = judgments are kept until they are deleted; else at least `runRetentionDays`. */
  readonly judgmentRetentionDays: number | null;
  /** Number of objects that hold a run which begins now. */
  readonly runShards: number;
  /** Empty = no key is configured. */
  readonly keys: readonly ApiKey[];
  readonly backends: BackendsConfig;
};

/** What is wrong with a setting. Problems name settings and fields, never values. */
type MalformedSetting = { readonly setting: string; readonly problems: readonly string[] };

/** The settings, or the first malformed one. */
type SettingsResult = Result<Settings, MalformedSetting>;

/** Reads the settings from the variables, secrets and bindings of an environment. */
export function readSettings(environment: Environment): SettingsResult {
  const allowAnonymous = readSwitch(environment.ALLOW_ANONYMOUS);
  if (allowAnonymous === null) return badSwitch('ALLOW_ANONYMOUS');
  const allowLexicalJudge = readSwitch(environment.ALLOW_LEXICAL_JUDGE);
  if (allowLexicalJudge === null) return badSwitch('ALLOW_LEXICAL_JUDGE');
  const allowExtractiveRefiner = readSwitch(environment.ALLOW_EXTRACTIVE_REFINER);
  if (allowExtractiveRefiner === null) return badSwitch('ALLOW_EXTRACTIVE_REFINER');
  const allowWebhookLoopback = readSwitch(environment.WEBHOOK_ALLOW_LOOPBACK);
  if (allowWebhookLoopback === null) return badSwitch('WEBHOOK_ALLOW_LOOPBACK');
  const webhookSecretKeys = readSecretKeys(environment.WEBHOOK_SECRETS_KEY);
  if (webhookSecretKeys === null) {
    const expected = 'expected 32 bytes as base64 (openssl rand -base64 32); after a comma the keys before';
    return malformed('WEBHOOK_SECRETS_KEY', [expected]);
  }
  const allowedHosts = readHosts(environment.ALLOWED_HOSTS);
  if (allowedHosts === null) {
    const expected =
      'expected host names separated by commas, without scheme and port: "gpu-3.cluster.internal,citeward"';
    return malformed('ALLOWED_HOSTS', [expected]);
  }
  const clientAddressHeader = environment.CLIENT_ADDRESS_HEADER?.toLowerCase() || null;
  if (clientAddressHeader !== null && !HEADER_NAME.test(clientAddressHeader)) {
    return malformed('CLIENT_ADDRESS_HEADER', ['expected the name of a header']);
  }
  const runRetentionDays = readDays(environment.RUN_RETENTION_DAYS);
  if (runRetentionDays === 'malformed') {
    const expected =
      'expected a whole number of days from 1 to 36500; leave it empty to keep runs until they are deleted';
    return malformed('RUN_RETENTION_DAYS', [expected]);
  }
  const judgmentRetentionDays = readDays(environment.JUDGMENT_RETENTION_DAYS);
  if (judgmentRetentionDays === 'malformed') {
    const problems = ['expected a whole number of days from 1 to 36500; leave it empty to keep judgments'];
    return malformed('JUDGMENT_RETENTION_DAYS', problems);
  }
  if (judgmentRetentionDays !== null && judgmentRetentionDays < (runRetentionDays ?? Number.POSITIVE_INFINITY)) {
    const runs = runRetentionDays === null ? 'which is not set, so runs are kept' : `which is ${runRetentionDays}`;
    const problems = [
      `expected at least as many days as RUN_RETENTION_DAYS, ${runs}: a run would outlive its judgments`,
    ];
    return malformed('JUDGMENT_RETENTION_DAYS', problems);
  }
  const desks = readCount(environment.DESKS, DEFAULT_DESKS, MAX_DESKS);
  if (desks === 'malformed') {
    return malformed('DESKS', [`expected a whole number from 1 to ${MAX_DESKS}`]);
  }
  const runShards = readCount(environment.RUN_SHARDS, 1, MAX_RUN_SHARDS);
  if (runShards === 'malformed') {
    return malformed('RUN_SHARDS', [`expected a whole number from 1 to ${MAX_RUN_SHARDS}`]);
  }
  const judgmentsScope = environment.JUDGMENTS_SCOPE === '' ? 'shared' : (environment.JUDGMENTS_SCOPE ?? 'shared');
  if (judgmentsScope !== 'shared' && judgmentsScope !== 'project') {
    return malformed('JUDGMENTS_SCOPE', ['expected "shared" or "project"']);
  }
  const requestLog = environment.REQUEST_LOG === '' ? 'all' : (environment.REQUEST_LOG ?? 'all');
  if (requestLog !== 'all' && requestLog !== 'failures') {
    return malformed('REQUEST_LOG', ['expected "all" or "failures"']);
  }
  const judge_calls_per_day = readBudget(environment.JUDGE_CALLS_PER_DAY);
  if (judge_calls_per_day === 'malformed') return badBudget('JUDGE_CALLS_PER_DAY');
  const judge_tokens_per_day = readBudget(environment.JUDGE_TOKENS_PER_DAY);
  if (judge_tokens_per_day === 'malformed') return badBudget('JUDGE_TOKENS_PER_DAY');
  const keys = readApiKeys(environment.API_KEYS);
  if (!keys.ok) return malformed('API_KEYS', keys.error);
  const backends = readBackends(environment.BACKENDS, surroundingsOf(environment));
  if (!backends.ok) return malformed('BACKENDS', backends.error);
  return {
    ok: true,
    value: {
      judgmentsScope,
      requestLog,
      budgets: { judge_calls_per_day, judge_tokens_per_day },
      allowAnonymous,
      allowLexicalJudge,
      allowExtractiveRefiner,
      allowWebhookLoopback,
      webhookSecretKeys,
      allowedHosts,
      clientAddressHeader,
      desks,
      runRetentionDays,
      judgmentRetentionDays,
      runShards,
      keys: keys.value,
      backends: backends.value,
    },
  };
}

/** The secrets and bindings that BACKENDS may name. */
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

/** The names in lower case; `null` = malformed. */
function readHosts(text = ''): ReadonlySet<string> | null {
  const names = text
    .toLowerCase()
    .split(',')
    .flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  return names.every((name) => HOST_NAME.test(name)) ? new Set(names) : null;
}

const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/;
const HEADER_NAME = /^[a-z0-9-]{1,64}$/;

function readDays(text: string | undefined): number | null | 'malformed' {
  if (text === undefined || text === '') return null;
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_RETENTION_DAYS ? Number(text) : 'malformed';
}

function readBudget(text: string | undefined): number | null | 'malformed' {
  if (text === undefined || text === '') return null;
  return /^[1-9]\d*$/.test(text) && Number(text) <= MAX_BUDGET ? Number(text) : 'malformed';
}

function badBudget(setting: string): Failure<MalformedSetting> {
  return malformed(setting, [`expected a whole number from 1 to ${MAX_BUDGET}; leave it empty for no limit`]);
}

/** @param usual if the setting is absent. */
function readCount(text: string | undefined, usual: number, most: number): number | 'malformed' {
  if (text === undefined || text === '') return usual;
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= most ? Number(text) : 'malformed';
}

/** With 128 slots each, as many as a judge may have. */
const MAX_DESKS = 1_024;

const MAX_RETENTION_DAYS = 36_500;

/** A reply about a run waits for all of its shards. */
const MAX_RUN_SHARDS = 64;

function malformed(setting: string, problems: readonly string[]): Failure<MalformedSetting> {
  return { ok: false, error: { setting, problems } };
}

function badSwitch(setting: string): Failure<MalformedSetting> {
  return malformed(setting, ['expected "true" or "false"']);
}

type ApiKeysResult = Result<readonly ApiKey[], readonly string[]>;

function readApiKeys(text: string | undefined): ApiKeysResult {
  if (text === undefined || text === '') return { ok: true, value: [] };
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, error: ['expected JSON'] };
  const parsed = apiKeysSchema.safeParse(value);
  if (!parsed.success) {
    const problems = problemsOfIssues(parsed.error.issues, value);
    return { ok: false, error: problems.map(({ path, message }) => `${pathText(path)}: ${message}`) };
  }
  const keys = Object.entries(parsed.data).map(([name, { sha256, scopes }]) => ({
    name,
    sha256: bytesOfHex(sha256),
    scopes: new Set(scopes),
  }));
  return { ok: true, value: keys };
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/**
 * Creates a reader that parses the configuration once per isolate, and again only if it has changed (in tests). It
 * reports each result once to `onRead`.
 */
export function createSettingsReader(
  onRead: (result: SettingsResult) => void,
): (environment: Environment) => SettingsResult {
  let last: { readonly environment: Environment; readonly text: string; readonly result: SettingsResult } | null = null;
  return (environment) => {
    // All requests of an isolate get the same object.
    if (last?.environment === environment) return last.result;
    // Compares all entries, because BACKENDS may name any secret or binding.
    const text = JSON.stringify(Object.entries(environment).map(([name, value]) => [name, textOrKind(value)]));
    if (last?.text === text) last = { ...last, environment };
    else {
      last = { environment, text, result: readSettings(environment) };
      onRead(last.result);
    }
    return last.result;
  };
}

function textOrKind(value: unknown): string {
  return typeof value === 'string' ? `text ${value}` : typeof value;
}

/** Writes what is wrong with the settings, or may be, to the operator's log. */
export function reportSettings(result: SettingsResult): void {
  if (!result.ok) reportProblem(result.error);
  for (const warning of result.ok ? configuredWarnings(result.value) : []) {
    logEvent('warn', { event: 'config_warning', ...warning });
  }
}

/** Writes a problem to the operator's log. */
export function reportProblem({ setting, problems }: MalformedSetting): void {
  logEvent('error', { event: 'config_invalid', setting, problems });
}
