/** Loads the rollouts of a step page by page, up to a limit, and then on request. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';

type RolloutPage = { readonly rollouts: readonly RunRollout[]; readonly next: string | null };

const PAGE_ROLLOUTS = 200;
/** Rollouts that are loaded without being asked for; a step of most runs has fewer, and an opened file too. */
const ROLLOUTS_AT_ONCE = 10_000;
/** The list is drawn after the first page and then after so many pages, as drawing takes longer than loading. */
const PAGES_DRAWN = 10;

export type StepRollouts = {
  readonly rollouts: readonly RunRollout[];
  readonly state: 'loading' | 'failed' | 'more' | 'whole';
  readonly failure: CallFailure | null;
  /** Loads more, or retries. */
  readonly load: () => void;
  /** Loads the step again; what is shown stays until all of it is there. Returns false while another load is under way. */
  readonly refresh: () => boolean;
};

export function useStepRollouts(run: string, step: string): StepRollouts {
  const key = useObservable(apiKey);
  const [round, setRound] = useState(0);
  const [shown, setShown] = useState<Omit<StepRollouts, 'load' | 'refresh'>>(NOTHING);
  const next = useRef<{ readonly of: string; readonly after: string | null; readonly rollouts: RunRollout[] }>(null);
  /** How many rollouts stay shown until a refresh has loaded them again; `null` = no refresh is asked for. */
  const kept = useRef<number>(null);
  const shownOf = useRef<string>(null);
  const isLoading = useRef(false);
  useEffect(() => {
    const aborter = new AbortController();
    isLoading.current = true;
    const of = JSON.stringify([run, step, key]);
    let { after, rollouts } = next.current?.of === of ? next.current : { after: null, rollouts: [] };
    // What is shown of another step does not stay.
    const refreshed = shownOf.current === of ? kept.current : null;
    const isRefresh = refreshed !== null;
    kept.current = null;
    shownOf.current = of;
    const end = isRefresh
      ? Math.max(1, Math.ceil(refreshed / ROLLOUTS_AT_ONCE)) * ROLLOUTS_AT_ONCE
      : rollouts.length + ROLLOUTS_AT_ONCE;
    const loadPages = async (): Promise<void> => {
      for (let pages = 0; ; pages++) {
        const query = new URLSearchParams({ step, detail: 'summary', limit: String(PAGE_ROLLOUTS) });
        if (after !== null) query.set('after', after);
        const reply = await callApi<RolloutPage>(`${runPath(run)}/rollouts?${query}`, { signal: aborter.signal });
        if (!reply.ok) {
          // What is shown stays, and the next refresh tries again.
          if (!isRefresh) setShown({ rollouts, state: 'failed', failure: reply.failure });
          return;
        }
        rollouts = [...rollouts, ...reply.value.rollouts];
        after = reply.value.next;
        next.current = { of, after, rollouts };
        const state = after === null ? 'whole' : rollouts.length >= end ? 'more' : 'loading';
        const isDrawn = state !== 'loading' || (!isRefresh && pages % PAGES_DRAWN === 0);
        if (isDrawn) setShown({ rollouts, state, failure: null });
        if (state !== 'loading') return;
      }
    };
    if (!isRefresh) setShown({ rollouts, state: 'loading', failure: null });
    loadPages().then(
      () => {
        isLoading.current = false;
      },
      (error: unknown) => {
        // The load that took its place has its own end.
        if (aborter.signal.aborted) return;
        isLoading.current = false;
        throw error;
      },
    );
    return () => aborter.abort();
  }, [run, step, key, round]);
  const load = (): void => setRound((n) => n + 1);
  const refresh = (): boolean => {
    if (isLoading.current) return false;
    next.current = null;
    kept.current = shown.rollouts.length;
    load();
    return true;
  };
  return { ...shown, load, refresh };
}

const NOTHING: Omit<StepRollouts, 'load' | 'refresh'> = { rollouts: [], state: 'loading', failure: null };
