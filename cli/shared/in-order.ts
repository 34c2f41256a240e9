/**
 * Maps a stream with limited concurrency and keeps the order of the input. A slow item delays the items behind it, so
 * that at most `limit` items are in memory.
 */
/**
 * Maps each item; `limit` >= 1. Yields a result as soon as all earlier ones are yielded, without waiting for more
 * input.
 */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const iterator = items[Symbol.asyncIterator]();
  const underWay: Promise<R>[] = [];
  let pull: Promise<IteratorResult<T>> | null = null;
  let ended = false;
  try {
    for (;;) {
      if (pull === null && !ended && underWay.length < limit) pull = watched(iterator.next());
      const first = underWay[0];
      if (pull === null && first === undefined) return;
      const ready = await Promise.race([
        ...(first === undefined ? [] : [first.then((result) => ({ kind: 'result' as const, result }))]),
        ...(pull === null ? [] : [pull.then((step) => ({ kind: 'item' as const, step }))]),
      ]);
      if (ready.kind === 'result') {
        underWay.shift();
        yield ready.result;
        continue;
      }
      pull = null;
      if (ready.step.done === true) ended = true;
      else underWay.push(watched(work(ready.step.value)));
    }
  } finally {
    // If the caller stops early, the source is closed without waiting: standard input may stay open for ever.
    if (!ended && iterator.return !== undefined) watched(iterator.return());
    await Promise.allSettled(underWay);
  }
}

/** Marks a rejection as handled: it is thrown when the promise is awaited, in the order of the input. */
function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
