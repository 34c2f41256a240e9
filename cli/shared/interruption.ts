/**
 * Cleans up on Ctrl-C and other signals that end the process, and exits with the code that shells expect (128 +
 * signal). Handlers are synchronous, as the process ends right after them.
 */

const SIGNALS: readonly (readonly [NodeJS.Signals, exitCode: number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
];

const handlers = new Set<() => void>();

const listeners = SIGNALS.map(([signal, code]) => ({
  signal,
  listener: (): void => {
    // In reverse order of registration.
    for (const handler of [...handlers].reverse()) handler();
    process.exit(code);
  },
}));

/** Runs `handler` if a signal ends the process. @returns a function that removes the handler. */
export function onInterruption(handler: () => void): () => void {
  if (handlers.size === 0) for (const { signal, listener } of listeners) process.on(signal, listener);
  handlers.add(handler);
  return () => {
    handlers.delete(handler);
    if (handlers.size === 0) for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
