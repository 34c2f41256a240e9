/** A Worker on this machine that one command starts for itself: it listens on the loopback address and ends with it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ServeError } from '../../../serve/serve-error.ts';
import { type Server, startServer } from '../../../serve/server.ts';
import { RunError } from '../../shared/exit.ts';
import { onInterruption } from '../../shared/interruption.ts';
import type { Screen } from '../../shared/screen.ts';
import { serveFiles } from './files.ts';
import { DEFAULT_HOST } from './options.ts';

/** The settings of a machine without keys, where the lexical judge answers. */
export const OPEN = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' } as const;

type OwnWorker = {
  /** Folder that keeps its data; `null` = a temporary one, which is removed. */
  readonly state: string | null;
  /** 0 = a free one. */
  readonly port: number;
  /** All settings: without `OPEN` as for `citeward serve`, requests need a key and a judge must be set. */
  readonly settings: Readonly<Record<string, string>>;
  readonly screen: Screen;
};

/**
 * Starts a Worker, and ends it when `use` ends, or with Ctrl-C. @throws RunError if it does not start.
 * @example
 * await withOwnWorker({ state: null, port: 0, settings: OPEN, screen }, (server) => fetch(`${server.url}/readyz`));
 */
export async function withOwnWorker<T>(
  { state: kept, port, settings, screen }: OwnWorker,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const state = kept === null ? await temporaryFolder() : resolve(kept);
  let server: Server | null = null;
  const end = async (): Promise<void> => {
    await server?.kill();
    if (kept === null) await rm(state, { recursive: true, force: true });
  };
  let isInterrupted = false;
  const removeHandler = onInterruption(() => {
    isInterrupted = true;
    return end();
  });
  try {
    server = await startServer({
      files: serveFiles(),
      state,
      host: DEFAULT_HOST,
      port,
      settings,
      // A malformed setting is the error of the start.
      onLog: ({ level, message, event }) =>
        level === 'error' && event?.['event'] !== 'config_invalid' && screen.message(message, 'red'),
    });
    return await use(server);
  } catch (error) {
    // The interruption ends the process, and what it interrupted is no error.
    if (isInterrupted) return new Promise(() => undefined);
    if (error instanceof ServeError) throw new RunError(error.message, error.hint);
    throw error;
  } finally {
    removeHandler();
    await end();
  }
}

/** The name of a folder, with the process that made it. */
const FOLDER = /^citeward-view-(\d+)-/u;

/** Makes a folder that names this process, and removes those of processes that were killed. */
async function temporaryFolder(): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(FOLDER.exec(name)?.[1]);
    // A folder that another user left stays.
    if (pid > 0 && !isRunning(pid)) await rm(join(tmpdir(), name), { recursive: true }).catch(() => undefined);
  }
  return mkdtemp(join(tmpdir(), `citeward-view-${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user runs, but takes no signal.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
