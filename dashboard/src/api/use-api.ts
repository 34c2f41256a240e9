/** Hooks that load data from the API, with its loading and failure states. */
import { useEffect, useState } from 'preact/hooks';
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';
import { type CallFailure, callApi, type Reply } from './call.ts';

type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: CallFailure }
  | { readonly state: 'loaded'; readonly value: T };

export type Loading<T> = {
  readonly loaded: Loaded<T>;
  /** Loads again; the current value stays visible until the reply arrives. */
  readonly reload: () => void;
};

/** Loads a path of the API, and loads again when the path or the API key changes. */
export function useApi<T>(path: string): Loading<T> {
  return useLoading<T>((signal) => callApi(path, { signal }), path);
}

/**
 * Runs `load`, and runs it again when `of` or the API key changes.
 * @param of identifies what is loaded; a value of another `of` is never shown.
 */
export function useLoading<T>(load: (signal: AbortSignal) => Promise<Reply<T>>, of: string): Loading<T> {
  const key = useObservable(apiKey);
  const [round, setRound] = useState(0);
  const [shown, setShown] = useState<{ readonly of: string; readonly loaded: Loaded<T> } | null>(null);
  useEffect(() => {
    const aborter = new AbortController();
    load(aborter.signal).then(
      (reply) => {
        if (aborter.signal.aborted) return;
        setShown({
          of,
          loaded: reply.ok ? { state: 'loaded', value: reply.value } : { state: 'failed', failure: reply.failure },
        });
      },
      (error: unknown) => {
        if (!aborter.signal.aborted) throw error;
      },
    );
    return () => aborter.abort();
  }, [of, key, round]);
  const loaded: Loaded<T> = shown?.of === of ? shown.loaded : { state: 'loading' };
  return { loaded, reload: () => setRound((n) => n + 1) };
}

const POLL_MS = 1_500;

/**
 * Calls `poll` every `periodMs` while `isActive` and the page is visible, and once when the page becomes visible again.
 * @param since changes with every answer; the next call waits for it.
 */
export function usePolling(isActive: boolean, poll: () => void, since: unknown, periodMs: number = POLL_MS): void {
  useEffect(() => {
    if (!isActive) return;
    const pollIfVisible = (): void => {
      if (document.visibilityState === 'visible') poll();
    };
    const timer = setTimeout(pollIfVisible, periodMs);
    document.addEventListener('visibilitychange', pollIfVisible);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', pollIfVisible);
    };
  }, [isActive, since, periodMs]);
}
