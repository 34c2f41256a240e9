/**
 * Work on a stream several items at a time, with results in the order of the input and never more than `limit` items in
 * hand: a slow item holds back the ones behind it instead of letting them pile up.
 */
/** Maps each item; `limit` >= 1. A result is given out as soon as its turn comes, whether more input is there or not. */
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
    // Left early: the source is told, but not waited for, as standard input may stay open for ever.
    if (!ended && iterator.return !== undefined) watched(iterator.return());
    await Promise.allSettled(underWay);
  }
}

/** Its rejection is seen when its turn comes, or the run is over for another reason; until then it is not unhandled. */
function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
