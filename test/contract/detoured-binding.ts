/**
 * Wraps a binding (R2, D1, KV, a queue, objects) so that a test can divert its calls: a call can fail before or after
 * it takes effect, wait for the test, return something else, or never arrive. All other calls go to the real binding.
 */

/** Decides what a call does. `proceed` makes the call, with its own arguments or with others. */
export type Detour = (
  method: string,
  args: readonly unknown[],
  proceed: (others?: readonly unknown[]) => Promise<unknown>,
) => Promise<unknown>;

/** Methods that return another part of the binding; the part is wrapped as well. */
const PREPARING = new Set(['prepare', 'bind', 'getByName']);

/**
 * @param detourOf called for each call; `null` = the call is not diverted.
 */
export function detoured<T extends object>(binding: T, detourOf: () => Detour | null): T {
  return new Proxy(binding, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...args: readonly unknown[]): unknown => {
        const proceed = (others = args): unknown => Reflect.apply(member, target, others);
        if (PREPARING.has(name)) {
          const prepared = proceed();
          return typeof prepared === 'object' && prepared !== null ? detoured(prepared, detourOf) : prepared;
        }
        const detour = detourOf();
        return detour === null ? proceed() : detour(name, args, async (others) => proceed(others));
      };
    },
  });
}

/** Lets the next `times` calls of a method fail before they take effect. */
export function failing(method: string, times: number, message: string): Detour {
  let left = times;
  return async (called, _args, proceed) => {
    if (called !== method || left === 0) return proceed();
    left--;
    throw new Error(message);
  };
}

/** Lets the next `times` calls of a method take effect and report a failure. */
export function unacknowledged(method: string, times: number, message: string): Detour {
  let left = times;
  return async (called, _args, proceed) => {
    const result = await proceed();
    if (called !== method || left === 0) return result;
    left--;
    throw new Error(message);
  };
}

export const R2_FAILED = 'We encountered an internal error. Please try again. (10001)';
export const D1_FAILED = 'D1_ERROR: Network connection lost.';
