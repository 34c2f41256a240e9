/**
 * Writes the configuration of workerd, in the text format of Cap'n Proto: Citeward, the stores behind its bindings,
 * and the folders on disk. Settings are passed as environment variables of the process, because they contain secrets.
 */
import { join } from 'node:path';
import { SERVE_FILES, type WorkerDescription } from './worker-description.ts';

export type ConfigurationParts = {
  readonly description: WorkerDescription;
  /** Absolute path of the folder with the files of the build. */
  readonly files: string;
  /** Absolute path of the folder for the SQLite files of Durable Objects. */
  readonly objects: string;
  /** `HOST:PORT`. */
  readonly address: string;
  /** The names of the settings. */
  readonly settings: readonly string[];
  /** Certificates in PEM that outbound TLS trusts besides the built-in ones. */
  readonly certificates: readonly string[];
  /** Binds the fake of Workers AI as AI. */
  readonly hasFakeAi: boolean;
};

/** The environment variable of workerd that holds a setting. */
export function variableOf(setting: string): string {
  return `CITEWARD_SETTING_${setting}`;
}

/** A value in the text format; texts are quoted by `text`. */
type Capnp = string;

/** Lets the stores call the `queue` and `scheduled` handlers of Citeward. workerd counts it as experimental. */
const STORES_FLAG = 'service_binding_extra_handlers';
/** Lets an abort signal pass to the fake AI over RPC. */
const FAKE_AI_FLAG = 'enable_abortsignal_rpc';
const RATE_LIMIT_MODULE = 'citeward-internal:rate-limit';

