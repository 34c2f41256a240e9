/** `citeward serve`: runs the Worker on this machine until a signal ends it. */
import type { LogLine } from '../../../serve/log-lines.ts';
import { ServeError } from '../../../serve/serve-error.ts';
import { type Server, type ServerOptions, startServer } from '../../../serve/server.ts';
import { PRIVATE_UMASK } from '../../../serve/state-files.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError } from '../../shared/exit.ts';
import { serveFiles } from './files.ts';
import { readServeOptions, type ServeOptions, serveSyntax, withAccess } from './options.ts';
import { starterEnded } from './starter.ts';

/** How long running requests may take after the first signal. A second signal ends them at once. */
const STOP_MS = 30_000;

export const serveCommand: Command = {
  ...serveSyntax,
  run: async (flags) => {
    const options = withAccess(await readServeOptions(flags));
    return serveUntilSignal({ ...options, files: serveFiles(), onLog: (line) => console.error(logText(line)) }, (url) =>
      console.log(listeningText(url, options)),
    );
  },
};

/**
 * Starts the server and keeps it until SIGINT, SIGTERM or SIGHUP, or until the npm that started it has ended.
 *
 * @param announce called once, when the Worker answers.
 * @returns the exit code. @throws RunError if it cannot start, or if workerd ends by itself.
 */
export async function serveUntilSignal(options: ServerOptions, announce: (url: string) => void): Promise<number> {
  const stopping = Promise.withResolvers<'signal'>();
  const starter = starterEnded();
  let server: Server | null = null;
  let signals = 0;
  const onSignal = (): void => {
    signals++;
    stopping.resolve('signal');
    if (signals > 1) void server?.kill();
  };
  // The data is for the user who runs the server alone: workerd inherits the mask.
  process.umask(PRIVATE_UMASK);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  try {
    server = await startServer(options);
  } catch (error) {
    if (error instanceof ServeError) throw new RunError(error.message, error.hint);
    throw error;
  }
  announce(server.url);
  const reason = await Promise.race([stopping.promise, starter, server.ended]);
  if (reason !== 'signal' && reason !== 'starter') throw new RunError(`${reason}; its data is kept`, 'Start it again.');
  await server.stop(STOP_MS);
  return EXIT_OK;
}

function listeningText(url: string, { settings, state }: ServeOptions): string {
  const hasKeys = (settings['API_KEYS'] ?? '') !== '';
  const access = !hasKeys && settings['ALLOW_ANONYMOUS'] === 'true' ? 'requests need no key' : 'requests need a key';
  return `listening at ${url} (${access}; data and stored keys are kept in ${state})`;
}

/** A line of the log as JSON: the fields of the event, or the message. */
function logText({ time, level, message, event }: LogLine): string {
  return JSON.stringify({ time, level, ...(event ?? { message }) });
}
