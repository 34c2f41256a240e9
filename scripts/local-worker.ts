/**
 * Starts a local Worker for a script: `citeward serve` on a free port, with its own state in a temporary directory.
 * workerd ends with the script, however the script ends.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ServeError } from '../serve/serve-error.ts';
import { type Server, startServer } from '../serve/server.ts';
import { ensureServeFiles } from './build-serve.ts';

export type LocalWorkerOptions = {
  /** Variables that override those of wrangler.toml. `.dev.vars` is not read. */
  readonly variables: Readonly<Record<string, string>>;
  /** A file with more variables, as `NAME=value` lines. */
  readonly variablesFile?: string;
  /** Time limit of the start, in milliseconds. */
  readonly deadline_ms: number;
  /** Directory that keeps the state between starts. Default: a temporary one, deleted at the end. */
  readonly state?: string;
  /** Folder with the files of a build. Default: one of the present sources (scripts/build-serve.ts). */
  readonly files?: string;
};

export type LocalWorker = {
  readonly url: string;
  /** The process group of workerd. */
  readonly group: number;
  /** The last lines of its log. */
  readonly log: readonly string[];
  /** Ends workerd and removes the temporary directory. Idempotent. */
  stop(): Promise<void>;
  /** Like `stop`, with SIGKILL: simulates a power loss, nothing is flushed. */
  kill(): Promise<void>;
};

/** The Worker failed to start; `log` is its log. */
export class LocalWorkerError extends Error {
  readonly log: string;

  constructor(message: string, log: string) {
    super(message);
    this.name = 'LocalWorkerError';
    this.log = log;
  }
}

/** How long running requests may take at the end. */
const STOP_MS = 5_000;
const LOG_LINES_KEPT = 200;

/** Starts a Worker and waits until it answers. @throws LocalWorkerError if it does not in time. */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  const { variables, variablesFile, deadline_ms, state } = options;
  const files = options.files ?? (await ensureServeFiles());
  const directory = await mkdtemp(join(tmpdir(), 'citeward-'));
  const log: string[] = [];
  let server: Server;
  try {
    server = await startServer({
      files,
      state: state ?? join(directory, 'state'),
      host: '127.0.0.1',
      port: 0,
      settings: { ...(variablesFile === undefined ? {} : await readVariables(variablesFile)), ...variables },
      start_ms: deadline_ms,
      onLog: ({ message }) => {
        log.push(message);
        if (log.length > LOG_LINES_KEPT) log.shift();
      },
    });
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    if (error instanceof ServeError) throw new LocalWorkerError(error.message, log.join('\n'));
    throw error;
  }
  const {
    url,
    pids: [group = 0],
  } = server;
  // Kills workerd on any exit of this process, including uncaught exceptions.
  const killOnExit = (): void => {
    signalGroup(group, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  process.on('exit', killOnExit);
  let ending: Promise<void> | null = null;
  const end = (ended: () => Promise<void>): Promise<void> => {
    ending ??= ended().then(async () => {
      process.off('exit', killOnExit);
      await rm(directory, { recursive: true, force: true });
    });
    return ending;
  };
  return { url, group, log, stop: () => end(() => server.stop(STOP_MS)), kill: () => end(() => server.kill()) };
}

async function readVariables(file: string): Promise<Record<string, string>> {
  const variables = parseEnv(await readFile(file, 'utf8'));
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value ?? '']));
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
