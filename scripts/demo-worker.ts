/**
 * A Worker of one's own for as long as a script shows something with it: it ends with the script, also when a signal ends
 * that, and what wrangler said is shown only where the Worker did not start.
 */
import {
  isGroupAlive,
  type LocalWorker,
  LocalWorkerError,
  type LocalWorkerOptions,
  startLocalWorker,
} from './local-worker.ts';

const LOG_LINES_SHOWN = 40;

/**
 * Starts a Worker, shows something with it, and stops it. A failure is said, and becomes the exit code.
 * @param what is shown: "The demo".
 * @param options are asked for once a failure of theirs can be said.
 */
export async function showWithWorker(
  what: string,
  options: () => Promise<LocalWorkerOptions>,
  show: (worker: LocalWorker) => Promise<void>,
): Promise<void> {
  let worker: LocalWorker | null = null;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => {
      console.error('\nStopping …');
      // Exiting ends the Worker's process group (local-worker.ts), also while it is still starting.
      void (worker === null ? Promise.resolve() : worker.stop()).finally(() => process.exit(code));
    });
  }
  try {
    worker = await startLocalWorker(await options());
    await show(worker);
  } catch (error) {
    process.exitCode = 1;
    reportFailure(what, error);
  } finally {
    await worker?.stop();
  }
  if (worker !== null && isGroupAlive(worker.group)) throw new Error('the Worker left a process behind');
}

/** Anything but a Worker that did not start is a bug and keeps its stack. */
function reportFailure(what: string, error: unknown): void {
  if (!(error instanceof LocalWorkerError)) {
    console.error(`\n${what} failed:`, error);
    return;
  }
  console.error(`\n${what} failed: ${error.message}`);
  const lines = error.log.trimEnd().split('\n').slice(-LOG_LINES_SHOWN);
  console.error(`The end of wrangler's log:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
