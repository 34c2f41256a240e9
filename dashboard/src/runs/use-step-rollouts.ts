/** Loads the rollouts of a step page by page, up to a limit, and then on request. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';

type RolloutPage = { readonly rollouts: readonly RunRollout[]; readonly next: string | null };

const PAGE_ROLLOUTS = 200;
/** Rollouts that are loaded without being asked for; a step of most runs has fewer. */
const ROLLOUTS_AT_ONCE = 4_000;

export type StepRollouts = {
  readonly rollouts: readonly RunRollout[];
  readonly state: 'loading' | 'failed' | 'more' | 'whole';
  readonly failure: CallFailure | null;
  /** Loads more, or retries. */
  readonly load: () => void;
};

export function useStepRollouts(run: string, step: string): StepRollouts {
  const key = useObservable(apiKey);
  const [round, setRound] = useState(0);
  const [shown, setShown] = useState<Omit<StepRollouts, 'load'>>(NOTHING);
  const next = useRef<{ readonly of: string; readonly after: string | null; readonly rollouts: RunRollout[] }>(null);
  useEffect(() => {
    const aborter = new AbortController();
    const of = JSON.stringify([run, step, key]);
    let { after, rollouts } = next.current?.of === of ? next.current : { after: null, rollouts: [] };
    const end = rollouts.length + ROLLOUTS_AT_ONCE;
    const loadPages = async (): Promise<void> => {
      for (;;) {
        const query = new URLSearchParams({ step, detail: 'summary', limit: String(PAGE_ROLLOUTS) });
        if (after !== null) query.set('after', after);
        const reply = await callApi<RolloutPage>(`${runPath(run)}/rollouts?${query}`, { signal: aborter.signal });
        if (!reply.ok) return setShown({ rollouts, state: 'failed', failure: reply.failure });
        rollouts = [...rollouts, ...reply.value.rollouts];
        after = reply.value.next;
        next.current = { of, after, rollouts };
        const state = after === null ? 'whole' : rollouts.length >= end ? 'more' : 'loading';
        setShown({ rollouts, state, failure: null });
        if (state !== 'loading') return;
      }
    };
    setShown({ rollouts, state: 'loading', failure: null });
    loadPages().catch((error: unknown) => {
      if (!aborter.signal.aborted) throw error;
    });
    return () => aborter.abort();
  }, [run, step, key, round]);
  return { ...shown, load: () => setRound((n) => n + 1) };
}

const NOTHING: Omit<StepRollouts, 'load'> = { rollouts: [], state: 'loading', failure: null };
