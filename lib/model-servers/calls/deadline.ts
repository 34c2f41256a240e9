/**
 * Runs work with a deadline. The signal aborts the calls that listen to it (`fetch`, and with it the work of the GPU).
 * The race returns on time even if a call ignores the signal.
 */

type Deadlined<T> = { readonly expired: false; readonly value: T } | { readonly expired: true };

/**
 * Runs `work` for at most `deadline_ms`. The signal aborts at the deadline, and also when the work ends, so that a body
 * that was not read to its end does not hold its connection.
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
    // The race keeps a handler on the loser, so a late rejection is not unhandled.
    return await Promise.race([done, expiry]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
