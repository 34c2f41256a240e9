/**
 * Writes the configuration of a process of workerd, in the text format of Cap'n Proto: Citeward, the stores behind its
 * bindings, and the folders on disk. Settings are passed as environment variables of the process, because they contain
 * secrets. What another process has is an external service, behind a Unix socket.
 */
import { join } from 'node:path';
import type { ServeProcess } from './processes.ts';
import { SERVE_FILES, type WorkerDescription } from './worker-description.ts';

export type ConfigurationParts = {
  readonly description: WorkerDescription;
  /** The process, which is one of all. */
  readonly process: ServeProcess;
  readonly processes: readonly ServeProcess[];
  /** Absolute path of the folder with the files of the build. */
  readonly files: string;
  /** Absolute path of the folder for the SQLite files of Durable Objects. */
  readonly objects: string;
  /** `HOST:PORT`; `null` = the command line passes the socket, because several processes answer. */
  readonly address: string | null;
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
const REMOTE_OBJECTS_MODULE = 'citeward-internal:remote-objects';
/** The socket that callers connect to. */
export const HTTP_SOCKET = 'http';
/** Folder of the Unix sockets. Relative, because the path of a socket may have about 100 bytes only. */
export const SOCKET_FOLDER = 'sockets';
/** The service for requests to URLs that callers choose. */
const PUBLIC_NETWORK = 'public-network';
/** A process that asks for this host over the socket of another one wants to call its objects. */
const OBJECTS_HOST = 'objects';

export function configurationText(parts: ConfigurationParts): string {
  const { description, process, processes, files, objects, certificates, hasFakeAi } = parts;
  const services = [
    struct({ name: text('citeward'), worker: citewardWorker(parts) }),
    ...(process.hasStores ? [struct({ name: text('stores'), worker: storesWorker(parts) })] : []),
    ...(process.hasStores ? [] : storesOf(description).map((one) => external(socketOf(one), {}))),
    ...processes.filter((one) => one !== process && isCalled(one)).map((one) => external(doorOf(one), THE_DOOR)),
    struct({ name: text('assets'), worker: assetsWorker(parts) }),
    ...(hasFakeAi ? [struct({ name: text('fake-ai'), worker: fakeAiWorker(parts) })] : []),
    struct({ name: text('dashboard'), disk: struct({ path: text(join(files, SERVE_FILES.dashboard)) }) }),
    struct({ name: text('objects'), disk: struct({ path: text(objects), writable: 'true' }) }),
    // Judges run on this machine and in its network, so what the operator has set may have a private address.
    struct({ name: text('internet'), network: outboundNetwork(['public', 'private'], certificates) }),
    struct({ name: text(PUBLIC_NETWORK), network: outboundNetwork(['public'], certificates) }),
  ];
  const config = struct({
    services: list(services),
    sockets: list(socketsOf(parts)),
    extensions: list([
      ...(description.rate_limits.length === 0 ? [] : [extension(RATE_LIMIT_MODULE, files, SERVE_FILES.rateLimit)]),
      ...(processes.length === 1 ? [] : [extension(REMOTE_OBJECTS_MODULE, files, SERVE_FILES.remoteObjects)]),
    ]),
    logging: struct({ structuredLogging: 'true' }),
  });
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${config};\n`;
}

/** The sockets of a process: for callers, and for the other processes. */
export function socketsOf({ description, process, processes, address }: ConfigurationParts): Capnp[] {
  const listening = address === null ? {} : { address: text(address) };
  const http = struct({ name: text(HTTP_SOCKET), ...listening, http: '()', service: text('citeward') });
  const objects = struct({ name: text('citeward'), entrypoint: text('ObjectsEntry') });
  const isAlone = processes.length === 1;
  return [
    ...(process.answers ? [http] : []),
    ...(isAlone || !process.hasStores ? [] : storesOf(description).map((one) => inside(socketOf(one), {}, store(one)))),
    ...(isAlone || !isCalled(process) ? [] : [inside(doorOf(process), THE_DOOR, objects)]),
  ];
}

/** Whether others call its objects, or start its cron triggers. */
function isCalled({ classes, hasStores }: ServeProcess): boolean {
  return hasStores || classes.length > 0;
}

/** The options of HTTP with which both ends speak RPC. */
const THE_DOOR = { capnpConnectHost: text(OBJECTS_HOST) };

/** A socket for the other processes. */
function inside(name: string, http: Readonly<Record<string, Capnp>>, service: Capnp): Capnp {
  return struct({ name: text(name), address: unixAddress(name), http: struct(http), service });
}

/** A service of another process. */
function external(name: string, http: Readonly<Record<string, Capnp>>): Capnp {
  return struct({ name: text(name), external: struct({ address: unixAddress(name), http: struct(http) }) });
}

function unixAddress(socket: string): Capnp {
  return text(`unix:${SOCKET_FOLDER}/${socket}`);
}

/** An entrypoint of the stores, and the namespace, bucket, database or queue behind it. */
type Store = { readonly entrypoint: string; readonly name: string };

function storesOf({ kv_namespaces, r2_buckets, d1_databases, queue_producers }: WorkerDescription): Store[] {
  return [
    ...kv_namespaces.map((name) => ({ entrypoint: 'KvEntry', name })),
    ...r2_buckets.map((name) => ({ entrypoint: 'R2Entry', name })),
    ...d1_databases.map((name) => ({ entrypoint: 'D1Entry', name })),
    ...queue_producers.map(({ queue }) => ({ entrypoint: 'QueueEntry', name: queue })),
  ];
}

function socketOf({ entrypoint, name }: Store): string {
  return `${entrypoint}-${name}`;
}

/** The socket over which the objects of a process are called. */
function doorOf({ name }: ServeProcess): string {
  return `objects-${name}`;
}

function citewardWorker(parts: ConfigurationParts): Capnp {
  const { description, process, processes, files, settings, hasFakeAi } = parts;
  const { compatibility_flags, durable_objects, assets } = description;
  const storeOf = (entrypoint: string, name: string): Capnp =>
    process.hasStores ? store({ entrypoint, name }) : text(socketOf({ entrypoint, name }));
  const [main] = processes;
  const clock = struct({ name: text('stores'), entrypoint: text('ClockEntry') });
  const bindings = [
    ...settings.map((name) => binding(name, { fromEnvironment: text(variableOf(name)) })),
    ...description.kv_namespaces.map((name) => binding(name, { kvNamespace: storeOf('KvEntry', name) })),
    ...description.r2_buckets.map((name) => binding(name, { r2Bucket: storeOf('R2Entry', name) })),
    ...description.d1_databases.map((name) => binding(name, { wrapped: database(storeOf('D1Entry', name)) })),
    ...description.queue_producers.map((one) => binding(one.binding, { queue: storeOf('QueueEntry', one.queue) })),
    ...description.rate_limits.map((one) => binding(one.binding, { wrapped: rateLimit(one) })),
    ...durable_objects.map((one) => binding(one.binding, namespace(one, parts))),
    binding('ASSETS', { service: text('assets') }),
    binding('PUBLIC_NETWORK', { service: text(PUBLIC_NETWORK) }),
    binding('SERVE_CLOCK', { service: process.hasStores || main === undefined ? clock : text(doorOf(main)) }),
    binding('SERVE_ASSET_PATHS', { json: json(Object.fromEntries(Object.keys(assets).map((path) => [path, true]))) }),
    ...(hasFakeAi ? [binding('AI', { service: text('fake-ai') })] : []),
  ];
  return struct({
    modules: moduleOf(files, SERVE_FILES.citeward),
    compatibilityDate: text(description.compatibility_date),
    compatibilityFlags: list([...compatibility_flags, ...(hasFakeAi ? [FAKE_AI_FLAG] : [])].map(text)),
    bindings: list(bindings),
    durableObjectNamespaces: list(process.classes.map((name) => objectClass(name))),
    durableObjectStorage: struct({ localDisk: text('objects') }),
  });
}

/** The objects of a class, in this process or in the one that has them. */
function namespace(
  { binding: name, class_name }: WorkerDescription['durable_objects'][number],
  { process, processes }: ConfigurationParts,
): Readonly<Record<string, Capnp>> {
  if (process.classes.includes(class_name)) return { durableObjectNamespace: text(class_name) };
  const owner = processes.find(({ classes }) => classes.includes(class_name));
  if (owner === undefined) throw new Error(`configurationText: no process has the class ${class_name}`);
  const innerBindings = list([
    binding('process', { service: text(doorOf(owner)) }),
    binding('binding', { json: json(name) }),
  ]);
  return { wrapped: struct({ moduleName: text(REMOTE_OBJECTS_MODULE), innerBindings }) };
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

/** @param allowed kinds of addresses, which workerd checks after it has looked a name up. */
function outboundNetwork(allowed: readonly ('public' | 'private')[], certificates: readonly string[]): Capnp {
  return struct({
    allow: list(allowed.map(text)),
    tlsOptions: struct({ trustBrowserCas: 'true', trustedCertificates: list(certificates.map(text)) }),
  });
}

/** A module for wrapped bindings. */
function extension(name: string, files: string, file: string): Capnp {
  const module = { name: text(name), internal: 'true', esModule: embedded(files, file) };
  return struct({ modules: list([struct(module)]) });
}

function rateLimit({ limit, period }: WorkerDescription['rate_limits'][number]): Capnp {
  return struct({
    moduleName: text(RATE_LIMIT_MODULE),
    innerBindings: list([binding('settings', { json: json({ limit, period }) })]),
  });
}

function database(service: Capnp): Capnp {
  return struct({
    moduleName: text('cloudflare-internal:d1-api'),
    innerBindings: list([binding('fetcher', { service })]),
  });
}

function store({ entrypoint, name }: Store): Capnp {
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
