/** An observable value that pages share: API key, theme, route. */
import { useEffect, useState } from 'preact/hooks';

export type Observable<T> = {
  get(): T;
  set(value: T): void;
  /** @returns A function that unsubscribes. */
  subscribe(listener: (value: T) => void): () => void;
};

export function observable<T>(initial: T): Observable<T> {
  let current = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The current value; rerenders when it changes. */
export function useObservable<T>(value: Observable<T>): T {
  const [current, setCurrent] = useState(value.get);
  useEffect(() => {
    // The value may have changed between the first render and this effect.
    setCurrent(value.get);
    return value.subscribe((next) => setCurrent(() => next));
  }, [value]);
  return current;
}
