/**
 * Ctrl-C and its like: what a run says and clears away before it ends, with the exit code that shells expect. Whatever
 * runs then is synchronous, as the process ends right after it.
 */
const SIGNALS: readonly (readonly [NodeJS.Signals, exitCode: number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
];

const farewells = new Set<() => void>();

const listeners = SIGNALS.map(([signal, code]) => ({
  signal,
  listener: (): void => {
    // The last that was begun is the first to end.
    for (const farewell of [...farewells].reverse()) farewell();
    process.exit(code);
  },
}));

/** Has `farewell` run if the process is told to end. @returns what takes it back. */
export function onInterruption(farewell: () => void): () => void {
  if (farewells.size === 0) for (const { signal, listener } of listeners) process.on(signal, listener);
  farewells.add(farewell);
  return () => {
    farewells.delete(farewell);
    if (farewells.size === 0) for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
