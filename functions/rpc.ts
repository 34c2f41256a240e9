/** What the errors of calls to Durable Objects mean. */

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
