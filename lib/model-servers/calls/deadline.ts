/**
 * Work that ends at its deadline, whatever it waits for. The signal aborts what listens to it (fetch, and with it the
 * GPU's work); the race makes sure that the caller is answered even where something does not listen.
 */

export type Deadlined<T> = { readonly expired: false; readonly value: T } | { readonly expired: true };

/**
 * Runs `work` for at most `deadline_ms`. The signal is aborted at the deadline, and also once the work is done, so that
 * a body which nobody read to its end does not hold a connection.
 */
export async function withDeadline<T>(
  deadline_ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Deadlined<T>> {
  const controller = new AbortController();
  const { promise: expiry, resolve: expire } = Promise.withResolvers<Deadlined<T>>();
  const timer = setTimeout(() => {
    expire({ expired: true });
    controller.abort();
  }, deadline_ms);
  const done = work(controller.signal).then((value): Deadlined<T> => ({ expired: false, value }));
  try {
    // What loses the race is still listened to by it, so that its late rejection is nobody's unhandled one.
    return await Promise.race([done, expiry]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
