/** What a page has of something that it asked for. */
import { useEffect, useState } from 'preact/hooks';
import { apiKey } from '../settings/api-key.ts';
import { useWatched } from '../settings/watched-value.ts';
import { type CallFailure, callApi, type Reply } from './call.ts';

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: CallFailure }
  | { readonly state: 'loaded'; readonly value: T };

export type Loading<T> = {
  readonly loaded: Loaded<T>;
  /** Asks again, and shows what there is until the answer comes. */
  readonly reload: () => void;
};

/** Loads a path of the API; again when it or the key changes. */
export function useApi<T>(path: string): Loading<T> {
  return useLoading<T>((signal) => callApi(path, { signal }), path);
}

/** @param of what it is loaded for: when it changes, what is shown is of something else. */
export function useLoading<T>(load: (signal: AbortSignal) => Promise<Reply<T>>, of: string): Loading<T> {
  const key = useWatched(apiKey);
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
