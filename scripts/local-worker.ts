/**
 * Starts a local Worker for a script: `wrangler dev --local` on a free port, with its own state, logs and configuration
 * in a temporary directory. Stopping ends the whole process group, so that no workerd process remains.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureDashboard, hasDashboard } from './build-dashboard.ts';

const root = resolve(import.meta.dirname, '..');

export type LocalWorkerOptions = {
  /** Variables that override those of wrangler.toml. `.dev.vars` is not read. */
  readonly variables: Readonly<Record<string, string>>;
  /** A file with more variables, as `NAME=value` lines. */
  readonly variablesFile?: string;
  /** Time limit of the start, in milliseconds. */
  readonly deadline_ms: number;
  /** Directory that keeps the state between starts. Default: a temporary one, deleted at the end. */
  readonly state?: string;
};

export type LocalWorker = {
  readonly url: string;
  /** The process group that wrangler and workerd run in. */
  readonly group: number;
  /** Ends all processes and removes the temporary directory. Idempotent. */
  stop(): Promise<void>;
  /** Like `stop`, with SIGKILL: simulates a power loss, nothing is flushed. */
  kill(): Promise<void>;
};

/** The Worker failed to start; `log` is wrangler's output. */
export class LocalWorkerError extends Error {
  readonly log: string;

  constructor(message: string, log: string) {
    super(message);
    this.name = 'LocalWorkerError';
    this.log = log;
  }
}

/** Starts a Worker and waits until it answers. @throws LocalWorkerError if it does not in time. */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  // wrangler needs the assets to exist; only callers that show the dashboard need them to be current.
  if (!hasDashboard()) await ensureDashboard();
  const directory = await mkdtemp(join(tmpdir(), 'citeward-'));
  const logFile = join(directory, 'wrangler.log');
  const port = await freePort();
  const child = await spawnWrangler(options, directory, logFile, port);
  const group = child.pid;
  if (group === undefined) {
    await rm(directory, { recursive: true, force: true });
    throw new LocalWorkerError('wrangler could not be started', '');
  }
  // Kills the group on any exit of this process, including uncaught exceptions.
  const killOnExit = (): void => {
    signalGroup(group, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  process.on('exit', killOnExit);

  let stopping: Promise<void> | null = null;
  const end = (signals: readonly NodeJS.Signals[]): Promise<void> => {
    stopping ??= endGroup(group, signals).then(async () => {
      process.off('exit', killOnExit);
      await rm(directory, { recursive: true, force: true });
    });
    return stopping;
  };
  const worker: LocalWorker = {
    url: `http://127.0.0.1:${port}`,
    group,
    stop: () => end(['SIGTERM', 'SIGKILL']),
    kill: () => end(['SIGKILL']),
  };
  const failure = await waitUntilUp(worker.url, child, options.deadline_ms);
  if (failure === null) return worker;
  const log = await readFile(logFile, 'utf8');
  await worker.stop();
  throw new LocalWorkerError(failure, log);
}

async function spawnWrangler(
  { variables, variablesFile, state }: LocalWorkerOptions,
  directory: string,
  logFile: string,
  port: number,
): Promise<ChildProcess> {
  // Passing a variables file stops wrangler from reading .dev.vars, whose settings are not meant for this Worker.
  const ownFile = join(directory, 'variables');
  await writeFile(ownFile, '');
  const log = openSync(logFile, 'a');
  try {
    return spawn(
      process.execPath,
      [
        resolve(root, 'node_modules/wrangler/bin/wrangler.js'),
        ...['dev', '--local', '--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0'],
        ...['--show-interactive-dev-session=false', '--persist-to', state ?? join(directory, 'state')],
        ...['--env-file', variablesFile ?? ownFile],
        ...Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
      ],
      {
        cwd: root,
        // A separate process group: signals reach wrangler and workerd together, and Ctrl-C reaches only this script.
        detached: true,
        stdio: ['ignore', log, log],
        env: {
          ...process.env,
          WRANGLER_SEND_METRICS: 'false',
          CLOUDFLARE_CF_FETCH_ENABLED: 'false',
          WRANGLER_LOG_PATH: join(directory, 'logs'),
        },
      },
    );
  } finally {
    closeSync(log);
  }
}

/** A TCP port of this machine that nothing listens on. */
export function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address !== null) found(address.port);
        else failed(new Error('freePort: the server has no port'));
      });
    });
  });
}

const POLL_MS = 100;

/** Waits until the Worker answers. @returns `null`, or the reason why it did not start. */
async function waitUntilUp(url: string, child: ChildProcess, deadlineMs: number): Promise<string | null> {
  let spawnError: Error | null = null;
  child.once('error', (error) => {
    spawnError = error;
  });
  const deadline = performance.now() + deadlineMs;
  while (performance.now() < deadline) {
    if (spawnError !== null) return `wrangler could not be started: ${String(spawnError)}`;
    if (child.exitCode !== null) return `wrangler ended with exit code ${child.exitCode}`;
    if (child.signalCode !== null) return `wrangler was ended by ${child.signalCode}`;
    if (await isUp(url)) return null;
    await pause(POLL_MS);
  }
  return `the Worker did not answer within ${Math.round(deadlineMs / 1000)} s`;
}

async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // Not up yet: nothing listens, or workerd is still loading. The caller's deadline ends the polling.
    return false;
  }
}

const TERM_MS = 5_000;

/** Sends the signals in order until the group has ended. @throws Error if a process survives all of them. */
async function endGroup(group: number, signals: readonly NodeJS.Signals[]): Promise<void> {
  for (const signal of signals) {
    signalGroup(group, signal);
    const deadline = performance.now() + TERM_MS;
    while (performance.now() < deadline) {
      if (!isGroupAlive(group)) return;
      await pause(50);
    }
  }
  throw new Error(`processes of group ${group} survived SIGKILL`);
}

/** Whether any process of the group exists. */
export function isGroupAlive(group: number): boolean {
  return signalGroup(group, 0);
}

/** Sends a signal to the process group. Returns false if the group does not exist. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
