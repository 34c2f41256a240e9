/**
 * Runs the Worker in workerd on this machine: the process, its start and its end. The data is in a folder that one
 * server at a time uses.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { requireFreeAddress } from './address.ts';
import { configurationText, variableOf } from './configuration.ts';
import { endLeftProcess, guardProcess, PROCESS_FILE } from './guard-process.ts';
import { type LogLine, onLogLine } from './log-lines.ts';
import { ServeError } from './serve-error.ts';
import { lockState } from './state-lock.ts';
import { SERVE_FILES, type WorkerDescription, workerDescriptionSchema } from './worker-description.ts';
import { workerdPath } from './workerd-path.ts';

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
  /** Binds the fake of Workers AI as AI. Default: there is no AI binding. */
  readonly hasFakeAi?: boolean;
  /** Time limit of the start, in milliseconds; default 60,000. A loaded machine takes its time. */
  readonly start_ms?: number;
  readonly onLog: (line: LogLine) => void;
};

export type Server = {
  /** `http://HOST:PORT`; the loopback address if the server listens on all addresses. */
  readonly url: string;
  /** Process id of workerd, which leads a process group of its own. */
  readonly pid: number;
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
  const lock = lockState(state);
  try {
    await endLeftProcess(state);
    await requireFreeAddress(options.host, options.port);
    const description = await readDescription(options.files);
    const settings = { ...description.variables, ...options.settings };
    const configuration = join(state, 'workerd.capnp');
    await writeFile(
      configuration,
      configurationText({
        description,
        files: resolve(options.files),
        objects,
        address: addressOf(options.host, options.port),
        settings: Object.keys(settings),
        certificates: await extraCertificates(),
        hasFakeAi: options.hasFakeAi ?? false,
      }),
    );
    const variables = Object.entries(settings).map(([name, value]) => [variableOf(name), value]);
    const child = spawn(workerd, ['serve', '--experimental', '--import-path=/', '--control-fd=3', configuration], {
      // A group of its own: Ctrl-C reaches this process, which then stops workerd in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...Object.fromEntries(variables) },
    });
    return await attend(child, options, state, lock);
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Follows a started workerd until it answers. */
async function attend(
  child: ChildProcess,
  { host, onLog, start_ms = START_MS }: ServerOptions,
  state: string,
  lock: { close(): void },
): Promise<Server> {
  const { pid } = child;
  const lastLines: string[] = [];
  const badSetting = Promise.withResolvers<string>();
  onLogLine(child, (line) => {
    lastLines.push(line.message);
    if (lastLines.length > 20) lastLines.shift();
    const problem = badSettingOf(line);
    if (problem !== null) badSetting.resolve(problem);
    onLog(line);
  });
  const ended = new Promise<string>((end) => {
    child.once('error', (error) => end(`workerd could not be started: ${error.message}`));
    child.once('exit', (code, signal) => end(`workerd ended with ${signal ?? `exit code ${code}`}`));
  }).then((reason) => {
    guard?.release();
    lock.close();
    return reason;
  });
  const guard = pid === undefined ? null : guardProcess(pid);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    if (pid !== undefined) await writeFile(join(state, PROCESS_FILE), String(pid));
    const failed = ended.then((reason): never => {
      throw new ServeError(`${reason}:\n${lastLines.join('\n')}`, null);
    });
    const listening = portOf(child);
    const url = `http://${addressOf(reachableHost(host), await Promise.race([listening, failed]))}`;
    if (!(await Promise.race([waitUntilUp(url, start_ms), failed]))) {
      // The reply may be faster than the log, which says more.
      const problem = await Promise.race([badSetting.promise, failed]);
      throw new ServeError(problem, 'Correct the setting and start again.');
    }
    const stop = async (limit_ms: number): Promise<void> => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), limit_ms);
      await ended;
      clearTimeout(timer);
    };
    return { url, pid: pid ?? 0, ended, stop, kill };
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

/** The port that workerd reports on its control channel. */
function portOf(child: ChildProcess): Promise<number> {
  const control = child.stdio[3];
  return new Promise((found) => {
    let text = '';
    control?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      for (const line of text.split('\n').slice(0, -1)) {
        const event: { readonly event?: unknown; readonly port?: unknown } = JSON.parse(line);
        if (event.event === 'listen' && typeof event.port === 'number') found(event.port);
      }
    });
  });
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
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  throw new ServeError(`the Worker did not answer within ${Math.round(limit_ms / 1_000)} s`, null);
}

/** The problem that the Worker reports about a setting; `null` = the line is about something else. */
function badSettingOf({ event }: LogLine): string | null {
  if (event?.['event'] !== 'config_invalid') return null;
  const { setting, problems } = event;
  return `setting ${String(setting)}: ${Array.isArray(problems) ? problems.join('; ') : String(problems)}`;
}
