/** Loads a recorded rollout with its report and text, the rollouts of its group, and the recipes of the run. */
import type { RunDetail, RunRollout } from '../../../src/wire/runs.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { callApi, type Reply, runPath } from '../api/call.ts';
import { NATURAL, type RolloutPlace } from './place.ts';

/** A rollout with what is stored beside its row. */
export type DetailedRollout = Omit<RunRollout, 'detail'> & {
  readonly detail: {
    /** Without the text of ids and criteria, unless the run keeps text. */
    readonly report: ScoreResponse | null;
    readonly rollout: Readonly<Record<string, unknown>> | null;
  } | null;
};

export type LoadedRollout = {
  /** `null` = the run has no such rollout. */
  readonly rollout: DetailedRollout | null;
  /** The latest attempt of each sample of the group, ordered by sample. */
  readonly group: readonly RunRollout[];
  readonly recipes: RunDetail['recipes'];
};

type Page<T> = { readonly rollouts: readonly T[]; readonly next: string | null };

const PAGE_ROLLOUTS = 200;

/** @throws DOMException (AbortError) when `signal` aborts. */
export async function loadRollout(place: RolloutPlace, signal: AbortSignal): Promise<Reply<LoadedRollout>> {
  const { run, step, group } = place;
  const [own, samples, described] = await Promise.all([
    loadDetail(place, signal),
    loadRollouts(run, { step, group }, signal),
    callApi<RunDetail>(`${runPath(run)}?limit=1`, { signal }),
  ]);
  if (!own.ok) return own;
  if (!samples.ok) return samples;
  if (!described.ok) return described;
  const inOrder = [...samples.value].sort((one, other) => NATURAL.compare(one.sample, other.sample));
  return {
    ...own,
    value: { rollout: own.value, group: inOrder, recipes: described.value.recipes },
  };
}

/** Loads one rollout; `null` = the run has none there. @throws DOMException (AbortError) when `signal` aborts. */
export async function loadDetail(
  { run, step, group, sample }: RolloutPlace,
  signal: AbortSignal,
): Promise<Reply<DetailedRollout | null>> {
  const query = new URLSearchParams({ step, group, sample, detail: 'true', limit: '1' });
  const page = await callApi<Page<DetailedRollout>>(`${runPath(run)}/rollouts?${query}`, { signal });
  return page.ok ? { ...page, value: page.value.rollouts[0] ?? null } : page;
}

type Selection = { readonly step: string; readonly group?: string };

/** Loads the rows of a step or a group, page by page. @throws DOMException (AbortError) when `signal` aborts. */
async function loadRollouts(
  run: string,
  selection: Selection,
  signal: AbortSignal,
): Promise<Reply<readonly RunRollout[]>> {
  const rollouts: RunRollout[] = [];
  for (let after: string | null = null; ; ) {
    const query = new URLSearchParams({ ...selection, limit: String(PAGE_ROLLOUTS) });
    if (after !== null) query.set('after', after);
    const page: Reply<Page<RunRollout>> = await callApi(`${runPath(run)}/rollouts?${query}`, { signal });
    if (!page.ok) return page;
    rollouts.push(...page.value.rollouts);
    if (page.value.next === null) return { ...page, value: rollouts };
    after = page.value.next;
  }
}
