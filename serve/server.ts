/**
 * Runs the Worker in workerd on this machine: the process, its start and its end. The data is in a folder that one
 * server at a time uses.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Listener, listenOn, requireFreeAddress } from './address.ts';
import { configurationText, SOCKET_FOLDER, socketsOf, variableOf } from './configuration.ts';
import { endLeftProcesses, guardProcesses, PROCESS_FILE } from './guard-process.ts';
import type { LogLine } from './log-lines.ts';
import { endingOrder, planProcesses } from './processes.ts';
import { ServeError } from './serve-error.ts';
import { readSpanExport, SpanExport } from './span-export.ts';
import { accessWarning, requireWholeFiles } from './state-files.ts';
import { lockState } from './state-lock.ts';
import { SERVE_FILES, type WorkerDescription, workerDescriptionSchema } from './worker-description.ts';
import { workerdPath } from './workerd-path.ts';
import { startWorkerd, type WorkerdOptions, type WorkerdProcess } from './workerd-process.ts';

export type ServerOptions = {
  /** Folder with the files of the build (scripts/build-serve.ts). */
  readonly files: string;
  /** Folder that keeps the data between starts; made if it is missing. */
  readonly state: string;
  readonly host: string;
  /** 0 = a free one. */
  readonly port: number;
  /** Variables and secrets of the Worker. They override the variables of wrangler.toml. */
  readonly settings: Readonly<Record<string, string>>;
  /** Number of processes of workerd, 1 to MAX_PROCESSES; default 1. */
  readonly processes?: number;
  /** Binds the fake of Workers AI as AI. Default: there is no AI binding. */
  readonly hasFakeAi?: boolean;
  /** Time limit of the start, in milliseconds; default 60,000. A loaded machine takes its time. */
  readonly start_ms?: number;
  readonly onLog: (line: LogLine) => void;
};

export type Server = {
  /** `http://HOST:PORT`; the loopback address if the server listens on all addresses. */
  readonly url: string;
  /** Process ids of workerd. Each leads a process group of its own. */
  readonly pids: readonly number[];
  /** Resolves when workerd has ended, with what ended it. */
  readonly ended: Promise<string>;
  /** Takes no new connections, lets running requests end, and kills what still runs after the limit. Idempotent. */
  stop(limit_ms: number): Promise<void>;
  /** Ends workerd at once, like a power loss. Idempotent. */
  kill(): Promise<void>;
};

const START_MS = 60_000;
const POLL_MS = 25;

/**
 * Settings that differ from those of a deployment. workerd has no limit of connections, so one desk calls all judges;
 * more would only divide its transactions and messages.
 */
const SETTINGS: Readonly<Record<string, string>> = { DESKS: '1' };

/**
 * Starts workerd and waits until the Worker answers.
 *
 * @throws ServeError if the address or the state folder is taken, workerd is missing, a setting is malformed, or the
 *   Worker does not answer in time.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const workerd = workerdPath();
  const state = resolve(options.state);
  const objects = join(state, 'objects');
  await mkdir(objects, { recursive: true });
  const lock = await lockState(state);
  try {
    const warn = (message: string): void =>
      options.onLog({ time: new Date().toISOString(), level: 'warn', message, event: null });
    const warning = accessWarning(state);
    if (warning !== null) warn(warning);
    await endLeftProcesses(state);
    requireWholeFiles(objects);
    const description = await readDescription(options.files);
    const classes = description.durable_objects.map(({ class_name }) => class_name);
    const processes = planProcesses(options.processes ?? 1, classes);
    const isShared = processes.filter(({ answers }) => answers).length > 1;
    await requireFreeAddress(options.host, options.port);
    await rm(join(state, SOCKET_FOLDER), { recursive: true, force: true });
    // A user who can open these sockets can call every object, so the folder is closed to others.
    await mkdir(join(state, SOCKET_FOLDER), { mode: 0o700 });
    const spanOptions = readSpanExport(options.settings, process.env, warn);
    const spanSettings = spanOptions === null ? {} : { LOG_SPANS: 'true' };
    const settings = { ...SETTINGS, ...description.variables, ...spanSettings, ...options.settings };
    const variables = Object.entries(settings).map(([name, value]) => [variableOf(name), value]);
    const parts = {
      description,
      processes,
      files: resolve(options.files),
      objects,
      address: isShared ? null : addressOf(options.host, options.port),
      settings: Object.keys(settings),
      certificates: await extraCertificates(),
      hasFakeAi: options.hasFakeAi ?? false,
    };
    for (const plan of processes) {
      await writeFile(configurationOf(state, plan.name), configurationText({ ...parts, process: plan }));
    }
    const spans = spanOptions === null ? null : new SpanExport(spanOptions, warn);
    const log = new ServerLog(options.onLog, spans);
    const listener = isShared ? await listenOn(options.host, options.port) : null;
    // Nothing is awaited while this process, too, could accept connections.
    const started = startAll(
      processes.map((plan) => ({
        workerd,
        plan,
        configuration: configurationOf(state, plan.name),
        sockets: socketsOf({ ...parts, process: plan }).length,
        descriptor: listener?.descriptor ?? null,
        folder: state,
        variables: Object.fromEntries(variables),
        onLog: (line) => log.add(line),
      })),
      listener,
    );
    return await attend(started, options, { state, lock, log, port: listener?.port ?? null });
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Starts all processes, or none. @throws ServeError */
function startAll(all: readonly WorkerdOptions[], listener: Listener | null): WorkerdProcess[] {
  const started: WorkerdProcess[] = [];
  try {
    for (const options of all) started.push(startWorkerd(options));
    return started;
  } catch (error) {
    for (const one of started) one.signal('SIGKILL');
    throw new ServeError(`workerd could not be started: ${error instanceof Error ? error.message : error}`, null);
  } finally {
    listener?.close();
  }
}

