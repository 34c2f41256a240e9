/**
 * Builds the ports of the services from the bindings of a deployment. Bindings become ports here and nowhere else: for
 * requests, for queue consumers and inside Durable Objects.
 */

import {
  createKvJudgmentStore,
  createRecentJudgments,
  type JudgmentKv,
  type KvJudgmentStore,
  MAX_RECENT_JUDGMENT_CHARS,
  MAX_RECENT_JUDGMENTS,
} from '../lib/kv-store.ts';
import { configuredCodeRunner } from '../service/backends/code-runner.ts';
import { type Backends, configuredBackends } from '../service/backends/configured.ts';
import type { FailureOf } from '../service/failures.ts';
import { makeGroupRubrics } from '../service/make-rubrics.ts';
import type { AgentPlatform, ReplayPlatform, RubricMaker } from '../service/ports.ts';
import { createSourceReader, RECENT_SOURCES } from '../src/citations/recent-sources.ts';
import type { CallClass } from '../src/judgments/desk.ts';
import type { ReasonStore } from '../src/judgments/reasons.ts';
import type { JudgmentStore } from '../src/judgments/store.ts';
import { createRecentlyUsed } from '../src/recently-used.ts';
import type { Failure, Result } from '../src/result.ts';
import { createDeskClient, type DeskClient } from './desk/desk-client.ts';
import { type DeskLayout, layoutOf } from './desk/desk-layout.ts';
import { createSettingsReader, type Environment, reportSettings, type Settings } from './environment.ts';
import { KvOperations, withinOperations } from './kv-operations.ts';
import { LedgerClient } from './ledger/ledger-client.ts';
import type { LedgerStores } from './ledger/run-recording.ts';
import { RunRubrics } from './ledger/run-rubrics.ts';
import type { Payer } from './projects/budgets.ts';
import { type JudgmentScope, scopedKv } from './projects/judgment-scope.ts';
import { FileStore } from './storage/files.ts';
import { type IssuerKeys, issuerOf } from './storage/issuer-settings.ts';
import { retainedKv } from './storage/judgment-retention.ts';
import { createKvReasonStore } from './storage/kept-reasons.ts';
import { UploadStore } from './storage/uploads.ts';

/** The replaceable parts of a platform. Tests pass their own. */
export type PlatformParts = {
  /** The judges, the sandbox and the generators of a deployment. */
  readonly backendsOf: (settings: Settings, environment: Environment) => Backends;
  /** The judgment store. Default: KV behind a cache of the judgments that this isolate saw last. */
  readonly judgmentStoreOf: (kv: JudgmentKv, scope: JudgmentScope) => JudgmentStore;
  /** Makes the criteria of rubrics that evolve. Default: a judge of the deployment writes them. */
  readonly makeRubrics: RubricMaker;
};

/** For whom a platform works. */
type PlatformUse = {
  readonly callClass: CallClass;
  /** The project whose runs, files and uploads it reads and writes, and which pays for judge calls. */
  readonly payer: Payer;
  /** Counts the KV operations of the invocation. Default: the platform is the only one of its invocation. */
  readonly operations?: KvOperations;
};

/** The ports that do not depend on the deployment's signing key. */
export type Stores = {
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly ledger: LedgerClient;
  readonly rubrics: RunRubrics;
  readonly judgments: JudgmentStore;
  readonly reasons: ReasonStore;
  readonly desk: DeskClient;
};

export type Platform = Stores &
  AgentPlatform &
  ReplayPlatform & {
    readonly settings: Settings;
    readonly issuer: IssuerKeys;
  };

/** A setting is malformed. The operator's log names its fields. */
type ConfigFailure = FailureOf<'config_invalid'>;

export type PlatformFactory = Pick<PlatformParts, 'backendsOf'> & {
  readonly settingsOf: (environment: Environment) => Result<Settings, ConfigFailure>;
  readonly createStores: (
    environment: Environment,
    settings: Settings,
    use: Pick<PlatformUse, 'payer' | 'operations'>,
  ) => Stores;
  /** The platform of work that belongs to a project and has no key. */
  readonly createProjectPlatform: (
    environment: Environment,
    project: string,
    use: Required<Pick<PlatformUse, 'callClass' | 'operations'>>,
  ) => Promise<Result<Platform, ConfigFailure>>;
  readonly createPlatform: (environment: Environment, use: PlatformUse) => Promise<Result<Platform, ConfigFailure>>;
};

/** One per isolate, which all its Durable Objects share: it bounds the memory of the sources that are kept. */
export const readSources = createSourceReader(RECENT_SOURCES);

/** One per isolate: it parses the settings once, and backends remember their last failures per settings object. */
const readSettings = createSettingsReader(reportSettings);

