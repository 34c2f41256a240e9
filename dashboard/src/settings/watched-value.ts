/** A value that components follow: for what several pages share (key, theme, route). */
import { useEffect, useState } from 'preact/hooks';

export type WatchedValue<T> = {
  get(): T;
  set(value: T): void;
  /** @returns What ends the watching. */
  watch(listener: (value: T) => void): () => void;
};

export function watchedValue<T>(initial: T): WatchedValue<T> {
  let current = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener(value);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value now; renders again when it changes. */
export function useWatched<T>(value: WatchedValue<T>): T {
  const [current, setCurrent] = useState(value.get);
  useEffect(() => {
    // It may have changed between the first render and this effect.
    setCurrent(value.get);
    return value.watch((next) => setCurrent(() => next));
  }, [value]);
  return current;
}
