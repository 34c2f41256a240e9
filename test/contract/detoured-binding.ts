/**
 * A binding (R2, D1, KV, a queue, objects) whose calls take a way round on demand: they can fail before they take
 * place, fail although they took place, wait for the test, come back changed, or never arrive. Everything else goes to
 * the real one.
 */

/** What happens to a call. `proceed` makes it. */
export type Detour = (method: string, args: readonly unknown[], proceed: () => Promise<unknown>) => Promise<unknown>;

/** Calls that only lead to others: their results are wrapped as well. */
const PREPARING = new Set(['prepare', 'bind', 'getByName']);

/** @param detourOf asked at each call; `null` = nothing is wrong. */
export function detoured<T extends object>(binding: T, detourOf: () => Detour | null): T {
  return new Proxy(binding, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...args: readonly unknown[]): unknown => {
        const proceed = (): unknown => Reflect.apply(member, target, args);
        if (PREPARING.has(name)) {
          const prepared = proceed();
          return typeof prepared === 'object' && prepared !== null ? detoured(prepared, detourOf) : prepared;
        }
        const detour = detourOf();
        return detour === null ? proceed() : detour(name, args, async () => proceed());
      };
    },
  });
}

/** The next `times` calls of a method fail before they take place. */
export function failing(method: string, times: number, message: string): Detour {
  let left = times;
  return async (called, _args, proceed) => {
    if (called !== method || left === 0) return proceed();
    left--;
    throw new Error(message);
  };
}

/** The next `times` calls of a method take place, and are reported as failed. */
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
