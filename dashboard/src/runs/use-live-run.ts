/**
 * Loads a run with all its steps, and keeps it up to date. While the run is recorded to, only its last step and those
 * after it are asked for; the whole run is loaded again if they do not explain the change.
 */
import { useEffect, useState } from 'preact/hooks';
import { advanceRun, lastStepOf } from '../../../src/runs/advance-run.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { callApi, type Reply, runPath } from '../api/call.ts';
import { type Loading, useLoading, usePolling } from '../api/use-api.ts';

/** A run counts as active for this long after its last recording, whose time is known to the minute. */
const ACTIVE_MS = 5 * 60_000;
const ACTIVE_POLL_MS = 3_000;
const IDLE_POLL_MS = 60_000;

export type LiveRun = {
  readonly loading: Loading<RunDetail>;
  /** Whether something was recorded in the last minutes. */
  readonly isActive: boolean;
  /** When this page saw the last change, in milliseconds since 1970; `null` = none since it was opened. */
  readonly changedAt: number | null;
  /** Whether the last poll failed; the shown values are those of an earlier one. */
  readonly isBehind: boolean;
};

type Followed = { readonly of: RunDetail; readonly run: RunDetail; readonly changedAt: number | null };

export function useLiveRun(id: string): LiveRun {
  const loading = useLoading((signal) => loadRun(id, signal), id);
  const { loaded } = loading;
  const first = loaded.state === 'loaded' ? loaded.value : null;
  const [followed, setFollowed] = useState<Followed | null>(null);
  const [poll, setPoll] = useState({ round: 0, isBehind: false });
  const shown = followed !== null && followed.of === first ? followed : null;
  const run = shown?.run ?? first;
  const isActive = run !== null && isActiveRun(run);

  const [asked, setAsked] = useState<AbortController | null>(null);
  useEffect(() => () => asked?.abort(), [asked, first]);
  const follow = async (): Promise<void> => {
    if (run === null || first === null) return;
    const aborter = new AbortController();
    setAsked(aborter);
    const reply = await changedRun(run, aborter.signal);
    if (aborter.signal.aborted) return;
    if (reply.ok && reply.value !== run) setFollowed({ of: first, run: reply.value, changedAt: Date.now() });
    setPoll(({ round }) => ({ round: round + 1, isBehind: !reply.ok }));
  };
  usePolling(run !== null, () => ignoreAborted(follow()), poll, isActive ? ACTIVE_POLL_MS : IDLE_POLL_MS);

  return {
    loading: run === null ? loading : { ...loading, loaded: { state: 'loaded', value: run } },
    isActive,
    changedAt: shown?.changedAt ?? null,
    isBehind: poll.isBehind,
  };
}

/** Whether something was recorded in the last minutes. */
export function isActiveRun({ active_at }: RunDetail): boolean {
  return Date.now() - Date.parse(active_at) < ACTIVE_MS;
}

function ignoreAborted(work: Promise<void>): void {
  work.catch((error: unknown) => {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  });
}

/** @returns `known` itself if nothing has changed. @throws DOMException (AbortError) when `signal` aborts. */
async function changedRun(known: RunDetail, signal: AbortSignal): Promise<Reply<RunDetail>> {
  const path = `${runPath(known.id)}?limit=${PAGE_STEPS}&from_step=${lastStepOf(known)}`;
  const reply = await callApi<RunDetail>(path, { signal });
  if (!reply.ok) return reply;
  const run = advanceRun(known, reply.value);
  if (run === null) return loadRun(known.id, signal);
  const { active_at } = reply.value;
  return { ...reply, value: run.active_at === active_at ? run : { ...run, active_at } };
}

const PAGE_STEPS = 1_000;

/** Loads a run with all its steps, page by page. @throws DOMException (AbortError) when `signal` aborts. */
async function loadRun(run: string, signal: AbortSignal): Promise<Reply<RunDetail>> {
  const first = await callApi<RunDetail>(`${runPath(run)}?limit=${PAGE_STEPS}`, { signal });
  if (!first.ok) return first;
  const steps = [...first.value.steps];
  let next = first.value.next_step;
  while (next !== null) {
    const more = await callApi<RunDetail>(`${runPath(run)}?limit=${PAGE_STEPS}&from_step=${next}`, { signal });
    if (!more.ok) return more;
    steps.push(...more.value.steps);
    next = more.value.next_step;
  }
  return { ...first, value: { ...first.value, steps, next_step: null } };
}
