/**
 * Runs work with a deadline. The signal aborts the calls that listen to it (`fetch`, and with it the work of the GPU).
 * The race returns on time even if a call ignores the signal.
 */

/** The limit that ended the work: the whole time, the wait for the first byte, or silence after a byte. */
export type TimeLimit = 'deadline' | 'first_byte' | 'silence';

type Deadlined<T> =
  | { readonly expired: false; readonly value: T }
  | { readonly expired: true; readonly after: TimeLimit };

/** How long a server may send nothing, in milliseconds. */
type QuietLimits = { readonly first_byte_ms: number; readonly silence_ms: number };

/**
 * Runs `work` for at most `deadline_ms`. The signal aborts at the deadline, and also when the work ends, so that a body
 * that was not read to its end does not hold its connection.
 * @param work calls `heard` for each piece that arrives, if there are limits of silence.
 * @param quiet ends the work when nothing was heard for so long. Default: no limit of its own.
 */
export async function withDeadline<T>(
  deadline_ms: number,
  work: (signal: AbortSignal, heard: () => void) => Promise<T>,
  quiet?: QuietLimits,
): Promise<Deadlined<T>> {
  const controller = new AbortController();
  const { promise: expiry, resolve: expire } = Promise.withResolvers<Deadlined<T>>();
  const expireAfter = (ms: number, after: TimeLimit): ReturnType<typeof setTimeout> =>
    setTimeout(() => {
      expire({ expired: true, after });
      controller.abort();
    }, ms);
  const timer = expireAfter(deadline_ms, 'deadline');
  // A limit above the deadline needs no timer.
  const quietTimer = (ms: number, after: TimeLimit) => (ms < deadline_ms ? expireAfter(ms, after) : null);
  let silent = quiet === undefined ? null : quietTimer(quiet.first_byte_ms, 'first_byte');
  const heard = (): void => {
    if (quiet === undefined || controller.signal.aborted) return;
    if (silent !== null) clearTimeout(silent);
    silent = quietTimer(quiet.silence_ms, 'silence');
  };
  const done = work(controller.signal, heard).then((value): Deadlined<T> => ({ expired: false, value }));
  try {
    // The race keeps a handler on the loser, so a late rejection is not unhandled.
    return await Promise.race([done, expiry]);
  } finally {
    clearTimeout(timer);
    if (silent !== null) clearTimeout(silent);
    controller.abort();
  }
}