export function configurationText(parts: ConfigurationParts): string {
  const { description, files, objects, address, certificates, hasFakeAi } = parts;
  const services = [
    struct({ name: text('citeward'), worker: citewardWorker(parts) }),
    struct({ name: text('stores'), worker: storesWorker(parts) }),
    struct({ name: text('assets'), worker: assetsWorker(parts) }),
    ...(hasFakeAi ? [struct({ name: text('fake-ai'), worker: fakeAiWorker(parts) })] : []),
    struct({ name: text('dashboard'), disk: struct({ path: text(join(files, SERVE_FILES.dashboard)) }) }),
    struct({ name: text('objects'), disk: struct({ path: text(objects), writable: 'true' }) }),
    struct({ name: text('internet'), network: outboundNetwork(certificates) }),
  ];
  const config = struct({
    services: list(services),
    sockets: list([struct({ name: text('http'), address: text(address), http: '()', service: text('citeward') })]),
    extensions: list(description.rate_limits.length === 0 ? [] : [rateLimitExtension(files)]),
    logging: struct({ structuredLogging: 'true' }),
  });
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${config};\n`;
}

function citewardWorker({ description, files, settings, hasFakeAi }: ConfigurationParts): Capnp {
  const { compatibility_flags, durable_objects, assets } = description;
  const bindings = [
    ...settings.map((name) => binding(name, { fromEnvironment: text(variableOf(name)) })),
    ...description.kv_namespaces.map((name) => binding(name, { kvNamespace: store('KvEntry', name) })),
    ...description.r2_buckets.map((name) => binding(name, { r2Bucket: store('R2Entry', name) })),
    ...description.d1_databases.map((name) => binding(name, { wrapped: database(name) })),
    ...description.queue_producers.map((one) => binding(one.binding, { queue: store('QueueEntry', one.queue) })),
    ...description.rate_limits.map((one) => binding(one.binding, { wrapped: rateLimit(one) })),
    ...durable_objects.map((one) => binding(one.binding, { durableObjectNamespace: text(one.class_name) })),
    binding('ASSETS', { service: text('assets') }),
    binding('SERVE_CLOCK', { service: struct({ name: text('stores'), entrypoint: text('ClockEntry') }) }),
    binding('SERVE_ASSET_PATHS', { json: json(Object.fromEntries(Object.keys(assets).map((path) => [path, true]))) }),
    ...(hasFakeAi ? [binding('AI', { service: text('fake-ai') })] : []),
  ];
  return struct({
    modules: moduleOf(files, SERVE_FILES.citeward),
    compatibilityDate: text(description.compatibility_date),
    compatibilityFlags: list([...compatibility_flags, ...(hasFakeAi ? [FAKE_AI_FLAG] : [])].map(text)),
    bindings: list(bindings),
    durableObjectNamespaces: list(durable_objects.map(({ class_name }) => objectClass(class_name))),
    durableObjectStorage: struct({ localDisk: text('objects') }),
  });
}

function storesWorker({ description, files }: ConfigurationParts): Capnp {
  const classes = {
    KV_OBJECTS: 'KvObject',
    R2_OBJECTS: 'R2Object',
    D1_OBJECTS: 'D1Object',
    QUEUE_OBJECTS: 'QueueObject',
    CLOCKS: 'Clock',
  };
  return struct({
    modules: moduleOf(files, SERVE_FILES.stores),
    compatibilityDate: text(description.compatibility_date),
    compatibilityFlags: list([text(STORES_FLAG)]),
    bindings: list([
      ...Object.entries(classes).map(([name, of]) => binding(name, { durableObjectNamespace: text(of) })),
      binding('CITEWARD', { service: text('citeward') }),
      binding('CONSUMERS', { json: json(description.queue_consumers) }),
      binding('CRONS', { json: json(description.crons) }),
    ]),
    // A queue is in the memory of its object, so the object must stay.
    durableObjectNamespaces: list(
      Object.values(classes).map((of) => objectClass(of, of === 'QueueObject' ? { preventEviction: 'true' } : {})),
    ),
    durableObjectStorage: struct({ localDisk: text('objects') }),
  });
}

function assetsWorker({ description, files }: ConfigurationParts): Capnp {
  return struct({
    modules: moduleOf(files, SERVE_FILES.assets),
    compatibilityDate: text(description.compatibility_date),
    bindings: list([
      binding('FOLDER', { service: text('dashboard') }),
      binding('ASSETS', { json: json(description.assets) }),
    ]),
  });
}

function fakeAiWorker({ description, files }: ConfigurationParts): Capnp {
  return struct({
    modules: moduleOf(files, SERVE_FILES.fakeAi),
    compatibilityDate: text(description.compatibility_date),
    compatibilityFlags: list([text(FAKE_AI_FLAG)]),
  });
}

/** Judges run on this machine and in its network, so private addresses are allowed. */
function outboundNetwork(certificates: readonly string[]): Capnp {
  return struct({
    allow: list([text('public'), text('private')]),
    tlsOptions: struct({ trustBrowserCas: 'true', trustedCertificates: list(certificates.map(text)) }),
  });
}

function rateLimitExtension(files: string): Capnp {
  const module = { name: text(RATE_LIMIT_MODULE), internal: 'true', esModule: embedded(files, SERVE_FILES.rateLimit) };
  return struct({ modules: list([struct(module)]) });
}

function rateLimit({ limit, period }: WorkerDescription['rate_limits'][number]): Capnp {
  return struct({
    moduleName: text(RATE_LIMIT_MODULE),
    innerBindings: list([binding('settings', { json: json({ limit, period }) })]),
  });
}

function database(name: string): Capnp {
  return struct({
    moduleName: text('cloudflare-internal:d1-api'),
    innerBindings: list([binding('fetcher', { service: store('D1Entry', name) })]),
  });
}

/** An entrypoint of the stores, with the name of the namespace, bucket, database or queue. */
function store(entrypoint: string, name: string): Capnp {
  return struct({
    name: text('stores'),
    entrypoint: text(entrypoint),
    props: struct({ json: json({ name }) }),
  });
}

function objectClass(className: string, more: Readonly<Record<string, Capnp>> = {}): Capnp {
  return struct({ className: text(className), uniqueKey: text(`citeward-${className}`), enableSql: 'true', ...more });
}

function binding(name: string, value: Readonly<Record<string, Capnp>>): Capnp {
  return struct({ name: text(name), ...value });
}

function moduleOf(files: string, file: string): Capnp {
  return list([struct({ name: text(file), esModule: embedded(files, file) })]);
}

function embedded(files: string, file: string): Capnp {
  return `embed ${text(join(files, file))}`;
}

function struct(fields: Readonly<Record<string, Capnp>>): Capnp {
  return `(${Object.entries(fields)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')})`;
}

function list(members: readonly Capnp[]): Capnp {
  return `[${members.join(', ')}]`;
}

function json(value: unknown): Capnp {
  return text(JSON.stringify(value));
}

/** A text: Cap'n Proto has the escapes of C, not the ones of JSON. */
function text(value: string): Capnp {
  const escaped = value.replace(/[\\"]/gu, '\\$&').replace(/[\p{Cc}]/gu, (one) => {
    return `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
