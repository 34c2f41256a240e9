/**
 * A namespace of Durable Objects that are in another process. A wrapped binding: workerd runs this module inside
 * Citeward's isolate and binds what it returns.
 */
import type { ObjectMethods } from './objects-entry.ts';

type Bindings = {
  /** The process that has the objects. */
  readonly process: Pick<ObjectMethods, 'call'>;
  /** The namespace's binding. */
  readonly binding: string;
};

/** What Citeward uses of a namespace: objects by name, and the RPC methods of an object. */
export default function remoteObjects({ process, binding }: Bindings) {
  const call = async (name: string, method: string, args: readonly unknown[]): Promise<unknown> => {
    const answer = await process.call({ binding, name, method, args });
    if (answer.ok) return answer.value;
    const marks = Object.fromEntries(answer.marks.map((mark) => [mark, true]));
    throw Object.assign(new Error(answer.message), marks);
  };
  return {
    getByName: (name: string) =>
      new Proxy(
        {},
        {
          get: (_, method) => {
            // An object that is awaited has no `then`.
            if (typeof method !== 'string' || method === 'then') return undefined;
            return (...args: readonly unknown[]) => call(name, method, args);
          },
        },
      ),
  };
}
