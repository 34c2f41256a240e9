/** Calls to Durable Objects: a time limit, and what their errors mean. */

/** Waits for a promise at most `ms`; afterwards it returns `late`, and the work behind the promise continues. */
export async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), Math.max(0, ms));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Classifies the error of a call. `overloaded`: the object's queue is full. `lost`: the connection or the object is
 * gone. `null`: the object's own code threw (the platform marks it `remote` only), which is a bug.
 */
export function rpcFailure(error: unknown): 'overloaded' | 'lost' | null {
  if (!(error instanceof Error)) return null;
  const marked = (name: string): boolean => Reflect.get(error, name) === true;
  if (marked('overloaded')) return 'overloaded';
  return marked('retryable') || marked('durableObjectReset') || !marked('remote') ? 'lost' : null;
}