/** Creates the factory that an isolate uses for all its requests. */
export function createPlatformFactory(parts: Partial<PlatformParts> = {}): PlatformFactory {
  const { backendsOf = configuredBackends, judgmentStoreOf = cachedJudgments(), makeRubrics } = parts;

  const settingsOf: PlatformFactory['settingsOf'] = (environment) => {
    const read = readSettings(environment);
    return read.ok ? read : malformed(read.error.setting);
  };

  const createStores: PlatformFactory['createStores'] = (environment, settings, use) => {
    const { payer, operations = new KvOperations() } = use;
    const scope = scopeOf(settings, payer);
    const kv = operations.countedKv(environment.JUDGMENTS);
    const retained = retainedKv(kv, () => settings.judgmentRetentionDays);
    const layout = layoutIn(backendsOf(settings, environment), settings);
    const desk = createDeskClient(environment.JUDGE_DESK, layout, payer, scope);
    return {
      files: new FileStore(environment.FILES, environment.DB, payer.project),
      uploads: new UploadStore(environment.FILES, environment.DB, payer.project),
      ledger: new LedgerClient(ledgerStores(environment, settings, payer), settings.runRetentionDays),
      rubrics: new RunRubrics(ledgerStores(environment, settings, payer)),
      judgments: withinOperations(judgmentStoreOf(retained, scope), operations, desk),
      reasons: createKvReasonStore(kv, payer.project, operations),
      desk,
    };
  };

  const createPlatform: PlatformFactory['createPlatform'] = async (environment, { callClass, ...use }) => {
    const settings = settingsOf(environment);
    if (!settings.ok) return settings;
    const issuer = await issuerOf(environment);
    if (!issuer.ok) return malformed(issuer.error);
    const bindingOf = (name: string): unknown => Reflect.get(environment, name);
    const stores = createStores(environment, settings.value, use);
    const value: Platform = {
      ...stores,
      records: stores,
      readSources,
      settings: settings.value,
      issuer: issuer.value,
      signing: issuer.value.signing,
      class: callClass,
      makeRubrics: (wanted) => (makeRubrics ?? makeGroupRubrics)(wanted, value),
      backends: backendsOf(settings.value, environment),
      runCode: configuredCodeRunner(settings.value.backends.sandbox, bindingOf),
    };
    return { ok: true, value };
  };

  const createProjectPlatform: PlatformFactory['createProjectPlatform'] = async (environment, project, use) => {
    const settings = settingsOf(environment);
    if (!settings.ok) return settings;
    return createPlatform(environment, { ...use, payer: { project, budgets: settings.value.budgets } });
  };

  return { backendsOf, settingsOf, createStores, createPlatform, createProjectPlatform };
}

function ledgerStores(environment: Environment, settings: Settings, { project }: Payer): LedgerStores {
  const { DB: db, FILES: bucket, RUN_LEDGER: objects } = environment;
  return { project, db, bucket, objects, shards: settings.runShards };
}

/** The layout of a deployment's desks. */
export function layoutIn({ named, sandbox }: Backends, { desks }: Settings): DeskLayout {
  return layoutOf(desks, sandbox === null ? named : [...named, sandbox]);
}

function malformed(setting: string): Failure<ConfigFailure> {
  return { ok: false, error: { reason: 'config_invalid', setting } };
}

function cachedJudgments(): PlatformParts['judgmentStoreOf'] {
  const shared = createRecentJudgments({ entries: MAX_RECENT_JUDGMENTS, chars: MAX_RECENT_JUDGMENT_CHARS });
  const ofProjects = createRecentlyUsed<typeof shared>({ entries: CACHED_PROJECTS, size: CACHED_PROJECTS });
  return (kv, scope) => {
    if (scope === null) return createKvJudgmentStore(kv, shared);
    const recent =
      ofProjects.get(scope) ??
      createRecentJudgments({
        entries: MAX_RECENT_JUDGMENTS / CACHED_PROJECTS,
        chars: MAX_RECENT_JUDGMENT_CHARS / CACHED_PROJECTS,
      });
    ofProjects.add(scope, recent, 1);
    return createKvJudgmentStore(
      scopedKv(kv, () => scope),
      recent,
    );
  };
}

/** Projects whose judgments an isolate caches at a time, where they have judgments of their own. */
const CACHED_PROJECTS = 8;

/** The scope of the judgments of a project. */
function scopeOf({ judgmentsScope }: Settings, { project }: Payer): JudgmentScope {
  return judgmentsScope === 'project' ? project : null;
}

/** A judgment store without a cache, for Durable Objects, whose memory is needed for their own work. */
export function uncachedJudgments(kv: JudgmentKv, scope: JudgmentScope): JudgmentStore {
  return uncachedJudgmentsIn(kv, () => scope);
}

/** The same, of a scope that is known later. */
export function uncachedJudgmentsIn(kv: JudgmentKv, scopeOf: () => JudgmentScope): KvJudgmentStore {
  return createKvJudgmentStore(scopedKv(kv, scopeOf), createRecentJudgments({ entries: 0, chars: 0 }));
}
