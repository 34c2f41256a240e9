/** What went wrong between a caller and a Durable Object: the platform marks its own errors. */

/**
 * `overloaded`: the object has no room. `lost`: the connection or the object went away. `null`: an exception of the
 * object's own code (`remote` alone), which is a bug and stays one.
 */
export function rpcFailure(error: unknown): 'overloaded' | 'lost' | null {
  if (!(error instanceof Error)) return null;
  const marked = (name: string): boolean => Reflect.get(error, name) === true;
  if (marked('overloaded')) return 'overloaded';
  return marked('retryable') || marked('durableObjectReset') || !marked('remote') ? 'lost' : null;
}
