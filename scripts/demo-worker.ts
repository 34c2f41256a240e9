/**
 * Runs a demo with a local Worker. The Worker stops with the script, also on a signal; its log is shown only if
 * the Worker fails to start.
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
 * Starts a Worker, runs `show` with it, and stops it. A failure is printed and sets the exit code.
 * @param what the name in error messages, such as "The demo".
 * @param options called inside the error handling, so that its failure is reported too.
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
      // Exiting kills the Worker's process group (local-worker.ts), even while the Worker is starting.
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

/** Prints the error; any error other than a failed start is a bug and keeps its stack trace. */
function reportFailure(what: string, error: unknown): void {
  if (!(error instanceof LocalWorkerError)) {
    console.error(`\n${what} failed:`, error);
    return;
  }
  console.error(`\n${what} failed: ${error.message}`);
  const lines = error.log.trimEnd().split('\n').slice(-LOG_LINES_SHOWN);
  console.error(`The end of its log:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