function configurationOf(state: string, process: string): string {
  return join(state, `workerd-${process}.capnp`);
}

/** What the processes have logged: it says why they did not start, or why one ended. */
class ServerLog {
  readonly spans: SpanExport | null;
  readonly #onLog: (line: LogLine) => void;
  readonly #last: string[] = [];
  readonly #badSetting = Promise.withResolvers<string>();
  /** The last line that workerd itself logged as an error, shortened. */
  lastError: string | null = null;
  /** The problem of a setting that the Worker has reported. */
  readonly badSetting = this.#badSetting.promise;

  constructor(onLog: (line: LogLine) => void, spans: SpanExport | null) {
    this.#onLog = onLog;
    this.spans = spans;
  }

  add(line: LogLine): void {
    if (this.spans?.take(line) === true) return;
    this.#last.push(line.message);
    if (this.#last.length > LINES_KEPT) this.#last.shift();
    if (line.level === 'error' && line.event === null) this.lastError = line.message.slice(0, MAX_ERROR_CHARS);
    const problem = badSettingOf(line);
    if (problem !== null) this.#badSetting.resolve(problem);
    this.#onLog(line);
  }

  get text(): string {
    return this.#last.join('\n');
  }
}

const LINES_KEPT = 20;
const MAX_ERROR_CHARS = 300;

type Surroundings = {
  readonly state: string;
  readonly lock: { close(): void };
  readonly log: ServerLog;
  /** Port of a shared socket; `null` = workerd says it. */
  readonly port: number | null;
};

/** Follows started processes until the Worker answers. If one ends, all end. */
async function attend(
  processes: readonly WorkerdProcess[],
  { host, start_ms = START_MS }: ServerOptions,
  { state, lock, log, port }: Surroundings,
): Promise<Server> {
  const pids = processes.map(({ pid }) => pid);
  const guard = guardProcesses(pids.filter((pid) => pid > 0));
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const one of processes) one.signal(signal);
  };
  let isStopping = false;
  const ended = Promise.race(processes.map((one) => one.ended)).then(async (reason) => {
    if (!isStopping) signalAll('SIGKILL');
    await Promise.all(processes.map((one) => one.ended));
    guard.release();
    lock.close();
    await log.spans?.end();
    return isStopping || log.lastError === null ? reason : `${reason} (the last error in its log: ${log.lastError})`;
  });
  const kill = async (): Promise<void> => {
    signalAll('SIGKILL');
    await ended;
  };
  try {
    await writeFile(join(state, PROCESS_FILE), pids.join('\n'));
    const failed = ended.then((reason): never => {
      throw new ServeError(`${reason}:\n${log.text}`, null);
    });
    const listening = Promise.all(processes.map((one) => one.listening));
    const ports = await Promise.race([listening, failed, expired(start_ms)]);
    const url = `http://${addressOf(reachableHost(host), port ?? ports.find((one) => one !== null) ?? 0)}`;
    if (!(await Promise.race([waitUntilUp(url, start_ms), failed]))) {
      // The reply may be faster than the log, which says more.
      const problem = await Promise.race([log.badSetting, failed]);
      throw new ServeError(problem, 'Correct the setting and start again.');
    }
    const stop = async (limit_ms: number): Promise<void> => {
      isStopping = true;
      const timer = setTimeout(() => signalAll('SIGKILL'), limit_ms);
      for (const group of endingOrder(processes)) {
        for (const one of group) one.signal('SIGTERM');
        await Promise.all(group.map((one) => one.ended));
      }
      await ended;
      clearTimeout(timer);
    };
    return { url, pids, ended, stop, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

async function readDescription(files: string): Promise<WorkerDescription> {
  return workerDescriptionSchema.parse(JSON.parse(await readFile(join(files, SERVE_FILES.description), 'utf8')));
}

/** Certificates that Node trusts additionally: workerd, too, calls judges behind a private authority. */
async function extraCertificates(): Promise<string[]> {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return [];
  const pem = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ServeError(`cannot read NODE_EXTRA_CA_CERTS=${file}: ${String(error)}`, null);
  });
  return pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/gu) ?? [];
}

function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** An address of all interfaces is no address that one can call. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '*') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Waits until the Worker answers. Returns whether its settings are well-formed; if not, it logs which is not. */
async function waitUntilUp(url: string, limit_ms: number): Promise<boolean> {
  const deadline = performance.now() + limit_ms;
  while (performance.now() < deadline) {
    try {
      const reply = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(limit_ms) });
      await reply.arrayBuffer();
      if (reply.ok) {
        // A path that needs the settings.
        const first = await fetch(`${url}/v1/`, { signal: AbortSignal.timeout(limit_ms) });
        return !(await first.text()).includes('"config_invalid"');
      }
    } catch {
      // Not up yet: workerd listens before the Worker is loaded. The deadline ends the polling.
    }
    await pause(POLL_MS);
  }
  throw notInTime(limit_ms);
}

/** Rejects after the time limit, unless the process ends before. */
async function expired(limit_ms: number): Promise<never> {
  await pause(limit_ms, null, { ref: false });
  throw notInTime(limit_ms);
}

function notInTime(limit_ms: number): ServeError {
  return new ServeError(`the Worker did not answer within ${Math.round(limit_ms / 1_000)} s`, null);
}

/** The problem that the Worker reports about a setting; `null` = the line is about something else. */
function badSettingOf({ event }: LogLine): string | null {
  if (event?.['event'] !== 'config_invalid') return null;
  const { setting, problems } = event;
  return `setting ${String(setting)}: ${Array.isArray(problems) ? problems.join('; ') : String(problems)}`;
}
